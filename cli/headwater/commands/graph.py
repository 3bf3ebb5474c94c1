"""`headwater graph`: dumps, verifies and rebuilds the whole graph."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import typer
from rich.console import Group
from rich.table import Table

from headwater.archives import reading_archive
from headwater.confirming import YesOption, confirm, require_stopped
from headwater.connection import client_config
from headwater.console import JsonOption, console, plain_table
from headwater.consuming import consume, totals_table
from headwater.decoding import event_decoder
from headwater.errors import CheckFailedError, HeadwaterError
from headwater.graph_driver import current_graph, graph_driver
from headwater.kafka_errors import asking_kafka
from headwater.line_output import line_sink, write_line
from headwater.logs import LogFormat
from headwater.settings import Settings, connected_settings
from headwater_consumers.archive import Archive, ArchiveSource
from headwater_consumers.kafka.group import commit, forget
from headwater_consumers.kafka.offsets import OffsetReader
from headwater_consumers.kafka.records import Partition
from headwater_consumers.materializer.accounting import Accounting, account
from headwater_consumers.materializer.reporting import ConsumerTotals
from headwater_consumers.materializer.truth import Truth, committed_offsets, truth
from headwater_graph.chains import Chain, check_chains
from headwater_graph.dump import SAMPLES, Comparison, compare
from headwater_graph.dump import dump as dump_lines
from headwater_graph.oracle import oracle
from headwater_graph.schema import (
    GRAPH_VERSION,
    GraphVersionMismatch,
    graph_offsets,
    require_version,
    wipe,
    writing_groups,
)
from headwater_schemas.redaction import redact
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from neo4j import Driver
    from rich.console import RenderableType

app = typer.Typer(help="Dump, verify and rebuild the whole graph.", no_args_is_help=True)


@app.command()
def dump(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Include properties that begin with `_`, on which later merges depend.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Print the graph as JSON lines: equal graphs give equal bytes.

    With --json, the lines are counted and hashed, and written only to the file of -o. Compare graphs by `sha256`.
    """
    settings = connected_settings(neo4j=True).neo4j
    with current_graph(settings) as driver, line_sink(output, silent=json_output) as sink:
        document = _write(dump_lines(driver, settings.database, internal=internal), sink, output)
    if output is not None or json_output:
        console.result(document, _dump_table(document))


def _write(lines: Iterator[str], sink: BinaryIO | None, output: Path | None) -> dict[str, Any]:
    digest, nodes, relationships, count = hashlib.sha256(), Counter[str](), Counter[str](), 0
    for line in lines:
        digest.update(line.encode() + b"\n")
        if sink is not None:
            write_line(sink, line)
        fields = json.loads(line)
        if "labels" in fields:
            nodes.update(fields["labels"])
        else:
            relationships[fields["type"]] += 1
        count += 1
    return {
        "file": None if output is None else str(output),
        "lines": count,
        "sha256": digest.hexdigest(),
        "nodes": dict(sorted(nodes.items())),
        "relationships": dict(sorted(relationships.items())),
    }


def _dump_table(document: dict[str, Any]) -> Table:
    table = plain_table()
    for name, count in (*document["nodes"].items(), *document["relationships"].items()):
        table.add_row(name, f"{count:,}")
    table.add_row("lines", f"{document['lines']:,}")
    table.add_row("sha256", document["sha256"])
    return table


