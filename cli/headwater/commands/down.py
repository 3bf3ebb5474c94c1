"""`headwater down`."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import JsonOption, console
from headwater.stack import lifecycle, paths


def command(
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete the data too: topics, graph, password, a demo's files.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Stop the Kafka and Neo4j that `headwater up` started. Their data is kept, except with --purge."""
    data_dir = paths.data_dir()
    with console.status("Stopping Kafka and Neo4j"):
        was_running = lifecycle.bring_down(data_dir)
        # Also the stack that `headwater demo --keep` left running.
        was_running |= lifecycle.bring_down(paths.demo_dir())
    if purge:
        lifecycle.purge(data_dir)
    text = "Down." if was_running else "Nothing was running."
    console.result(
        {"was_running": was_running, "purged": purge, "data_dir": str(data_dir)},
        f"{text} {'Data deleted.' if purge else ''}".rstrip(),
    )
