"""Rules of derived facts (D), one function for each; shared by the oracle and the writer.

| derived                                  | from                                                                 |
|------------------------------------------|----------------------------------------------------------------------|
| READS, WRITES, FEEDS, GOES_INTO of a run | its jobs, its uses, its span (`run_links`)                           |
| FEEDS with evidence POSSIBLE             | the evidence of all FEEDS of one job (`possible_feeds`)              |
| READ, WROTE                              | positions of a run's or interval's uses (`versions_used`)            |
| KNOWN_AS                                 | the dataset's register `symlinks` (`known_as`)                        |
| `declared` of READS, WRITES, FEEDS       | the job's declared registers (`declared_links`)                      |
| `current`, `last_seen` of HAS_COLUMN     | the dataset's register `schema` (`column_validity`)                  |
| which variant is the Interval            | `IntervalFacts.winner`                                               |
| `open`, `inferred_…` of a Run            | the other runs of its query, its children, its parent (`run_ends`)   |
| NEXT and its properties                  | neighbouring intervals of one query (`next_properties`)              |
| DERIVES, INFLUENCES, GENERATES           | a plan's lineage (`plan_edges`)                                      |
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from headwater_graph import keys
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import (
    UNCOMMITTED,
    ColumnFacts,
    Evidence,
    IntervalFacts,
    Link,
    NodeFacts,
    PlanFacts,
    RunFacts,
    flow,
)
from headwater_graph.facts.registers import Props, Registers
from headwater_schemas.events import Certainty, RunEventType

ABORT = RunEventType.ABORT.value
TERMINAL = frozenset(type_.value for type_ in RunEventType if type_.is_terminal)
_COMPARABLE = frozenset({Certainty.EXACT.value, Certainty.INFERRED.value})


FILES = "files"
"""Format of the versions that are file manifests."""


class NamedVersion(NamedTuple):
    """A version that a position names: a table's snapshot, or a manifest of files."""

    format: str
    version: str


def run_links(run_jobs: Iterable[str], uses: Mapping[UseKey, Registers]) -> Iterator[Link]:
    """READS, WRITES and FEEDS of a run's jobs that follow from its uses (`flow`), within the run's span."""
    for job in run_jobs:
        for use, registers in uses.items():
            if use.type is RelType.CONSUMED:
                yield Link(RelType.READS, job, use.dataset)
            elif UNCOMMITTED not in registers:
                yield Link(RelType.WRITES, job, use.dataset)
        yield from flow(job, uses)


def possible_feeds(links: Collection[Link]) -> set[Link]:
    """Return POSSIBLE links whose datasets and job have no link with better evidence."""
    possible = {link for link in links if link.evidence is Evidence.POSSIBLE}
    better = (Evidence.EXCLUDED, Evidence.OBSERVED)
    return {link for link in possible if not any(link._replace(evidence=each) in links for each in better)}


def versions_used(tenant: str, uses: dict[UseKey, Registers]) -> Iterator[tuple[RelType, str]]:
    """READ or WROTE, and the version's key, for each use whose winning position names a version."""
    for use, registers in uses.items():
        _, position = registers.get("position", ("", None))
        if not isinstance(position, dict):
            continue
        named = _named_version(position)
        if named is not None:
            type_ = RelType.READ if use.type is RelType.CONSUMED else RelType.WROTE
            yield type_, keys.version_key(tenant, use.dataset, named.format, named.version)


def _named_version(position: Props) -> NamedVersion | None:
    if position["position"] == "table_snapshot":
        return NamedVersion(str(position["format"]), str(position["snapshot_id"]))
    if position["position"] == "files" and "manifest_digest" in position:
        return NamedVersion(FILES, str(position["manifest_digest"]))
    return None


def known_as(tenant: str, registers: Registers) -> dict[str, str]:
    """Keys of the aliases in a dataset's registers, with the type of each; '' if it has no type."""
    _, cell = registers.get("symlinks", ("", None))
    if not isinstance(cell, dict):
        return {}
    columns = (_strings(cell[name]) for name in ("symlinks", "symlink_namespaces", "symlink_types"))
    out: dict[str, str] = {}
    # The types are sorted: for a name with several types, the last type is kept.
    for name, namespace, type_ in zip(*columns, strict=True):
        out[keys.alias_key(tenant, namespace, name)] = type_
    return out