@app.command()
def verify(
    group: Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")] = None,
    skip_graph: Annotated[
        bool, typer.Option("--skip-graph", help="Check accounting and chains only, without reading the topic's events.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Check that no event is lost and that the graph equals the fold of the events.

    Accounting: acknowledged = applied + dead-lettered, and no dead letter can be applied. Chains: no gaps, overlaps or
    conflicts. The graph: equal, node by node, to the fold of all events that the group has committed; the fold is
    computed in memory. Stop the group's consumers meanwhile. Exit status 5: a check failed.
    """
    settings = connected_settings({"materializer.group": group}, kafka=True, neo4j=True)
    topic = settings.topic.names().events
    with asking_kafka(settings.kafka, doing=f"reading {topic}"):
        accounting = _account(settings)
        with current_graph(settings.neo4j) as driver:
            chains = check_chains(driver, settings.neo4j.database)
            comparison, expected = (None, None) if skip_graph else _compared(settings, driver)
    unaccounted, good_letters = ([], []) if expected is None else (expected.unaccounted, expected.good_letters)
    faults = _faults(accounting, chains, comparison, unaccounted, good_letters)
    document = {
        "holds": not faults,
        "accounting": {
            "acknowledged": accounting.acknowledged,
            "applied": accounting.applied,
            "dead_lettered": accounting.dead_lettered,
            "pending": accounting.pending,
            "expired": accounting.expired,
            "unaccounted": unaccounted,
            "left_out": None if expected is None else expected.left_out,
        },
        "good_letters": good_letters,
        "chains": [asdict(chain) | {"gaps": chain.gaps, "sound": chain.is_sound} for chain in chains],
        "graph": None if comparison is None else asdict(comparison),
    }
    console.result(document, _view(document))
    if faults:
        raise CheckFailedError(
            f"Checks failed: {'; '.join(faults)}.", fix="docs/materializer.md states what to do about each."
        )


def _account(settings: Settings) -> Accounting:
    return account(client_config(settings.kafka), settings.topic.names(), settings.materializer.group)


def _compared(settings: Settings, driver: Driver) -> tuple[Comparison, Truth]:
    """Compare the graph with the fold of the events; return the comparison and the fold."""
    client, names, group = client_config(settings.kafka), settings.topic.names(), settings.materializer.group
    with event_decoder(settings) as decoder, console.progress() as progress:
        task = progress.add_task("Reading events", total=None)
        expected = truth(
            client,
            names,
            group,
            decoder,
            read=lambda: progress.advance(task),
            future_max_seconds=settings.materializer.future_max_seconds,
        )
        progress.update(task, description="Comparing", total=None)
        comparison = compare(
            oracle(expected.delta, internal=True), dump_lines(driver, settings.neo4j.database, internal=True)
        )
    if committed_offsets(client, names.events, group) != expected.committed:
        raise HeadwaterError(
            f"Group {group} consumed events meanwhile, so the graph and the events can't be compared.",
            fix="Stop its consumers, or try again when nothing is written.",
        )
    return comparison, expected


def _faults(
    accounting: Accounting,
    chains: list[Chain],
    comparison: Comparison | None,
    unaccounted: list[str],
    good_letters: list[str],
) -> list[str]:
    broken = sum(not chain.is_sound for chain in chains)
    return [
        fault
        for fault, holds in (
            (f"{accounting.pending:,} events aren't consumed yet", accounting.pending == 0),
            (f"{accounting.expired:,} events expired before they were consumed", accounting.expired == 0),
            (f"{len(unaccounted):,} records are neither applied nor dead-lettered", not unaccounted),
            (f"{len(good_letters):,} dead letters are of events that can be applied", not good_letters),
            (f"{broken:,} chains of intervals are broken", broken == 0),
            ("the graph differs from the fold of the events", comparison is None or comparison.same),
        )
        if not holds
    ]


def _view(document: dict[str, Any]) -> RenderableType:
    accounting, graph = document["accounting"], document["graph"]
    figures = plain_table()
    for name in ("acknowledged", "applied", "dead_lettered", "pending", "expired"):
        figures.add_row(name.replace("_", "-"), f"{accounting[name]:,}")
    parts: list[RenderableType] = [figures]
    if left_out := accounting["left_out"]:
        parts.append("\nRecords left out of the comparison, because they can't be read; their content is unknown:")
        parts += [visible(each) for each in left_out[:SAMPLES]]
        parts += [f"and {len(left_out) - SAMPLES:,} more"] if len(left_out) > SAMPLES else []
    if document["good_letters"]:
        parts += ["\nDead letters of events that can be applied:", *map(visible, document["good_letters"][:SAMPLES])]
    if document["chains"]:
        counts = ("intervals", "gaps", "overlaps", "conflicts")
        chains = plain_table("query", *counts, numbers=counts)
        for chain in document["chains"]:
            chains.add_row(visible(chain["name"]), *(f"{chain[name]:,}" for name in counts))
        parts += ["", chains]
    if graph is not None:
        parts.append(
            f"\n{graph['equal']:,} nodes and relationships equal the fold of the events, {graph['missing']:,} missing, "
            f"{graph['extra']:,} too many, {graph['changed']:,} changed"
        )
        parts += [visible(_difference(sample)) for sample in graph["samples"]]
    return Group(*parts)


def _difference(sample: dict[str, Any]) -> str:
    """Format one difference: its subject, and for a change only the properties that differ."""
    expected, found = (json.loads(sample[side] or "null") for side in ("expected", "found"))
    about = expected or found
    what = f"{about.get('type') or ' '.join(about['labels'])} {sample['key']}"
    if expected is None or found is None:
        return f"{'too many' if expected is None else 'missing'}: {what} {json.dumps(about['properties'])}"
    ours, theirs = expected["properties"], found["properties"]
    changes = [
        f"{name} is {json.dumps(theirs.get(name))}, should be {json.dumps(ours.get(name))}"
        for name in sorted(ours.keys() | theirs.keys())
        if ours.get(name) != theirs.get(name)
    ]
    return f"changed: {what}: {'; '.join(changes)}"


GroupOption = Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")]
ArchiveOption = Annotated[
    str | None,
    typer.Option(help="Begin with this archive of spark_jobs/lineage/archive.py: a folder, or a URI such as s3://…."),
]


@app.command()
def rebuild(
    yes: YesOption = False, group: GroupOption = None, archive: ArchiveOption = None, json_output: JsonOption = False
) -> None:
    """Delete the graph and make it again from the events topic: the same graph, byte for byte.

    Stop the group's consumers first. The group's offsets are reset, Headwater's nodes in Neo4j are deleted, and the
    topic is consumed from its beginning, or from the end of the archive. After an interruption, run the command again.
    A rebuild is needed after an upgrade that changes the graph's model.
    """
    document, totals = _rebuilt(_settings(group), archive, yes=yes)
    console.result(document, totals_table(totals))


def _settings(group: str | None) -> Settings:
    return connected_settings(
        {"materializer.group": group, "materializer.http_port": 0, "log.format": LogFormat.TEXT},
        kafka=True,
        neo4j=True,
    )


def _rebuilt(settings: Settings, archive: str | None, *, yes: bool) -> tuple[dict[str, Any], ConsumerTotals]:
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    source = _opened(archive) if archive is not None else None
    with asking_kafka(settings.kafka, doing=f"looking at group {group}"):
        with graph_driver(settings.neo4j) as driver:
            # The given group may be wrong, but the graph stores the groups that write it.
            for each in {group, *writing_groups(driver, settings.neo4j.database)}:
                require_stopped(client, each)
        confirm(
            f"Delete the graph in {settings.neo4j.require_uri()} and make it again from {redact(archive or topic)}?",
            yes=yes,
        )
        # In this order, an interruption leaves a graph that the next consumer of the topic completes.
        forget(client, group)
        with graph_driver(settings.neo4j) as driver, console.status("Deleting the graph"):
            deleted = wipe(driver, settings.neo4j.database)
        if any(committed_offsets(client, topic, group).values()):
            raise CheckFailedError(
                f"A consumer of group {group} wrote while the graph was being deleted.",
                fix="Stop it, and run the command again.",
            )
    archived = None if source is None else _from_archive(settings, source)
    console.message(f"{deleted:,} nodes deleted; reading {topic} from the first unread record")
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
    """Write the archived events, and set the group to the end of the archive."""
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    totals = consume(settings, until_caught_up=True, source=source)
    with asking_kafka(settings.kafka, doing=f"setting the offsets of group {group}"):
        there = committed_offsets(client, topic, group).keys()
        commit(client, group, {kept.partition: kept.end for kept in source.kept if kept.partition in there})
    console.message(f"{totals.applied:,} events from the archive")
    return totals


_REQUEST_SECONDS = 10.0


@app.command()
def restored(
    yes: YesOption = False,
    group: GroupOption = None,
    json_output: JsonOption = False,
) -> None:
    """After a restore of Neo4j, set the consumer group back to the end of the restored graph.

    The group's offsets are in Kafka, so the backup of Neo4j doesn't restore them: without this command, events that
    were applied after the backup stay missing. Stop the group's consumers before, and start them afterwards. Events
    that are applied again change nothing. Exit status 5: records that the graph lacks have expired on the topic;
    `headwater graph rebuild --archive` brings them back.
    """
    settings = connected_settings({"materializer.group": group}, kafka=True, neo4j=True)
    client, topic, group = client_config(settings.kafka), settings.topic.names().events, settings.materializer.group
    with asking_kafka(settings.kafka, doing=f"setting the offsets of group {group}"):
        with current_graph(settings.neo4j) as driver:
            for name in {group, *writing_groups(driver, settings.neo4j.database)}:
                require_stopped(client, name)
            holds = graph_offsets(driver, settings.neo4j.database, topic)
        positions = OffsetReader(client, group=group).positions(topic, timeout_seconds=_REQUEST_SECONDS)
        back: dict[Partition, int] = {}
        expired = records = 0
        for each in positions:
            # 0 for a partition that isn't in the graph, or only with another incarnation of the topic.
            holds_until = holds.get((each.partition.number, each.partition.topic_id), 0)
            expired += max(0, each.begin - holds_until)
            if each.committed is not None and holds_until < each.committed:
                back[each.partition] = max(each.begin, holds_until)
                records += each.committed - back[each.partition]
        if back:
            confirm(f"Set group {group} back by {records:,} records of {topic}, to the end of the graph?", yes=yes)
            commit(client, group, back)
    console.result(
        {
            "group": group,
            "topic": topic,
            "records": records,
            "expired": expired,
            "partitions": {str(partition): offset for partition, offset in sorted(back.items())},
        },
        f"{records:,} records will be applied again: start the consumers."
        if back
        else "The group is at the end of the graph.",
    )
    if expired:
        raise CheckFailedError(
            f"{expired:,} records that the graph lacks have expired on {topic}.",
            fix="`headwater graph rebuild --archive …` makes the graph from an archive of the topic.",
        )


@app.command()
def migrate(
    yes: YesOption = False, group: GroupOption = None, archive: ArchiveOption = None, json_output: JsonOption = False
) -> None:
    """After an upgrade or downgrade, bring the graph to the version that this release reads and writes.

    Nothing is done if the graph has this version, or is empty. Otherwise the graph is rebuilt, as by `rebuild`: there
    is no conversion in place. Stop the group's consumers first. After an interruption, run `rebuild`.
    """
    settings = _settings(group)
    with graph_driver(settings.neo4j) as driver:
        try:
            require_version(driver, settings.neo4j.database)
        except GraphVersionMismatch as mismatch:
            found = mismatch.found
        else:
            text = f"The graph has version {GRAPH_VERSION}, the version of this release, or is empty."
            console.result({"version": GRAPH_VERSION, "migrated_from": None}, text)
            return
    console.message(f"The graph has version {found}; this release has version {GRAPH_VERSION}.")
    document, totals = _rebuilt(settings, archive, yes=yes)
    console.result({"version": GRAPH_VERSION, "migrated_from": found} | document, totals_table(totals))
