"""Nesting depth of JSON, computed from the bytes before parsing."""

from __future__ import annotations

import re
from typing import Final

_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_STRING = re.compile(rb'"[^"]*"?')
_NO_BRACKETS_OR_QUOTES = bytes(sorted(set(range(256)) - set(b'[]{}"')))
DEFAULT_MAX_DEPTH: Final = 100
"""Maximum nesting of objects and arrays."""
_ROUNDS: Final = 10
"""Usual nesting of facets. Documents nested no deeper are checked without a loop over all brackets."""


def deeper(data: bytes, limit: int) -> bool:
    """Return True if brackets outside strings are nested deeper than `limit`. Uses no recursion."""
    without_escapes = _ESCAPED.sub(b"", data) if b"\\" in data else data
    # Two adjacent quotes are an empty string, or the end of a string and the beginning of the next one with no bracket
    # between them. Removing them doesn't change which brackets are in strings. Most strings contain no brackets, so
    # this removes most quotes.
    brackets = without_escapes.translate(None, _NO_BRACKETS_OR_QUOTES).replace(b'""', b"")
    if len(brackets) <= limit:
        return False
    if b'"' in brackets:
        brackets = _STRING.sub(b"", brackets)
    left = brackets
    for _ in range(min(limit // 2, _ROUNDS)):
        # Removes one or two levels: the innermost objects, then the arrays that became innermost.
        left = left.replace(b"{}", b"").replace(b"[]", b"")
        if not left:
            return False
    depth = 0
    for byte in brackets:
        depth += 1 if byte in b"[{" else -1
        if depth > limit:
            return True
    return False