def declared_links(job: str, registers: Registers) -> set[Link]:
    """READS, WRITES and FEEDS that a job's registers declare now."""
    inputs, outputs = _keys(registers, "declared_inputs"), _keys(registers, "declared_outputs")
    out = {Link(RelType.READS, job, key) for key in inputs} | {Link(RelType.WRITES, job, key) for key in outputs}
    out |= {Link(RelType.FEEDS, source, target, job) for source in inputs for target in outputs}
    _, lineage = registers.get("declared_lineage", ("", None))
    if isinstance(lineage, dict):
        for pair in _strings(lineage["_declared_feeds"]):
            source, target = pair[:32], pair[32:]
            out |= {Link(RelType.FEEDS, source, target, job)}
            out |= {Link(RelType.READS, job, source), Link(RelType.WRITES, job, target)}
    return out


def column_validity(path: str, column: ColumnFacts, current_paths: set[str]) -> Props:
    """Return the properties of HAS_COLUMN."""
    out: Props = {}
    if column.seen.first is not None:
        out["first_seen"] = column.seen.first
    if path in current_paths:
        out["current"] = True
    elif column.seen.last is not None:
        out["last_seen"] = column.seen.last
    return out


def current_paths(dataset: NodeFacts) -> set[str]:
    """Field paths of the dataset's current schema."""
    _, schema = dataset.registers.get("schema", ("", None))
    return set(_strings(schema["columns"])) if isinstance(schema, dict) else set()


class BatchPositions(NamedTuple):
    """Positions of a micro-batch, as NEXT compares them.

    Attributes:
        query: key of its query.
        positions: register `position` of each use that has this register.
    """

    query: str
    batch_id: int
    positions: Mapping[UseKey, Props]


def neighbour(query: str, batch_id: int, uses: Mapping[UseKey, Registers]) -> BatchPositions:
    """Positions of a micro-batch with these uses."""
    positions: dict[UseKey, Props] = {}
    for use, registers in uses.items():
        cell = registers.get("position")
        if cell is not None and isinstance(cell[1], dict):
            positions[use] = cell[1]
    return BatchPositions(query, batch_id, positions)


def neighbour_of(interval: IntervalFacts) -> BatchPositions:
    """Return a micro-batch's positions, for comparison with the micro-batches next to it."""
    return neighbour(interval.query, interval.batch_id, interval.variants[interval.winner].uses)


def next_properties(before: BatchPositions, after: BatchPositions) -> Props:
    """Properties of NEXT between two neighbours: empty if the second continues where the first ends."""
    both = [(use, earlier, later) for use, earlier, later in _in_both(before, after) if not _continues(earlier, later)]
    out: Props = {}
    if any(_goes_back(earlier, later) for _, earlier, later in both):
        out["rewinds"] = before.query
    missing = after.batch_id - before.batch_id - 1
    if missing:
        return out | {"missing": missing}
    gaps: list[tuple[str, int, int, int]] = []
    overlaps: list[tuple[str, int, int, int]] = []
    for use, earlier, later in both:
        if use.type is not RelType.CONSUMED:
            continue  # the range may be an upper bound, and other queries may write to the dataset
        for partition, end, start in _joints(earlier, later):
            if end < start:
                gaps.append((use.dataset, partition, end, start))
            elif start < end:
                overlaps.append((use.dataset, partition, start, end))
    for name, rows in (("gap", gaps), ("overlap", overlaps)):
        if rows:
            out[f"{name}_datasets"] = [row[0] for row in rows]
            out[f"{name}_partitions"] = [row[1] for row in rows]
            out[f"{name}_from"] = [row[2] for row in rows]
            out[f"{name}_to_exclusive"] = [row[3] for row in rows]
    return out


