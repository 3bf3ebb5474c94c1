"""Checks: what was emitted, folded as the materializer folds it, against the truth."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import IntervalFacts
from headwater_graph.fold import fold, reject
from headwater_producers.spark.jvm.files import LocalTextFiles
from headwater_producers.spark.plan import PlanInput, SourceKind
from headwater_producers.spark.streaming.checkpoint import QueryLog
from headwater_producers.spark.streaming.gaps import GAPS_FACET
from headwater_producers.spark.streaming.rebuild import QueryIdentity, Rebuilder, interval_events
from headwater_schemas.events import DatasetRef, JobRef, LineageEvent, Provenance
from support.crash.truth import Truth


def check_commits(events: Sequence[LineageEvent], truth: Truth) -> None:
    """No micro-batch is emitted that wasn't committed, and each with the source's true end."""
    for name, query_id in truth.queries.items():
        for batch, interval in intervals(events, query_id).items():
            assert (name, batch) in truth.ends, f"{name} {batch} was emitted and never committed"
            assert len(interval.variants) == 1, f"{name} {batch} was emitted in two ways: {interval.variants}"
            assert _end(_position(interval)) == truth.ends[name, batch], f"{name} {batch} ends elsewhere"


def check_chain(events: Sequence[LineageEvent], truth: Truth, name: str, upto: int | None = None) -> None:
    """Every committed micro-batch, up to one, is emitted, and each begins where the one before it ended."""
    batches = [batch for batch in truth.committed(name) if upto is None or batch <= upto]
    assert batches == list(range(len(batches))), f"{name}: the truth has holes: {batches}"
    known = intervals(events, truth.queries[name])
    missing = sorted(set(batches) - set(known))
    assert not missing, f"{name}: {missing} were committed and not emitted"
    for before, after in pairwise(batches):
        earlier, later = _position(known[before]), _position(known[after])
        if earlier["position"] == "kafka":
            assert later["from"] == earlier["to_exclusive"], f"{name}: {before} and {after} don't meet"
        if earlier["position"] == "opaque":
            assert later["from_json"] == earlier["to_json"], f"{name}: {before} and {after} don't meet"
        assert earlier["certainty"] == later["certainty"] == "EXACT", f"{name}: {before}, {after}"


def check_rows(events: Sequence[LineageEvent], truth: Truth) -> int:
    """Each report of a committed micro-batch names the datasets that were written, and how many rows, where it says so.

    Returns:
        How many numbers of rows were compared.
    """
    compared = 0
    names = {query_id: name for name, query_id in truth.queries.items()}
    for event in events:
        if (body := event.interval_event) is None:
            continue
        name = names[body.query_id]
        for entry in body.entries:
            where, rows = f"{name} {entry.batch_id}", truth.rows(name, entry.batch_id)
            written = {use.dataset.name: use.rows for use in entry.outputs}
            assert set(written) <= set(rows.written), f"{where} was reported to write {written}"
            if body.provenance is Provenance.OBSERVED and (written or (entry.rows_in is not None and rows.read)):
                assert set(written) == set(rows.written), f"{where} was reported to write {written} alone"
            numbers = [
                (entry.rows_in, rows.read),
                (entry.rows_out, sum(rows.written.values())),
                *((count, rows.written[dataset]) for dataset, count in written.items()),
            ]
            for reported, true in numbers:
                if reported is not None:
                    assert reported == true, f"{where}: {reported} rows reported, {true} in truth: {entry}"
                    compared += 1
    return compared


def check_no_gap(events: Sequence[LineageEvent]) -> None:
    """No run states that micro-batches were never emitted."""
    facets_emitted = [event.run_event.run_facets for event in events if event.run_event is not None]
    assert [facets[GAPS_FACET] for facets in facets_emitted if GAPS_FACET in facets] == []


def check_nothing_blanked(events: Sequence[LineageEvent], more: Sequence[LineageEvent] = ()) -> None:
    """All that was observed is there as it was observed, whatever was reconciled; and either order is the same."""
    everything = [*events, *more]
    observed = fold([event for event in everything if not _is_reconciled(event)])
    whole = fold(everything)
    assert fold(everything[::-1]).intervals == whole.intervals
    for key, interval in observed.intervals.items():
        for digest, variant in interval.variants.items():
            now = whole.intervals[key].variants[digest]
            assert {name: now.registers.get(name) for name in variant.registers} == variant.registers
            for use, registers in variant.uses.items():
                assert {name: now.uses[use].get(name) for name in registers} == registers


def reconciled(folder: Path, truth: Truth) -> Iterator[LineageEvent]:
    """Events that `headwater reconcile` makes of the checkpoints, without Spark."""
    inputs = {
        "copy": PlanInput(dataset=DatasetRef("kafka://here", "in"), kind=SourceKind.KAFKA, source_index=0),
        "files": PlanInput(dataset=DatasetRef("file", str(folder / "in")), kind=SourceKind.FILE, source_index=0),
        "split": PlanInput(
            dataset=DatasetRef("memory://spark/killed", "rate"), kind=SourceKind.GENERATED, source_index=0
        ),
    }
    for name, query_id in truth.queries.items():
        log = QueryLog(f"file:{folder}/checkpoints/{name}", LocalTextFiles())
        assert log.query_id() == query_id
        rebuilder = Rebuilder(log, LocalTextFiles(), inputs=[inputs[name]], sources=1)
        # The oldest of more than 100 has lost its beginning.
        entries = [rebuilder.entry(batch) for batch in log.committed() if batch == 0 or batch - 1 in log.planned()]
        whose = QueryIdentity(
            tenant="default", job=JobRef("default", f"killed.{name}"), query_id=query_id, producer="urn:reconcile"
        )
        yield from interval_events(whose, entries, per_event=1, now=datetime.now(UTC))


def intervals(events: Sequence[LineageEvent], query_id: str) -> dict[int, IntervalFacts]:
    """The micro-batches of a query, by id, as the graph would have them."""
    assert [rejection for event in events if (rejection := reject(event)) is not None] == []
    return {each.batch_id: each for each in fold(events).intervals.values() if each.identity["query_id"] == query_id}


def _is_reconciled(event: LineageEvent) -> bool:
    return event.interval_event is not None and event.interval_event.provenance is Provenance.RECONCILED


def _position(interval: IntervalFacts) -> dict[str, Any]:
    [position] = [
        registers["position"][1]
        for use, registers in interval.variants[interval.winner].uses.items()
        if use.type is RelType.CONSUMED
    ]
    assert isinstance(position, dict)
    return position


def _end(position: dict[str, Any]) -> Any:
    match position["position"]:
        case "kafka":
            ends = zip(position["partitions"], position["to_exclusive"], strict=True)
            return {position["topic"]: {str(partition): end for partition, end in ends}}
        case "files":
            return position["file_count"], position["manifest_digest"]
        case _:
            return json.loads(position["to_json"])
