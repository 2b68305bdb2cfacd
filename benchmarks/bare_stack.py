"""Writes a program whose stack has a template's resources as L1 constructs, each with the properties that it has.

`cdk migrate` is made for that, but does not know quota management. The program is what somebody would type who used
aws-cdk-lib alone: classes of the resources and of their properties, what one resource needs of another read once,
policy documents as plain data, and an asset for the code of a function, so that there is something to deploy. It is
therefore the least that a synthesis of these resources asks of jsii.
"""

import importlib
import json
import types
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

import aws_cdk

Json = Mapping[str, Any]

_START = """\
import sys
import time

import aws_cdk
{imports}

started = time.perf_counter()
app = aws_cdk.App(outdir=sys.argv[1], analytics_reporting=False, builtin_cloud_formation_validation=False)
stack = aws_cdk.Stack(app, {name!r})
"""
_END = """
app.synth()
print(time.perf_counter() - started)
"""


def bare_program(name: str, assembly: Path) -> str:
    """A program that synthesizes a stack's resources, conditions and outputs into the folder of its argument.

    :param name: The stack's name.
    :param assembly: The folder with the stack's template and the code of its functions. What a CDK stack adds to a
        template by itself, rules and parameters, is left out.
    :returns: The program. It prints the seconds from the making of the app to its assembly.
    """
    return _Program(assembly, json.loads((assembly / f"{name}.template.json").read_text())).text(name)


class _Program:
    def __init__(self, assembly: Path, template: Json) -> None:
        self._assembly = assembly
        self._template = template
        self._lines: list[str] = []
        self._modules: set[str] = set()
        self._variables: dict[str, str] = {}
        self._values: dict[str, str] = {}

    def text(self, name: str) -> str:
        for id_, condition in self._template.get("Conditions", {}).items():
            (function, values), *_ = condition.items()
            arguments = ", ".join(map(self._text, values))
            expression = f"aws_cdk.Fn.condition_{function.removeprefix('Fn::').lower()}({arguments})"
            self._lines.append(f"aws_cdk.CfnCondition(stack, {id_!r}, expression={expression})")
        for id_ in self._template["Resources"]:
            self._variable(id_)
        for id_, output in self._template.get("Outputs", {}).items():
            arguments = ", ".join(f"{key.lower()}={self._text(value)}" for key, value in output.items())
            self._lines.append(f"aws_cdk.CfnOutput(stack, {id_!r}, {arguments})")
        imports = "\n".join(f"from aws_cdk import {module}" for module in sorted(self._modules))
        return _START.format(name=name, imports=imports) + "\n".join(self._lines) + _END

    def _variable(self, id_: str) -> str:
        """The variable that holds a resource, which is made if it has not been yet."""
        if id_ not in self._variables:
            resource = self._template["Resources"][id_]
            _, service, kind = resource["Type"].split("::")
            module = f"aws_{service.lower()}"
            self._modules.add(module)
            class_ = getattr(importlib.import_module(f"aws_cdk.{module}"), f"Cfn{kind}")
            properties = self._arguments(class_, resource["Properties"])
            variable = f"resource_{len(self._variables)}"
            self._variables[id_] = variable
            self._lines.append(f"{variable} = {module}.Cfn{kind}(stack, {id_!r}, {properties})")
            if resource.get("DeletionPolicy") == "Delete":
                self._lines.append(f"{variable}.apply_removal_policy(aws_cdk.RemovalPolicy.DESTROY)")
        return self._variables[id_]

    def _arguments(self, class_: type, properties: Json) -> str:
        """Keyword arguments for a class, from properties as the template names them."""
        hints = _hints(class_)
        named = ((hints[key.lower()], value) for key, value in properties.items())
        return ", ".join(f"{name}={self._argument(hint, value)}" for (name, hint), value in named)

    def _argument(self, hint: object, value: object) -> str:
        hints = list(_alternatives(hint))
        struct = next((each for each in hints if isinstance(each, type) and _is_struct(each)), None)
        sequence = next((each for each in hints if _is_sequence(each)), None)
        if isinstance(value, list) and sequence is not None:
            return f"[{', '.join(self._argument(get_args(sequence)[0], item) for item in value)}]"
        if isinstance(value, dict) and any(get_origin(each) is Mapping for each in hints):
            return self._texts(value)
        if isinstance(value, dict) and "S3Key" in value:
            return self._code(value["S3Key"])
        if isinstance(value, dict) and struct is not None:
            return f"{_qualified(struct)}({self._arguments(struct, value)})"
        if isinstance(value, dict) and sequence is not None:
            return f"aws_cdk.Token.as_list({self._text(value)})"
        return self._text(value) if str in hints else repr(value)

    def _code(self, key: str) -> str:
        """The code of a function, as an asset."""
        digest = key.partition(".")[0]
        path = str(self._assembly / f"asset.{digest}")
        self._modules.add("aws_s3_assets")
        asset = self._once(f"aws_s3_assets.Asset(stack, 'Code', path={path!r}, asset_hash={digest!r})")
        bucket, name = (self._once(f"{asset}.{each}") for each in ("s3_bucket_name", "s3_object_key"))
        return f"aws_lambda.CfnFunction.CodeProperty(s3_bucket={bucket}, s3_key={name})"

    def _text(self, value: object) -> str:
        """An expression for a value where the CDK takes text: a token for what CloudFormation fills in."""
        match value:
            case {"Fn::GetAtt": [str(id_), str(attribute)]}:
                return self._once(f"{self._variable(id_)}.attr_{_snake(attribute)}")
            case {"Ref": str(name)} if name in self._template["Resources"]:
                return self._once(f"{self._variable(name)}.ref")
            case {"Ref": str(name)}:
                return self._once(f"aws_cdk.Fn.ref({name!r})")
            case {"Fn::If": [str(condition), yes, no]}:
                return f"aws_cdk.Fn.condition_if({condition!r}, {yes!r}, {self._text(no)})"
        return self._composed(value)

    def _composed(self, value: object) -> str:
        match value:
            case {"Fn::Sub": str(text)}:
                return f"aws_cdk.Fn.sub({text!r})"
            case {"Fn::Sub": [str(text), dict(values)]}:
                return f"aws_cdk.Fn.sub({text!r}, {self._texts(values)})"
            case {"Fn::Join": [str(delimiter), list(parts)]}:
                return f"aws_cdk.Fn.join({delimiter!r}, [{', '.join(map(self._text, parts))}])"
        return repr(value)

    def _texts(self, values: Json) -> str:
        return f"{{{', '.join(f'{key!r}: {self._text(each)}' for key, each in values.items())}}}"

    def _once(self, expression: str) -> str:
        """The variable that holds what was read from jsii, once however often it is needed."""
        if expression not in self._values:
            self._values[expression] = f"value_{len(self._values)}"
            self._lines.append(f"{self._values[expression]} = {expression}")
        return self._values[expression]


@cache
def _hints(class_: type) -> dict[str, tuple[str, object]]:
    """The arguments of a class and their types, by their names as the template has them but in lower case."""
    hints = get_type_hints(vars(class_)["__init__"])
    return {name.replace("_", ""): (name, hint) for name, hint in hints.items()}


def _alternatives(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in {Union, types.UnionType} else (hint,)


def _is_sequence(hint: object) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _is_struct(class_: type) -> bool:
    return class_.__name__.endswith("Property") or class_ is aws_cdk.CfnTag


def _qualified(class_: type) -> str:
    return f"{class_.__module__.removeprefix('aws_cdk.')}.{class_.__qualname__}"


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name).strip("_")