def marked(query: str, properties: Props) -> Props:
    """Properties of NEXT; if the batches don't fit together, also the indexed `_broken`: the query's key.

    The properties themselves aren't indexed: for a topic with a thousand partitions, the lists are too long.
    """
    broken = any(name in properties for name in ("missing", "gap_partitions", "overlap_partitions"))
    return {**properties, "_broken": query} if broken else dict(properties)


def _continues(before: Props, after: Props) -> bool:
    """Return True if every partition starts at its previous end offset. A quick comparison for the usual case."""
    return (
        before["position"] == "kafka" == after["position"]
        and before["to_exclusive"] == after["from"]
        and before["partitions"] == after["partitions"]
        and before.get("topic_id") == after.get("topic_id")
    )


def _joints(before: Props, after: Props) -> Iterator[tuple[int, int, int]]:
    """Partition, end of the range before and start of the range after, if the two can be compared."""
    if before["position"] != "kafka" or after["position"] != "kafka":
        return
    if before["certainty"] not in _COMPARABLE or after["certainty"] not in _COMPARABLE:
        return
    if _is_recreated(before, after):
        return
    starts = _ranges(after)
    for partition, (_, end) in _ranges(before).items():
        if partition in starts:
            yield partition, end, starts[partition][0]


def _in_both(before: BatchPositions, after: BatchPositions) -> list[tuple[UseKey, Props, Props]]:
    """Uses that have a position in both micro-batches, each with the two positions, in order of use."""
    here, there = before.positions, after.positions
    return [(use, here[use], there[use]) for use in sorted(here.keys() & there.keys())]


def other_incarnation(before: BatchPositions, after: BatchPositions) -> bool:
    """Check whether a topic was recreated between two neighbours."""
    return any(_is_recreated(earlier, later) for _, earlier, later in _in_both(before, after))


def skipped(before: BatchPositions, after: BatchPositions) -> list[tuple[str, int, int]]:
    """Return the dataset, partition and start offset of each skipped range after a topic was recreated.

    Offsets of the new topic begin at 0. A checkpoint continues at the offset of the old topic, so the query skips
    earlier records of the new topic.
    """
    if after.batch_id - before.batch_id != 1:
        return []
    return [
        (use.dataset, partition, start)
        for use, earlier, later in _in_both(before, after)
        if use.type is RelType.CONSUMED and _is_recreated(earlier, later)
        if {earlier["certainty"], later["certainty"]} <= _COMPARABLE
        for partition, (start, _) in _ranges(later).items()
        if start
    ]


def _is_recreated(before: Props, after: Props) -> bool:
    """Return True if the topic was deleted and created again between the two positions."""
    incarnations = before.get("topic_id"), after.get("topic_id")
    return None not in incarnations and incarnations[0] != incarnations[1]


def _goes_back(before: Props, after: Props) -> bool:
    """Return True if positions go backwards. A search by batch id can't cross this point."""
    if before["position"] != "kafka" or after["position"] != "kafka":
        return False
    if _is_recreated(before, after):
        return True
    later = _ranges(after)
    return any(
        later[partition][0] < start or later[partition][1] < end
        for partition, (start, end) in _ranges(before).items()
        if partition in later
    )


def _ranges(position: Props) -> dict[int, tuple[int, int]]:
    starts, ends = _integers(position["from"]), _integers(position["to_exclusive"])
    return dict(zip(_integers(position["partitions"]), zip(starts, ends, strict=True), strict=True))


def _keys(registers: Registers, name: str) -> list[str]:
    return _strings(registers[name][1]) if name in registers else []


