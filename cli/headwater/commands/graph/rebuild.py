"""`headwater graph rebuild` and `migrate`: rebuild the graph from the topic or from an archive of it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from headwater.archives import reading_archive
from headwater.confirming import YesOption, confirm
from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console
from headwater.consuming import consume, totals_table
from headwater.errors import CheckFailedError
from headwater.graph_driver import graph_driver
from headwater.kafka_errors import asking_kafka
from headwater.logs import LogFormat
from headwater.settings import Settings, connected_settings
from headwater.stopped import require_stopped
from headwater_consumers.archive import Archive, ArchiveSource
from headwater_consumers.kafka.group import commit, forget
from headwater_consumers.materializer.reporting import ConsumerTotals
from headwater_consumers.materializer.truth import committed_offsets
from headwater_graph.schema import (
    GRAPH_VERSION,
    GraphVersionMismatch,
    require_version,
    wipe,
    writing_groups,
)
from headwater_schemas.redaction import redact

GroupOption = Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")]
ArchiveOption = Annotated[
    str | None,
    typer.Option(
        help="Begin with this archive of spark_jobs/lineage/archive.py: a folder, or a URI such as s3://….",
        show_default=False,
    ),
]


def rebuild(
    yes: YesOption = False, group: GroupOption = None, archive: ArchiveOption = None, json_output: JsonOption = False
) -> None:
    """Delete the graph and make it again from the events topic: the same graph, byte for byte.

    Stop the group's consumers first. The group's offsets are reset, Headwater's nodes in Neo4j are deleted, and the
    topic is consumed from its beginning, or from the end of the archive. After an interruption, run it again. Needed
    after an upgrade that changes the graph's model.
    """
    document, totals = _rebuilt(_settings(group), archive, yes=yes)
    console.result(document, totals_table(totals))


def migrate(
    yes: YesOption = False, group: GroupOption = None, archive: ArchiveOption = None, json_output: JsonOption = False
) -> None:
    """After an upgrade or downgrade, bring the graph to the version that this release reads and writes.

    Nothing is done if it has that version, or is empty. Else it is rebuilt, as `rebuild` does: there is no conversion
    in place. Stop the group's consumers first. After an interruption, run `rebuild`.
    """
    settings = _settings(group)
    with graph_driver(settings.neo4j) as driver:
        try:
            require_version(driver, settings.neo4j.database)
        except GraphVersionMismatch as mismatch:
            found = mismatch.found
        else:
            text = f"The graph is of version {GRAPH_VERSION}, as this release has it, or empty."
            console.result({"version": GRAPH_VERSION, "migrated_from": None}, text)
            return
    console.message(f"The graph is of version {found}; this release has version {GRAPH_VERSION}.")
    document, totals = _rebuilt(settings, archive, yes=yes)
    console.result({"version": GRAPH_VERSION, "migrated_from": found} | document, totals_table(totals))


def _settings(group: str | None) -> Settings:
    return connected_settings(
        {"materializer.group": group, "materializer.http_port": 0, "log.format": LogFormat.TEXT},
        kafka=True,
        neo4j=True,
    )


def _rebuilt(settings: Settings, archive: str | None, *, yes: bool) -> tuple[dict[str, Any], ConsumerTotals]:
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    source = _opened(archive) if archive is not None else None
    with asking_kafka(require_servers(settings.kafka), doing=f"looking at group {group}"):
        with graph_driver(settings.neo4j) as driver:
            # A group may be named wrong; who writes this graph is known.
            for each in {group, *writing_groups(driver, settings.neo4j.database)}:
                require_stopped(client, each)
        confirm(
            f"Delete the graph in {settings.neo4j.require_uri()} and make it again from {redact(archive or topic)}?",
            yes=yes,
        )
        # In this order, an end half-way leaves a graph that the next consumer of the topic completes.
        forget(client, group)
        with graph_driver(settings.neo4j) as driver, console.status("Deleting the graph"):
            deleted = wipe(driver, settings.neo4j.database)
        if any(committed_offsets(client, topic, group).values()):
            raise CheckFailedError(
                f"A consumer of group {group} wrote while the graph was being deleted.",
                fix="Stop it, and run this again.",
            )
    archived = None if source is None else _from_archive(settings, source)
    console.message(f"{deleted:,} nodes deleted; reading {topic} from where it isn't read yet")
    totals = consume(settings, until_caught_up=True)
    return totals.document() | {"nodes_deleted": deleted, "from_archive": archived and archived.document()}, totals


def _opened(location: str) -> ArchiveSource:
    with reading_archive():
        source = ArchiveSource(Archive(location))
    for kept in source.kept:
        if kept.missing:
            console.warning(f"{kept.missing:,} offsets of {kept.partition} are not in the archive.")
    return source


def _from_archive(settings: Settings, source: ArchiveSource) -> ConsumerTotals:
    """Write what is archived, and have the group go on where that ends."""
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    totals = consume(settings, until_caught_up=True, source=source)
    with asking_kafka(require_servers(settings.kafka), doing=f"setting the offsets of group {group}"):
        there = committed_offsets(client, topic, group).keys()
        commit(client, group, {kept.partition: kept.end for kept in source.kept if kept.partition in there})
    console.message(f"{totals.applied:,} events from the archive")
    return totals
