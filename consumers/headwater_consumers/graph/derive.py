"""D: what follows from base facts. One function for each rule, which the oracle and the writer share.

| derived                                  | from                                                                 |
|------------------------------------------|----------------------------------------------------------------------|
| Job READS, WRITES and FEEDS of a run     | its jobs, its uses, its span (`run_links`)                           |
| READ, WROTE                              | positions of a run's or interval's uses (`fold.uses.versions_used`)  |
| `declared` of READS, WRITES, FEEDS       | the job's declared registers (`declared_links`)                      |
| `current`, `last_seen` of HAS_COLUMN     | the dataset's register `schema` (`column_validity`)                  |
| which variant is the Interval            | `IntervalFacts.winner`                                               |
| NEXT and its properties                  | neighbouring intervals of one query (`next_properties`)              |
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater_consumers.graph.model import RelType
from headwater_consumers.materializer.fold.facts import ColumnFacts, Link, NodeFacts, Use
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from headwater_consumers.materializer.fold.registers import Props, Registers

_COMPARABLE = frozenset({Certainty.EXACT.value, Certainty.INFERRED.value})


def run_links(run_jobs: Iterable[str], uses: Iterable[Use]) -> Iterator[Link]:
    """What its uses say of a run's jobs, within the run's span: what goes into a run feeds all that comes out of it."""
    uses = list(uses)
    sources = {use.dataset for use in uses if use.type is RelType.CONSUMED}
    targets = {use.dataset for use in uses if use.type is RelType.PRODUCED}
    for job in run_jobs:
        for source in sources:
            yield Link(RelType.READS, job, source)
        for target in targets:
            yield Link(RelType.WRITES, job, target)
        for source in sources:
            for target in targets:
                yield Link(RelType.FEEDS, source, target, job)


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
    """Properties of HAS_COLUMN."""
    out: Props = {}
    if column.seen.first is not None:
        out["first_seen"] = column.seen.first
    if path in current_paths:
        out["current"] = True
    elif column.seen.last is not None:
        out["last_seen"] = column.seen.last
    return out


def current_paths(dataset: NodeFacts) -> set[str]:
    """Field paths of the dataset's schema as it is now."""
    _, schema = dataset.registers.get("schema", ("", None))
    return set(_strings(schema["columns"])) if isinstance(schema, dict) else set()


class Neighbour(NamedTuple):
    """What NEXT needs of an interval.

    Attributes:
        query: key of its query.
        batch_id: of the micro-batch.
        positions: register `position` of each use that has one.
    """

    query: str
    batch_id: int
    positions: Mapping[Use, Props]


def neighbour(query: str, batch_id: int, uses: Mapping[Use, Registers]) -> Neighbour:
    """The Neighbour with these uses."""
    positions: dict[Use, Props] = {}
    for use, registers in uses.items():
        cell = registers.get("position")
        if cell is not None and isinstance(cell[1], dict):
            positions[use] = cell[1]
    return Neighbour(query, batch_id, positions)


def next_properties(before: Neighbour, after: Neighbour) -> Props:
    """Properties of NEXT between two neighbours: empty when the chain is sound there."""
    both = [
        (use, before.positions[use], after.positions[use])
        for use in _in_both(before, after)
        if not _goes_on(before.positions[use], after.positions[use])
    ]
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
            continue  # what is written may be an upper bound, and others write there too
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


def _goes_on(before: Props, after: Props) -> bool:
    """Whether every partition goes on where it ended: nearly always so, and quickly told."""
    return (
        before["position"] == "kafka" == after["position"]
        and before["to_exclusive"] == after["from"]
        and before["partitions"] == after["partitions"]
        and before.get("topic_id") == after.get("topic_id")
    )


def _joints(before: Props, after: Props) -> Iterator[tuple[int, int, int]]:
    """Partition, end of the range before and start of the range after, where they can be compared."""
    if before["position"] != "kafka" or after["position"] != "kafka":
        return
    if before["certainty"] not in _COMPARABLE or after["certainty"] not in _COMPARABLE:
        return
    incarnations = before.get("topic_id"), after.get("topic_id")
    if None not in incarnations and incarnations[0] != incarnations[1]:
        return
    starts = _ranges(after)
    for partition, (_, end) in _ranges(before).items():
        if partition in starts:
            yield partition, end, starts[partition][0]


def _in_both(before: Neighbour, after: Neighbour) -> list[Use]:
    return sorted(before.positions.keys() & after.positions.keys())


def _goes_back(before: Props, after: Props) -> bool:
    """Whether positions don't go on upwards: a search by batch id can't look across."""
    if before["position"] != "kafka" or after["position"] != "kafka":
        return False
    incarnations = before.get("topic_id"), after.get("topic_id")
    if None not in incarnations and incarnations[0] != incarnations[1]:
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
