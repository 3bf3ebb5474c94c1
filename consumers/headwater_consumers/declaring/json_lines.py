"""The line of a JSON text in which a value begins, looked for once there is something to say about it.

`json` keeps no positions. A manifest has tens of megabytes, and few mistakes: it is read by `json`, and each mistake is
looked for in the text again.
"""

from __future__ import annotations

import json
from typing import Final

from headwater_consumers.declaring.problems import Path

_BLANK: Final = " \t\n\r"
_DECODER: Final = json.JSONDecoder()


def line_in_json(text: str, path: Path) -> int:
    """The line, from 1, of the value that a path leads to, or of the nearest that is there above it.

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
    """Where the value of a key or index begins, in what begins at `at`; of a key that is there twice, the last."""
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
    """The next place that isn't blank."""
    while text[at] in _BLANK:
        at += 1
    return at
