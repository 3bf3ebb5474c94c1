"""Checks before irreversible actions: a person has confirmed, and the consumer group has no consumers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from headwater.console import console
from headwater.errors import InputError
from headwater_consumers.kafka.group import members

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def confirm(question: str, *, yes: bool) -> None:
    """Ask the question on a terminal, unless `yes` is True.

    Raises:
        InputError: the answer is no, or there is no terminal.
    """
    if not yes and not (console.err.is_terminal and typer.confirm(question, err=True)):
        raise InputError("Nothing was changed.", fix="--yes does it without asking.")


def require_stopped(client: Mapping[str, Any], group: str) -> None:
    """Raise InputError if the group has consumers.

    Args:
        client: configuration of librdkafka.
        group: the consumer group that writes the graph.
    """
    if running := members(client, group):
        raise InputError(f"Group {group} has consumers: {', '.join(running)}.", fix="Stop them first.")
