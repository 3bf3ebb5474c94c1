r"""Text from outside made safe for a terminal: control characters and invisible characters are shown as escapes.

    visible("invoice\u202excod.exe")   ⇒   invoice\u202excod.exe   (a backslash and five characters)

Names of topics, jobs and columns, keys, headers, paths and errors are written by others. Only the space and characters
that `str.isprintable` allows are shown unescaped. So these are escaped: C0 and C1 controls, DEL, ESC, format characters
(bidirectional controls, zero-width characters, tags), line and paragraph separators, unusual spaces, lone surrogates
and unassigned characters. The characters that Unicode calls default-ignorable (variation selectors, fillers) are
escaped, too: they are invisible without being format characters. So two different names never look the same because of
an invisible character. A backslash in a name isn't escaped: `--json` gives the exact output.
"""

from __future__ import annotations

import re

_UNUSUAL = re.compile(r"[^ -~]")
_UNUSUAL_IN_LINES = re.compile(r"[^ -~\t\n]")
# Default_Ignorable_Code_Point of DerivedCoreProperties.txt, only the letters and marks, which `str.isprintable` allows;
# and the Braille pattern without a dot, which is drawn as nothing.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_NAMED = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    r"""Escape a name, or any text of one line: line feed and tab become `\n` and `\t`, too."""
    return text if text.isascii() and text.isprintable() else _UNUSUAL.sub(_shown, text)


def visible_lines(text: str) -> str:
    """Escape a text of several lines: line feeds and tabs stay."""
    return text if text.isascii() and text.isprintable() else _UNUSUAL_IN_LINES.sub(_shown, text)


def json_escaped(document: str) -> str:
    r"""Return an equivalent JSON document in which the characters to escape are `\uXXXX`."""
    return document if document.isascii() and "\x7f" not in document else _UNUSUAL_IN_LINES.sub(_as_json, document)


def is_visible(character: str) -> bool:
    """Return True if a character is shown unescaped."""
    return character.isprintable() and _IGNORABLE.match(character) is None


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    if is_visible(character):
        return character
    code = ord(character)
    if code < 0x100:
        return _NAMED.get(character) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_json(found: re.Match[str]) -> str:
    character = found[0]
    if is_visible(character):
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))
