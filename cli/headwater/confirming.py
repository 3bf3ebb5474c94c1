"""Asking before something is done for good."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import console
from headwater.errors import InputError

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask on a terminal, unless `yes` has answered.

    Raises:
        InputError: the answer is no, or nobody can be asked.
    """
    if not yes and not (console.err.is_terminal and typer.confirm(question, err=True)):
        raise InputError("Nothing was changed.", fix="--yes does it without asking.")
