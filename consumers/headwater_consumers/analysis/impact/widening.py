"""Types that hold every value of another one, so that whoever reads the narrower gets along with the wider.

As Spark reads them ("Type coercion" of its ANSI mode, the safe casts among numbers), and without loss: no `int` to
`float`, whose 24 bits of precision don't hold each one.
"""

from __future__ import annotations

import re

_WIDER = {
    "byte": {"short", "int", "long", "float", "double"},
    "short": {"int", "long", "float", "double"},
    "int": {"long", "double"},
    "long": set[str](),
    "float": {"double"},
    "date": {"timestamp", "timestamp_ntz"},
}
_SAME = {"tinyint": "byte", "smallint": "short", "integer": "int", "bigint": "long", "real": "float"}
_DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 19}
_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+),\s*(\d+)\)")
_TEXT = re.compile(r"(var)?char\((\d+)\)")


def is_same(before: str, after: str | None) -> bool:
    """Whether both are words for one type."""
    return after is not None and _plain(before) == _plain(after)


def widens(before: str | None, after: str | None) -> bool:
    """Whether `after` holds every value of `before`; False where that isn't known."""
    if before is None or after is None:
        return False
    old, new = (_plain(type_) for type_ in (before, after))
    if old == new or new in _WIDER.get(old, ()):
        return True
    if decimal := _DECIMAL.fullmatch(new):
        precision, scale = int(decimal[1]), int(decimal[2])
        if was := _DECIMAL.fullmatch(old):
            return int(was[1]) - int(was[2]) <= precision - scale and int(was[2]) <= scale
        return old in _DIGITS and _DIGITS[old] <= precision - scale
    if text := _TEXT.fullmatch(old):
        longer = _TEXT.fullmatch(new)
        return new == "string" or (text[1] == "var" and bool(longer and longer[1] and int(longer[2]) >= int(text[2])))
    return False


def _plain(type_: str) -> str:
    plain = " ".join(type_.lower().split())
    return _SAME.get(plain, plain)
