"""Widgets of a CloudWatch dashboard as plain data, and their places in its grid.

Forms are those of the CloudWatch API reference, Dashboard body structure and syntax. They are data, not constructs:
each construct costs a round trip to Node, and a dashboard of a large queue has hundreds of metrics.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Fn

from batch_quota.validation import is_token

Json = dict[str, Any]
Line = list[Any]
"""A metric or an expression of a graph."""

COLUMNS = 24
_HEIGHT = 6
_NOTE_HEIGHT = 2
_MILLISECONDS_A_MINUTE = 60_000


class Values:
    """Values that only CloudFormation knows, each under a name that stands for it in the body."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def text(self, name: str, value: str) -> str:
        """What to write into the body for a value: itself if it is known. A value that has a name keeps it."""
        return f"${{{self._names.setdefault(value, name)}}}" if is_token(value) else value

    def body(self, rows: Sequence[Sequence[Json]], start: str) -> str:
        """The body of a dashboard, with the values put in at deployment."""
        return Fn.sub(
            json.dumps({"start": start, "widgets": placed(rows)}, separators=(",", ":")),
            {name: value for value, name in self._names.items()} or None,
        )


def placed(rows: Sequence[Sequence[Json]]) -> list[Json]:
    """The widgets of all rows, those of a row side by side and equally wide."""
    widgets = []
    top = 0
    for row in rows:
        width = COLUMNS // len(row)
        height = max(_NOTE_HEIGHT if widget["type"] in {"text", "alarm"} else _HEIGHT for widget in row)
        for column, widget in enumerate(row):
            widgets.append({"x": column * width, "y": top, "width": width, "height": height, **widget})
        top += height
    return widgets


def note(markdown: str) -> Json:
    """A text."""
    return {"type": "text", "properties": {"markdown": markdown}}


def alarm_states(title: str, arns: Sequence[str]) -> Json:
    """The states of alarms."""
    return {"type": "alarm", "properties": {"title": title, "alarms": list(arns)}}


def graph(
    title: str,
    lines: Sequence[Line],
    *,
    unit: str,
    statistic: str,
    period: int = 300,
    limits: Mapping[str, float] | None = None,
    stacked: str = "no",
) -> Json:
    """Lines over time.

    :param unit: Of the vertical axis, in words.
    :param limits: Horizontal lines by label.
    """
    horizontal = [{"label": label, "value": value} for label, value in (limits or {}).items()]
    return {
        "type": "metric",
        "properties": {
            "title": title,
            "view": "timeSeries",
            "stacked": stacked == "yes",
            "region": "${AWS::Region}",
            "stat": statistic,
            "period": period,
            "metrics": list(lines),
            "yAxis": {"left": {"label": unit, "min": 0, "showUnits": False}},
            **({"annotations": {"horizontal": horizontal}} if horizontal else {}),
        },
    }


def metric(namespace: str, name: str, dimensions: Mapping[str, str], **rendering: object) -> Line:
    """A metric, with how it is to be rendered."""
    flat = [part for dimension in dimensions.items() for part in dimension]
    return [namespace, name, *flat, *([rendering] if rendering else [])]


def expression(formula: str, label: str) -> Line:
    """A metric math expression of the other lines of a graph."""
    return [{"expression": formula, "label": label}]


def in_minutes(id_: str, line: Line, label: str, statistic: str) -> list[Line]:
    """A metric that is in milliseconds, shown in minutes."""
    hidden = [*line, {"id": id_, "stat": statistic, "visible": False}]
    return [expression(f"{id_} / {_MILLISECONDS_A_MINUTE}", label), hidden]
