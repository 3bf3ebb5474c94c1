"""Command line of the bootstrap: `[--exit-on-wrong-settings] [--set name=value]… job.py ARGUMENTS`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

USAGE: Final = "[--exit-on-wrong-settings] [--set name=value]… job.py [ARGUMENTS]"


class UsageError(ValueError):
    """Command line that can't be understood; the text has the reason."""


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Request to run one script.

    Attributes:
        exits_on_wrong_settings: True if settings that are found to be wrong when a session is made end the script.
            Wrong options and environment variables always end the run, before the script begins.
    """

    script: str
    arguments: tuple[str, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    exits_on_wrong_settings: bool = False


def parse(arguments: Sequence[str]) -> RunRequest:
    """Parse the runner's options up to the script; all later arguments are the script's own.

    Raises:
        UsageError: there is no script, or there is an unknown option before it.
    """
    settings: dict[str, str] = {}
    exits = False
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option == "--exit-on-wrong-settings":
            exits = True
            continue
        name, joined, value = option.partition("=") if option.startswith("--set=") else (option, "", "")
        if name != "--set":
            raise UsageError(f"unknown option {option}; usage: {USAGE}")
        if not joined:
            value = rest.pop(0) if rest else ""
        setting, separator, text = value.partition("=")
        if not separator:
            raise UsageError(f"--set takes name=value; usage: {USAGE}")
        settings[setting] = text
    if not rest:
        raise UsageError(f"no script; usage: {USAGE}")
    return RunRequest(rest[0], tuple(rest[1:]), settings, exits)
