"""`headwater consume`: the materializer, from the events topic into the graph."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.console import JsonOption, console
from headwater.consuming import consume, totals_table
from headwater.logs import LogFormatOption
from headwater.settings import connected_settings
from headwater.workers import consume_with_workers


def command(
    until_caught_up: Annotated[
        bool, typer.Option("--until-caught-up", help="Stop once all records that are on the topic now are committed.")
    ] = False,
    port: Annotated[int | None, typer.Option(help="Port of /metrics, /livez and /readyz; 0 takes a free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Number of processes that share the partitions.")] = None,
    group: Annotated[str | None, typer.Option(help="The consumer group.")] = None,
    openlineage_topic: Annotated[
        str | None, typer.Option(help="A topic of OpenLineage events in JSON, to be written to the graph, too.")
    ] = None,
    log_format: LogFormatOption = None,
    json_output: JsonOption = False,
) -> None:
    """Write the events topic into the graph, and go on until stopped.

    Start the command more than once, or with --workers: the processes share the topic's partitions. Ctrl-C or SIGTERM
    finishes the batches being written, commits their offsets and exits 0. While Kafka or Neo4j is unreachable, the
    command waits, and logs this once a minute. With --openlineage-topic, it also reads the events that OpenLineage's
    Kafka transport writes to this topic, and publishes their facts to the events topic.
    """
    settings = connected_settings(
        {
            "materializer.http_port": port,
            "materializer.workers": workers,
            "materializer.group": group,
            "materializer.openlineage_topic": openlineage_topic,
            "log.format": log_format,
        },
        kafka=True,
        neo4j=True,
        silently=True,  # the log has the servers
    )
    run = consume if settings.materializer.workers == 1 else consume_with_workers
    totals = run(settings, until_caught_up=until_caught_up)
    console.result(totals.document(), totals_table(totals))
