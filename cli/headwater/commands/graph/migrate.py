"""`headwater graph migrate`: a graph of an earlier version as one of this version."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.commands.graph.stopped import require_stopped
from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console
from headwater.errors import ConfigurationError
from headwater.graph_driver import graph_driver
from headwater.kafka_errors import asking_kafka
from headwater.settings import connected_settings
from headwater_consumers.graph.schema import MIGRATES_FROM, GraphVersionMismatch
from headwater_consumers.materializer.write.migration import migrate as migrate_graph

_VERSIONS = " and ".join(map(str, MIGRATES_FROM))


def migrate(
    group: Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")] = None,
    json_output: JsonOption = False,
) -> None:
    """Change a graph that an earlier release made into one that this release reads and writes, in place.

    Stop the group's consumers before. Interrupted, it is continued by running it again; until it is through, no release
    reads the graph or writes into it. A graph of this version stays as it is.
    """
    settings = connected_settings({"materializer.group": group}, kafka=True, neo4j=True)
    client, group = client_config(settings.kafka), settings.materializer.group
    with asking_kafka(require_servers(settings.kafka), doing=f"looking at group {group}"):
        require_stopped(client, group)
    with graph_driver(settings.neo4j) as driver, console.progress() as progress:
        task = progress.add_task("Storing micro-batches anew", total=None)
        try:
            moved = migrate_graph(
                driver,
                settings.neo4j.database,
                lambda done, total: progress.update(task, completed=done, total=total),
            )
        except GraphVersionMismatch as error:
            raise ConfigurationError(
                f"This release migrates graphs of the versions {_VERSIONS}; that graph is of version {error.found}.",
                fix="Make it anew with `headwater graph rebuild`, or use the release that made it.",
            ) from error
    console.result(
        {"micro_batches": moved},
        f"{moved:,} micro-batches were stored anew." if moved else "The graph is of this version.",
    )
