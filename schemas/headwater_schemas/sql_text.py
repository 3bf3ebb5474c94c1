"""SQL as text: its quoted literals with their values, and the arguments of its function calls.

There is no grammar: text that quotes SQL, or isn't SQL at all, is accepted, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

NESTED_QUOTES: Final = re.compile(r"""''|""|\\""")
"""Doubled or escaped quotes, which a literal within a literal has."""
# An apostrophe after a letter belongs to prose; a letter before a quote is Spark's r'…', or another language's b'…'.
_OPENING: Final = re.compile(
    r"""--[ \t][^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)|(?<!\w)(?:(?P<raw>[rR])|[bBnNuUfF])?(?P<quote>['"`])"""
)
# In Spark a backslash escapes; in other databases, and within backticks, it doesn't.
_BODY: Final = {
    (quote, escapes): re.compile(
        rf"(?:[^{quote}\\]|\\.|{quote}{quote})*+" if escapes else rf"(?:[^{quote}]|{quote}{quote})*+", re.DOTALL
    )
    for quote in "'\"`"
    for escapes in (True, False)
}
_AFTER_LITERAL: Final = re.compile(r"""[\s,;)\]}:|+\-*/=<>!&^%]|\Z""")
"""Characters that may follow a literal; any other shows that the literal was read incorrectly."""
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
    """Change the value of each literal that has doubled quotes or escapes, and keep the literal's notation.

    A literal with an unchanged value isn't changed at all.

    Args:
        text: SQL, or anything with quotes.
        change: returns a literal's new value.
    """
    parts: list[str] = []
    done = position = 0
    while found := _OPENING.search(text, position):
        position = found.end()
        if found["quote"] is None:
            continue
        quote = found["quote"]
        end, escapes = _end_of_body(text, position, quote)
        body = text[position:end]
        if found["raw"] is None and NESTED_QUOTES.search(body):
            value = _value(body, quote, escapes=escapes)
            if (changed := change(value)) != value:
                parts += (text[done:position], _written(changed, quote, body))
                done = end
        position = end + 1
    return "".join((*parts, text[done:])) if parts else text


def _end_of_body(text: str, start: int, quote: str) -> tuple[int, bool]:
    """Return the end of a literal's text, and True if backslashes escape in it."""
    if quote == "`":
        return _matched_end(text, start, len(text), quote, escapes=False), False
    end = _matched_end(text, start, len(text), quote, escapes=True)
    # Spark prints values with doubled quotes and plain backslashes. So the literal is also read without escapes. This
    # reading wins if only it ends like a literal, or if it is longer because of a backslash before doubled quotes.
    if "\\" in text[start:end]:
        other = _matched_end(text, start, min(len(text), end + _MAX_CALL_CHARS), quote, escapes=False)
        if _AFTER_LITERAL.match(text, other + 1) and (
            not _AFTER_LITERAL.match(text, end + 1) or (f"\\{quote}{quote}" in text[start:other] and other > end)
        ):
            return other, False
    return end, True


def _matched_end(text: str, start: int, limit: int, quote: str, *, escapes: bool) -> int:
    found = _BODY[quote, escapes].match(text, start, limit)
    return found.end() if found else start


def _value(body: str, quote: str, *, escapes: bool) -> str:
    if not escapes:
        return body.replace(quote * 2, quote)
    return _ESCAPED.sub(lambda escaped: _character(escaped, quote), body)


def _written(value: str, quote: str, body: str) -> str:
    """Return a value in the notation of the literal."""
    return value.replace(quote, quote * 2) if quote * 2 in body or quote == "`" else _escaped(value, quote, body)


def _escaped(value: str, quote: str, before: str) -> str:
    """Escape a value with backslashes, and its control characters as in `before`."""
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
    """Find the arguments of the call whose opening bracket is just before `start`: spans without surrounding blanks.

    For a call that doesn't end within 8,192 characters, only the arguments within these characters are found.
    """
    depth, begin, position = 0, start, start
    limit = min(len(text), start + _MAX_CALL_CHARS)
    while position < limit and (found := _ARGUMENT_PART.match(text, position, limit)):
        position, part = found.end(), found[0]
        if part in {"(", "["}:
            depth += 1
        elif (part in {")", "]"} and depth == 0) or (part == "," and depth == 0):
            yield _stripped(text, begin, found.start())
            begin = position
            if part != ",":
                return
        elif part in {")", "]"}:
            depth -= 1
    yield _stripped(text, begin, position)


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    part = text[start:end]
    return start + len(part) - len(part.lstrip()), end - len(part) + len(part.rstrip())
