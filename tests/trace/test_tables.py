"""Text tables against Python's own readers: the same values, and positions that point at them."""

import csv
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.trace.tables import FileFormat, open_table

texts = st.text(
    st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Cc"], exclude_characters="\0\r"), max_size=8
)
tables = st.integers(2, 4).flatmap(
    lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), min_size=1, max_size=6)
)


@settings(max_examples=50, deadline=None)
@given(
    tables,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["", "\ufeff"]),
)
def test_a_csv_table_holds_what_python_s_csv_writes(
    rows: list[list[str]], line_end: str, quoting: int, mark: str
) -> None:
    names = [f"column {index}" for index in range(len(rows[0]))]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator=line_end, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([names, *rows])
    content = mark + buffer.getvalue()
    table = open_table(io.BytesIO(content.encode()), FileFormat.CSV)
    assert table.columns == tuple(names)
    assert table.findings == ()
    assert [table.column(name).to_list() for name in names] == [
        [value or None for value in column] for column in zip(*rows, strict=True)
    ]
    lines = content.removeprefix("\ufeff").split("\n")
    for number, row in enumerate(rows):
        for name, value in zip(names, row, strict=True):
            place = table.position(number, name)
            begins = "\n".join(lines[place.line - 1 :])[place.column - 1 :].removeprefix('"')
            assert begins.startswith(value.replace('"', '""'))


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["a", "b", "ü"]), texts | st.none() | st.integers() | st.booleans()),
        min_size=1,
        max_size=6,
    )
)
def test_a_json_table_holds_what_python_s_json_writes(rows: list[dict[str, str | int | None]]) -> None:
    content = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    table = open_table(io.BytesIO(content.encode()), FileFormat.JSONL)
    for name in table.columns:
        values = [row.get(name) for row in rows]
        as_text = [value if isinstance(value, str | None) else json.dumps(value) for value in values]
        assert table.column(name).to_list() == [value or None for value in as_text]
    for number, row in enumerate(rows):
        for name in row:
            place = table.position(number, name)
            assert place.line == 2 * number + 1
            key = json.dumps(name, ensure_ascii=False) + ":"
            assert content.split("\n")[place.line - 1][place.column - 1 :].startswith(key)
