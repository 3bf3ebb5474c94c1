"""Line of a value in a JSON text, looked up only when there is a mistake to report.

`json` keeps no positions. A manifest has tens of megabytes and few mistakes: `json` reads it, and each mistake is then
located in the text.
"""

from __future__ import annotations

import json
from typing import Final

from headwater_analysis.declaring.problems import Path

_BLANK: Final = " \t\n\r"
_DECODER: Final = json.JSONDecoder()


def line_in_json(text: str, path: Path) -> int:
    """Line, from 1, of the value at a path, or of its nearest ancestor in the text.

    Args:
        text: JSON, without mistakes.
        path: keys and indexes.
    """
    at = _skip(text, 0)
    for step in path:
        found = _within(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _within(text: str, at: int, step: str | int) -> int | None:
    """Offset of the value of a key or index in the value that begins at `at`; for a duplicate key, the last one's."""
    is_object = text[at] == "{"
    if text[at] not in "{[" or is_object is isinstance(step, int):
        return None
    found, index = None, 0
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == step:
            found = at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return found


def _skip(text: str, at: int) -> int:
    """Offset of the next character that isn't blank."""
    while text[at] in _BLANK:
        at += 1
    return at