def _strings(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _integers(value: object) -> list[int]:
    return [int(item) for item in value] if isinstance(value, list) else []


class Because(StrEnum):
    """Rule by which the end of a run that reported none was inferred.

    - QUERY_CONTINUED: a later run of the same streaming query began after the run was last seen. Spark doesn't start a
      query whose checkpoint is in use.
    - CHILDREN_CONTINUED: for an application: a later run of one of its queries belongs to another application, and
      neither the application nor any other run that it started was seen since.
    - PARENT_ENDED: for a run that an application started: the application's end is inferred by one of these rules.
    """

    QUERY_CONTINUED = "QUERY_CONTINUED"
    CHILDREN_CONTINUED = "CHILDREN_CONTINUED"
    PARENT_ENDED = "PARENT_ENDED"


class RunSeen(NamedTuple):
    """Properties of a run from which its end is inferred.

    Attributes:
        reported: true if the run reported COMPLETE, FAIL or ABORT.
        first, last: first and last observation; None if the run wasn't observed.
        parent: key of the parent run; None if it has none.
        query: key of its streaming query; None if it has none.
    """

    key: str
    run_id: str
    reported: bool
    first: datetime | None
    last: datetime | None
    parent: str | None
    query: str | None = None


class RunEnd(NamedTuple):
    """Inferred end of a run that reported no end.

    Attributes:
        because: rule of the inference.
        at: time at which the run, or a run that it had started, was last seen.
        by: id of the later run that shows the end.
        before: start of that later run.
    """

    because: Because
    at: datetime
    by: str
    before: datetime


def seen(key: str, run: RunFacts) -> RunSeen:
    """Return the base facts of a run from which ends are inferred."""
    _, state = run.registers.get("state", ("", None))
    _, parent = run.registers.get("parent", ("", None))
    _, query = run.registers.get("query_id", ("", None))
    above = None
    if isinstance(parent, dict):
        above = keys.run_key(str(run.identity["tenant"]), str(parent["parent_run_id"]))
    return RunSeen(
        key,
        str(run.identity["run_id"]),
        isinstance(state, dict) and state["state"] in TERMINAL,
        run.seen.first,
        run.seen.last,
        above,
        str(query["_query"]) if isinstance(query, dict) else None,
    )


def own_end(run: RunSeen, later: RunSeen | None) -> RunEnd | None:
    """Infer the end of a run whose streaming query went on in a later run.

    Args:
        later: first run of the same query (in order of time and key) that began after `run` was last seen.
    """
    if run.reported or run.last is None or later is None or later.first is None:
        return None
    return RunEnd(Because.QUERY_CONTINUED, run.last, later.run_id, later.first)


def application_end(
    run: RunSeen, children: Iterable[tuple[RunSeen, RunSeen | None]], last: datetime | None
) -> RunEnd | None:
    """Infer the end of an application's run whose queries were continued by another application.

    Args:
        children: runs that the application started and that reported no end; each with `own_end`'s argument `later`.
        last: latest observation of `run` and of all runs that the application started.
    """
    if run.reported or last is None:
        return None
    proofs = [
        (later.first, later.key, later.run_id)
        for child, later in children
        if own_end(child, later) is not None
        and later is not None
        and later.first is not None
        and later.first > last
        and later.parent not in (None, run.key)
    ]
    if not proofs:
        return None
    before, _, by = min(proofs)
    return RunEnd(Because.CHILDREN_CONTINUED, last, by, before)


def child_end(run: RunSeen, above: RunEnd | None) -> RunEnd | None:
    """Infer the end of a run whose parent's end was inferred."""
    if run.reported or run.last is None or above is None or run.last >= above.before:
        return None
    return RunEnd(Because.PARENT_ENDED, run.last, above.by, above.before)


def end_properties(run: RunSeen, end: RunEnd | None) -> Props:
    """Properties of a Run for its inferred end; `open` if the end was neither reported nor inferred."""
    if run.reported:
        return {}
    if end is None:
        return {} if run.last is None else {"open": True}
    return {
        "inferred_state": ABORT,
        "inferred_ended_at": end.at,
        "inferred_because": end.because.value,
        "inferred_by": end.by,
        "_inferred_before": end.before,
    }


def run_ends(runs: Mapping[str, RunFacts]) -> dict[str, Props]:
    """Return the `end_properties` of all runs."""
    known = {key: seen(key, run) for key, run in runs.items()}
    starts: dict[str, list[tuple[datetime, str]]] = defaultdict(list)
    children: dict[str, list[RunSeen]] = defaultdict(list)
    for run in known.values():
        if run.query is not None and run.first is not None:
            starts[run.query].append((run.first, run.key))
        if run.parent is not None:
            children[run.parent].append(run)
    for begun in starts.values():
        begun.sort()
    later = {run.key: _after(run, starts, known) for run in known.values()}
    own_ends: dict[str, RunEnd | None] = {}
    for key, run in known.items():
        last = max((each.last for each in (run, *children[key]) if each.last is not None), default=None)
        by_children = application_end(run, ((child, later[child.key]) for child in children[key]), last)
        own_ends[key] = own_end(run, later[key]) or by_children
    return {
        key: end_properties(run, own_ends[key] or child_end(run, own_ends.get(run.parent or "")))
        for key, run in known.items()
    }


def _after(
    run: RunSeen, starts: Mapping[str, list[tuple[datetime, str]]], known: Mapping[str, RunSeen]
) -> RunSeen | None:
    """Return the first run of the same query that began after `run` was last seen."""
    if run.query is None or run.last is None:
        return None
    begun = starts.get(run.query, [])
    at = bisect_right(begun, run.last, key=lambda start: start[0])
    return known[begun[at][1]] if at < len(begun) else None


class PlanRelationship(NamedTuple):
    """One relationship of a plan. Both ends are columns or datasets; GENERATES starts at the plan."""

    type: RelType
    start: str
    end: str
    properties: Props
    start_is_column: bool
    end_is_column: bool


def plan_edges(plan: PlanFacts) -> Iterator[PlanRelationship]:
    """Make the edges of a plan; none if events only mention the plan, without its lineage.

    | input           | output field        | becomes                                               |
    |-----------------|---------------------|-------------------------------------------------------|
    | a field         | a field             | (:HwColumn)-[:DERIVES]->(:HwColumn)                   |
    | a whole dataset | a field             | (:HwDataset)-[:DERIVES]->(:HwColumn)                  |
    | either          | None: all fields    | (:HwColumn or :HwDataset)-[:INFLUENCES]->(:HwDataset) |
    | None            | a field, or None    | (:HwPlan)-[:GENERATES]->(:HwColumn or :HwDataset)     |
    """
    lineage = plan.lineage
    if lineage is None:
        return
    tenant, key = str(plan.identity["tenant"]), str(plan.identity["key"])
    texts = _texts(plan)
    datasets = [keys.dataset_key(tenant, dataset.namespace, dataset.name) for dataset in lineage.datasets]

    def node(index: int, path: str | None) -> str:
        return datasets[index] if path is None else keys.column_key(tenant, datasets[index], path)

    for edge in dict.fromkeys(lineage.edges):
        end = node(edge.output, edge.output_field)
        if edge.input is None:
            type_, start = RelType.GENERATES, key
        else:
            type_ = RelType.INFLUENCES if edge.output_field is None else RelType.DERIVES
            start = node(edge.input, edge.input_field)
        identity = (edge.type.value, edge.subtype, edge.kind.value, int(edge.masking), edge.expression)
        properties: Props = {
            "key": keys.edge_key(tenant, type_, key, start, end, *identity),
            "plan": key,
            "job": plan.job,
            keys.SCOPE: plan.identity[keys.SCOPE],
            "type": edge.type.value,
            "kind": edge.kind.value,
            "masking": edge.masking,
        }
        if edge.subtype is not None:
            properties["subtype"] = edge.subtype
        if edge.expression is not None:
            properties["expression_id"] = edge.expression
            if edge.expression in texts:
                properties["expression"] = texts[edge.expression]
        starts_at_column = edge.input is not None and edge.input_field is not None
        yield PlanRelationship(type_, start, end, properties, starts_at_column, edge.output_field is not None)


def _texts(plan: PlanFacts) -> dict[str, str]:
    _, cell = plan.registers["lineage"]
    assert isinstance(cell, dict)  # noqa: S101 - `lineage` is a group; for the type checker
    ids, texts = cell["expression_ids"], cell["expressions"]
    assert isinstance(ids, list)  # noqa: S101
    assert isinstance(texts, list)  # noqa: S101
    return {str(id_): str(text) for id_, text in zip(ids, texts, strict=True)}
