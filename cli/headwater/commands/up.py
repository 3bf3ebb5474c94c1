"""`headwater up`."""

from __future__ import annotations

from headwater.console import JsonOption


def command(json_output: JsonOption = False) -> None:
    """."""
