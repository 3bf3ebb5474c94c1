"""Invocation of this program, so that printed commands can be run unchanged."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shlex
import sys
from importlib import metadata
from urllib.parse import unquote, urlsplit

# `headwater up` in backticks, as messages name a command.
_NAMED = re.compile(r"(?<=`)headwater(?= [a-z])")


def program() -> str:
    """Return the text to type for `headwater`: as bin/headwater was called, `uv run headwater`, or the bare name."""
    if named := os.environ.get("HEADWATER_COMMAND"):
        return shlex.quote(named)
    # `uv run` sets this variable: `headwater` is then on this process's PATH, but not on the caller's.
    return "uv run headwater" if "UV_RUN_RECURSION_DEPTH" in os.environ else "headwater"


def install_command(extra: str) -> str:
    """Return the command that adds an extra, such as `materializer,spark`, to the current environment.

    The source is the installation's folder, perhaps editable (PEP 610, `direct_url.json`), else the package's name.
    """
    origin = json.loads(metadata.distribution("headwater").read_text("direct_url.json") or "{}")
    url = urlsplit(origin.get("url", ""))
    where = unquote(url.path) if url.scheme == "file" and "dir_info" in origin else "headwater"
    what = shlex.quote(f"{where}[{extra}]")
    editable = "--editable " if origin.get("dir_info", {}).get("editable") else ""
    has_pip = importlib.util.find_spec("pip") is not None
    python = shlex.quote(sys.executable)
    return f"{f'{python} -m pip install' if has_pip else f'uv pip install --python {python}'} {editable}{what}"


def as_called(text: str) -> str:
    """Replace the commands in backticks of a message by the form in which they have to be typed."""
    return _NAMED.sub(lambda _: program(), text)
