"""SQL as text: its quoted literals with their values, and the arguments of its function calls.

No grammar: text that quotes SQL, or is no SQL at all, is read as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

# An apostrophe behind a letter is one of prose; a letter before a quote is Spark's r'…', or another language's b'…'.
NESTED_QUOTES: Final = re.compile(r"""''|""|\\""")
"""A literal within a literal has its quotes doubled, or escaped."""
_LITERAL: Final = re.compile(
    r"""--[ \t][^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|`(?:[^`]|``)*+(?:`|\Z)"""
    r"""|(?<!\w)(?P<raw>[rR])?(?:[bBnNuUfF]?(?P<quote>'|")(?P<body>(?:(?!(?P=quote))[^\\]|\\.|(?P=quote){2})*+)"""
    r"""(?P<end>(?P=quote)|\\?\Z))""",
    re.DOTALL,
)
_ESCAPED: Final = re.compile(
    r"""\\u(?P<short>[0-9a-fA-F]{4})|\\U(?P<long>[0-9a-fA-F]{8})|\\(?P<octal>[0-3][0-7]{2})|\\(?P<one>.)|(?P<twice>''|"")""",
    re.DOTALL,
)
_CHARACTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "0": "\0", "Z": "\x1a"}
_MAX_CALL_CHARS: Final = 8_192
_ARGUMENT_PART: Final = re.compile(
    r"""'(?:[^'\\]|\\.|'')*+'?|"(?:[^"\\]|\\.)*+"?|[()\[\],]|[^'"()\[\],]++""", re.DOTALL
)


def with_literals(text: str, change: Callable[[str], str]) -> str:
    """`text` with another value in each literal that has doubled quotes or escapes in it, written as the literal was.

    A literal whose value stays the same stays byte for byte.

    Args:
        text: SQL, or anything with quotes.
        change: gives a literal's value without what isn't to be there.
    """

    def replaced(found: re.Match[str]) -> str:
        quote, body = found["quote"], found["body"]
        if quote is None or found["raw"] is not None or not NESTED_QUOTES.search(body):
            return found[0]
        value = _ESCAPED.sub(lambda escaped: _character(escaped, quote), body)
        changed = change(value)
        if changed == value:
            return found[0]
        escape = quote if quote * 2 in body else "\\"
        written = changed.replace(quote, f"{escape}{quote}") if escape == quote else _escaped(changed, quote, body)
        before = found[0][: found.start("body") - found.start()]
        return f"{before}{written}{found['end']}"

    return _LITERAL.sub(replaced, text)


def _escaped(value: str, quote: str, before: str) -> str:
    """A value with backslashes, its control characters as they were `before`."""
    value = value.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    for character, escape in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        if character not in before:
            value = value.replace(character, escape)
    return value


def _character(found: re.Match[str], quote: str) -> str:
    if (twice := found["twice"]) is not None:
        return quote if twice[0] == quote else twice
    if (one := found["one"]) is not None:
        return _CHARACTERS.get(one, one)
    code = int(found["short"] or found["long"] or found["octal"], 8 if found["octal"] else 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd"


def arguments(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the arguments are of the call whose bracket opens before `start`, without blanks around them.

    Of a call that doesn't end, or not soon, those that there are.
    """
    depth, begin, place = 0, start, start
    limit = min(len(text), start + _MAX_CALL_CHARS)
    while place < limit and (found := _ARGUMENT_PART.match(text, place, limit)):
        place, part = found.end(), found[0]
        if part in {"(", "["}:
            depth += 1
        elif (part in {")", "]"} and depth == 0) or (part == "," and depth == 0):
            yield _stripped(text, begin, found.start())
            begin = place
            if part != ",":
                return
        elif part in {")", "]"}:
            depth -= 1
    yield _stripped(text, begin, place)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
