"""`headwater graph verify`: compares the graph with its topic."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Group
from rich.table import Table

from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console
from headwater.decoding import event_decoder
from headwater.errors import CheckFailedError, HeadwaterError
from headwater.graph_driver import current_graph
from headwater.kafka_errors import asking_kafka
from headwater.settings import Settings, connected_settings
from headwater_consumers.materializer.accounting import Accounting, account
from headwater_consumers.materializer.truth import Truth, committed_offsets, truth
from headwater_graph.chains import Chain, check_chains
from headwater_graph.dump import SAMPLES, Comparison, compare, dump
from headwater_graph.oracle import oracle
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from neo4j import Driver
    from rich.console import RenderableType


def verify(
    group: Annotated[str | None, typer.Option(help="The consumer group that writes the graph.")] = None,
    skip_graph: Annotated[
        bool, typer.Option("--skip-graph", help="Check accounting and chains only, without reading the topic's events.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Check that no event is lost and that the graph equals the fold of the events.

    Accounting: acknowledged = applied + dead-lettered, and no dead letter is a good event. Chains: no gaps, overlaps or
    conflicts. The graph: equal, node by node, to the fold of all events that the group has committed; the fold is
    computed in memory. Stop writing meanwhile. Exit status 5: a check failed.
    """
    settings = connected_settings({"materializer.group": group}, kafka=True, neo4j=True)
    topic = settings.topic.names().events
    with asking_kafka(require_servers(settings.kafka), doing=f"reading {topic}"):
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
            f"Checks failed: {'; '.join(faults)}.", fix="docs/materializer.md has what to do about each."
        )


def _account(settings: Settings) -> Accounting:
    return account(client_config(settings.kafka), settings.topic.names(), settings.materializer.group)


def _compared(settings: Settings, driver: Driver) -> tuple[Comparison, Truth]:
    """Compare the graph; return the comparison and its basis."""
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
            oracle(expected.delta, internal=True), dump(driver, settings.neo4j.database, internal=True)
        )
    if committed_offsets(client, names.events, group) != expected.committed:
        raise HeadwaterError(
            f"Group {group} went on meanwhile, so the graph and the events can't be compared.",
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
            ("the graph differs from what the events make", comparison is None or comparison.same),
        )
        if not holds
    ]


def _view(document: dict[str, Any]) -> RenderableType:
    accounting, graph = document["accounting"], document["graph"]
    figures = Table(box=None, pad_edge=False, show_header=False)
    for name in ("acknowledged", "applied", "dead_lettered", "pending", "expired"):
        figures.add_row(name.replace("_", "-"), f"{accounting[name]:,}")
    parts: list[RenderableType] = [figures]
    if left_out := accounting["left_out"]:
        parts.append("\nLeft out of the comparison, because they can't be read; what they held isn't known:")
        parts += [visible(each) for each in left_out[:SAMPLES]]
        parts += [f"and {len(left_out) - SAMPLES:,} more"] if len(left_out) > SAMPLES else []
    if document["good_letters"]:
        parts += ["\nDead letters of events that can be applied:", *map(visible, document["good_letters"][:SAMPLES])]
    if document["chains"]:
        chains = Table(box=None, pad_edge=False)
        chains.add_column("query", overflow="fold")
        for heading in ("intervals", "gaps", "overlaps", "conflicts"):
            chains.add_column(heading, justify="right")
        for chain in document["chains"]:
            chains.add_row(
                visible(chain["name"]), *(f"{chain[name]:,}" for name in ("intervals", "gaps", "overlaps", "conflicts"))
            )
        parts += ["", chains]
    if graph is not None:
        parts.append(
            f"\n{graph['equal']:,} nodes and relationships as the events make them, {graph['missing']:,} missing, "
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
