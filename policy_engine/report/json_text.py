"""JSON made column by column: polars expressions whose values are JSON texts.

They are made from whole numbers, so nothing is rounded, and without a loop over rows, so a million are quick.
"""

import json

import polars as pl

from policy_engine.scheduler import NEVER

_NULL = pl.lit("null")


def texts(values: pl.Series) -> pl.Series:
    """Each text as a JSON string."""
    plain = '"' + values + '"'
    special = values.str.contains(r'["\\\x00-\x1f\x7f]')
    if not special.any():
        return plain
    return plain.scatter(special.arg_true(), [json.dumps(value) for value in values.filter(special)])


def seconds(milliseconds: pl.Expr) -> pl.Expr:
    """Milliseconds as a number of seconds, to the millisecond: `12`, `12.5`. NEVER and null become `null`."""
    whole, rest = (milliseconds // 1000).cast(pl.String), milliseconds % 1000
    fraction = pl.concat_str(pl.lit("."), rest.cast(pl.String).str.zfill(3)).str.strip_chars_end("0")
    number = pl.when(rest == 0).then(whole).otherwise(whole + fraction)
    return pl.when(milliseconds == NEVER).then(_NULL).otherwise(number).fill_null("null")


def whole(numbers: pl.Expr) -> pl.Expr:
    """Whole numbers."""
    return numbers.cast(pl.String)


def choice(codes: pl.Expr, names: dict[int, str | None]) -> pl.Expr:
    """Codes as one of these texts, or null."""
    quoted = {code: json.dumps(name, ensure_ascii=False) for code, name in names.items()}
    return codes.replace_strict(quoted, return_dtype=pl.String)


def obj(**members: pl.Expr) -> pl.Expr:
    """Objects with these members, whose values are JSON texts."""
    parts: list[pl.Expr] = []
    for name, value in members.items():
        parts += [pl.lit(f'{", " if parts else "{"}"{name}": '), value]
    return pl.concat_str(*parts, pl.lit("}"))
