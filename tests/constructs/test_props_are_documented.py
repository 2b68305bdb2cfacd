"""Every prop, option, property and method of the public classes says what it is."""

import ast
import inspect
import re
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import pairwise

import pytest

import batch_quota

CLASSES = {
    name: value
    for name in batch_quota.__all__
    if inspect.isclass(value := getattr(batch_quota, name)) and value.__module__.startswith("batch_quota")
}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_a_class_says_what_it_is_for(name: str):
    assert CLASSES[name].__doc__


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_prop_of_a_construct_is_explained_by_its_initializer(name: str):
    class_ = CLASSES[name]
    initializer = vars(class_).get("__init__")
    if (
        initializer is None
        or is_dataclass(class_)
        or issubclass(class_, Enum)
        or getattr(class_, "_is_protocol", False)
    ):
        return
    props = {
        prop.name
        for prop in inspect.signature(initializer).parameters.values()
        if prop.kind is inspect.Parameter.KEYWORD_ONLY
    }
    explained = set(re.findall(r":param (\w+):", initializer.__doc__ or ""))
    assert explained == props


@pytest.mark.parametrize("name", sorted(name for name, class_ in CLASSES.items() if is_dataclass(class_)))
def test_every_option_is_followed_by_what_it_means(name: str):
    (class_body,) = (node.body for node in ast.parse(inspect.getsource(CLASSES[name])).body)
    explained = {
        field.target.id
        for field, after in pairwise(class_body)
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(after, ast.Expr)
        and isinstance(after.value, ast.Constant)
    }
    assert explained == {field.name for field in fields(CLASSES[name])}


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_every_public_property_and_method_says_what_it_gives(name: str):
    silent = [
        member
        for member, value in vars(CLASSES[name]).items()
        if not member.startswith("_")
        and (inspect.isfunction(value) or isinstance(value, property | staticmethod | classmethod))
        and not inspect.getdoc(value)
    ]
    assert silent == []
