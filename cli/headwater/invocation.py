"""How this program was called, so that the commands it prints run as they are printed."""

from __future__ import annotations

import os
import re
import shlex

# `headwater up` in backticks, as messages name a command.
_NAMED = re.compile(r"(?<=`)headwater(?= [a-z])")


def program() -> str:
    """What to type for `headwater`: as bin/headwater was called, `uv run headwater`, or the bare name."""
    if named := os.environ.get("HEADWATER_COMMAND"):
        return shlex.quote(named)
    # uv sets it for what it runs; the environment's own folder is then on this PATH, but not on the caller's.
    return "uv run headwater" if "UV_RUN_RECURSION_DEPTH" in os.environ else "headwater"


def as_called(text: str) -> str:
    """A message with the commands that it names in backticks as they have to be typed."""
    return _NAMED.sub(lambda _: program(), text)
