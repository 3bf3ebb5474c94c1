"""Summary of a segment, derived from its micro-batches: properties of its node and of its relationships.

The relationships are CONSUMED, PRODUCED, IN_RUN, READ and WROTE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from headwater_graph.derive import BatchPositions, neighbour_of, next_properties, versions_used
from headwater_graph.facts.model import RelType, UseKey
from headwater_graph.facts.nodes import IntervalFacts, Variant
from headwater_graph.facts.registers import Cell, Registers
from headwater_graph.segments import segment
from headwater_graph.segments.lists import TAIL, UNKNOWN, Columns, OffsetLists
from headwater_schemas.events import Provenance
from headwater_schemas.identity import micros

StoredUse: TypeAlias = "tuple[str, str, Mapping[str, Any], Iterable[tuple[str, Any]]]"
"""CONSUMED or PRODUCED: its type, the dataset's key, properties, and further properties as pairs."""


class StoredSummary(NamedTuple):
    """Stored summary of a segment.

    Attributes:
        node: properties of the node, times as aware datetimes, with the lists that are needed.
        runs: number of micro-batches of each run, by key.
        uses: properties of each CONSUMED and PRODUCED, with the lists that are needed.
    """

    node: Mapping[str, Any]
    runs: Mapping[str, int]
    uses: Mapping[UseKey, Mapping[str, Any]]

    @classmethod
    def of(cls, node: Mapping[str, Any], runs: Iterable[tuple[str, int]], uses: Iterable[StoredUse]) -> StoredSummary:
        """Read the summary from rows of a statement."""
        return cls(
            node,
            dict(runs),
            {
                UseKey(RelType(type_), dataset, properties.get("ordinal") or 0): {**properties, **dict(more)}
                for type_, dataset, properties, more in uses
            },
        )


NOTHING = StoredSummary({}, {}, {})
"""Summary of a segment that isn't stored yet."""

_FAULTS = ("missing", "gaps", "overlaps")
"""Properties parallel to `broken`: one number for each of its batches."""


@dataclass(slots=True)
class UsedRanges:
    """Offset ranges, files and versions of one dataset that a segment's micro-batches used.

    Attributes:
        positions: types of position.
        offsets: lowest and highest offset (half-open) by Kafka partition, in the order in which they are first used.
        lists: offsets of each micro-batch, by part.
    """

    positions: set[str] = field(default_factory=set)
    offsets: dict[int, tuple[int, int]] = field(default_factory=dict)
    marks: set[str] = field(default_factory=set)
    batches: int = 0
    lists: dict[str, OffsetLists] = field(default_factory=dict)

    def properties(self) -> dict[str, Any]:
        """Return the properties of the relationship; None for an absent property."""
        out: dict[str, Any] = {
            "batches": self.batches,
            "positions": sorted(self.positions) or None,
            "partitions": list(self.offsets) or None,
            "from": [first for first, _ in self.offsets.values()] or None,
            "to_exclusive": [last for _, last in self.offsets.values()] or None,
            "_marks": sorted(self.marks) or None,
        }
        for part, lists in self.lists.items():
            out |= lists.properties(part)
        return out

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> UsedRanges:
        """Inverse of `properties`, with the loaded lists."""
        pairs = zip(stored.get("from") or (), stored.get("to_exclusive") or (), strict=True)
        return cls(
            set(stored.get("positions") or ()),
            dict(zip(stored.get("partitions") or (), pairs, strict=True)),
            set(stored.get("_marks") or ()),
            stored["batches"],
            OffsetLists.of(stored),
        )

    def see(self, position: Mapping[str, Any]) -> None:
        """Widen the range by a micro-batch's position."""
        self.positions.add(position["position"])
        self.marks.update(position.get("_marks", ()))
        if position["position"] == "kafka":
            for partition, pair in _pairs(position).items():
                known = self.offsets.get(partition)
                self.offsets[partition] = pair if known is None else (min(known[0], pair[0]), max(known[1], pair[1]))

    def list_offsets(self, position: Mapping[str, Any], rows: int) -> None:
        """Add the offsets of the micro-batch that was just added to the node's lists.

        Args:
            position: position of the micro-batch in the dataset; empty if it didn't use the dataset.
            rows: number of micro-batches in the tail of the node's lists, without this one.
        """
        if not self.offsets:
            return
        if TAIL not in self.lists:
            self.lists[TAIL] = OffsetLists.empty(len(self.offsets), rows)
        pairs = _pairs(position) if position.get("position") == "kafka" else {}
        self.lists[TAIL].add([pairs.get(partition) for partition in self.offsets])

    def roll(self, part: str, rows: int, tail_rows: int) -> None:
        """Add the tail to the lists of its block.

        Args:
            rows: number of micro-batches in the block's lists.
            tail_rows: number of micro-batches in the tail.
        """
        if (tail := self.lists.pop(TAIL, None)) is None:
            return
        block = self.lists.setdefault(part, OffsetLists.empty(len(tail.from_), rows))
        for row in tail.rows(tail_rows):
            block.add(row)


def _pairs(position: Mapping[str, Any]) -> dict[int, tuple[int, int]]:
    """Map partitions to their offset range (half-open)."""
    pairs = zip(position["from"], position["to_exclusive"], strict=True)
    return dict(zip(position["partitions"], pairs, strict=True))


@dataclass(slots=True)
class VersionUse:
    """Micro-batches of a segment that read, or wrote, one version.

    Attributes:
        batches: batch ids, ascending.
        first_time: lowest processing time of the micro-batches.
    """

    batches: list[int] = field(default_factory=list)
    first_time: datetime | None = None

    def add(self, batch_id: int, time: object) -> None:
        """Add a micro-batch, in batch order. Call this for each report with the version."""
        if batch_id not in self.batches[-1:]:
            self.batches.append(batch_id)
        if isinstance(time, datetime) and (self.first_time is None or time < self.first_time):
            self.first_time = time


@dataclass(slots=True)
class Summary:
    """Summary of a segment, derived from its micro-batches.

    Attributes:
        first, last: lowest and highest batch id.
        began, ended: lowest and highest processing time.
        timed: number of micro-batches with a processing time.
        contested: batch ids with conflicts, once for each conflict.
        broken: batch ids that don't continue the previous batch (`derive.next_properties`), with the numbers of missing
            batches, of partitions with a gap, and of partitions with an overlap.
        rewinds: batch ids whose positions are before the positions of the previous batch.
        failed: batch ids with a failed assertion.
        reconciled: batch ids that were recovered from the checkpoint.
        late: number of rows dropped because they were late for the watermark, by batch id; only above 0.
        last_passed: highest batch id with assertions that all passed.
        runs: number of micro-batches of each run, by key.
        versions: uses by READ or WROTE and the version's key.
        lists: values of each micro-batch, by part.
    """

    batches: int = 0
    first: int | None = None
    last: int | None = None
    began: datetime | None = None
    ended: datetime | None = None
    timed: int = 0
    contested: list[int] = field(default_factory=list)
    broken: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    rewinds: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    reconciled: list[int] = field(default_factory=list)
    late: dict[int, int] = field(default_factory=dict)
    last_passed: int | None = None
    runs: dict[str, int] = field(default_factory=dict)
    ranges: dict[UseKey, UsedRanges] = field(default_factory=dict)
    versions: dict[tuple[RelType, str], VersionUse] = field(default_factory=dict)
    lists: dict[str, Columns] = field(default_factory=dict)

    @classmethod
    def of(cls, before: StoredSummary) -> Summary:
        """Return the summary of a stored segment, without its versions."""
        stored = before.node
        return cls(
            stored["batches"],
            stored["first_batch"],
            stored["last_batch"],
            stored.get("first_time"),
            stored.get("last_time"),
            stored.get("timed", 0),
            list(stored.get("contested") or ()),
            dict(
                zip(
                    stored.get("broken") or (),
                    zip(*(stored.get(name) or () for name in _FAULTS), strict=True),
                    strict=True,
                )
            ),
            list(stored.get("rewinds") or ()),
            list(stored.get("failed") or ()),
            list(stored.get("reconciled") or ()),
            dict(zip(stored.get("late") or (), stored.get("late_rows") or (), strict=True)),
            stored.get("last_passed"),
            dict(before.runs),
            {use: UsedRanges.of(properties) for use, properties in before.uses.items()},
            lists=Columns.of(stored),
        )

    def add_all(
        self, tenant: str, intervals: Iterable[IntervalFacts], before: BatchPositions | None
    ) -> BatchPositions | None:
        """Add micro-batches by ascending batch id, after all others; return the positions of the last one."""
        for interval in intervals:
            before = self.add(tenant, interval, before)
        return before

    def add(self, tenant: str, interval: IntervalFacts, before: BatchPositions | None) -> BatchPositions:
        """Add a micro-batch after all others; return it as a `BatchPositions` for the next micro-batch.

        Args:
            before: previous micro-batch, in this segment or an earlier one.
        """
        batch_id = interval.batch_id
        winner = interval.variants[interval.winner]
        here = neighbour_of(interval)
        self.batches += 1
        self.first = batch_id if self.first is None else self.first
        self.last = batch_id
        self.contested += [batch_id] * (len(interval.variants) - 1)
        _, time = winner.registers.get("processing_time", ("", None))
        if isinstance(time, datetime):
            self.timed += 1
            self.began = time if self.began is None else min(self.began, time)
            self.ended = time if self.ended is None else max(self.ended, time)
        self._mark(batch_id, winner.registers)
        for _, variant in sorted(interval.variants.items()):
            _, run = variant.registers.get("run", ("", None))
            if isinstance(run, dict):
                key = str(run["_run"])
                self.runs[key] = self.runs.get(key, 0) + (1 if variant is winner else 0)
            for type_, version in set(versions_used(tenant, variant.uses)):
                _, began = variant.registers.get("processing_time", ("", None))
                self.versions.setdefault((type_, version), VersionUse()).add(batch_id, began)
            for use, registers in variant.uses.items():
                range_ = self.ranges.setdefault(use, UsedRanges())
                range_.batches += 1
                if isinstance(position := registers.get("position", ("", None))[1], dict):
                    range_.see(position)
        self._list(batch_id, winner, time)
        self._joint(batch_id, before, here)
        return here

    def take_back(self, last: Mapping[int, IntervalFacts]) -> None:
        """Remove the last micro-batches from the summary, so that late micro-batches can be added between them.

        Bounds and sets stay, because the micro-batches will be added again.

        Args:
            last: last micro-batches by batch id, all in one block. The previous micro-batch is in this block, too. The
                lists of the block must be loaded, unless the tail holds all of the micro-batches. Each micro-batch has
                one report, without versions and assertions.
        """
        first = min(last)
        self.batches -= len(last)
        for interval in last.values():
            (variant,) = interval.variants.values()
            self.timed -= isinstance(variant.registers.get("processing_time", ("", None))[1], datetime)
            _, run = variant.registers.get("run", ("", None))
            if isinstance(run, dict):
                self.runs[str(run["_run"])] -= 1
            for use in variant.uses:
                self.ranges[use].batches -= 1
        self.broken = {batch_id: faults for batch_id, faults in self.broken.items() if batch_id < first}
        self.late = {batch_id: rows for batch_id, rows in self.late.items() if batch_id < first}
        self.rewinds, self.reconciled = (
            [batch_id for batch_id in marked if batch_id < first] for marked in (self.rewinds, self.reconciled)
        )
        tail = self.lists.pop(TAIL)
        rows = len(tail.batch_ids)
        self._cut(TAIL, tail, rows, rows - len(last))
        if (in_block := len(last) - rows) > 0:
            part = str(segment.at(first).block)
            block = self.lists.pop(part)
            rows = len(block.batch_ids)
            self._cut(part, block, rows, rows - in_block)

    def _cut(self, part: str, columns: Columns, rows: int, count: int) -> None:
        """Cut the lists of a part to their first rows."""
        if count > 0:
            self.lists[part] = columns.cut(count)
        for range_ in self.ranges.values():
            if (offsets := range_.lists.pop(part, None)) is not None and count > 0:
                range_.lists[part] = offsets.cut(count, rows)

    def _mark(self, batch_id: int, registers: Registers) -> None:
        _, quality = registers.get("quality", ("", None))
        if isinstance(quality, dict) and isinstance(passed := quality["quality_passed"], list) and passed:
            if all(passed):
                self.last_passed = batch_id
            else:
                self.failed.append(batch_id)
        if registers["provenance"][1] == Provenance.RECONCILED:
            self.reconciled.append(batch_id)
        _, dropped = registers.get("rows_dropped_late", ("", None))
        if isinstance(dropped, int) and dropped > 0:
            self.late[batch_id] = dropped

    def join_to(self, before: BatchPositions, first: BatchPositions) -> bool:
        """Correct the link of the first micro-batch to the previous one; return True if anything changed.

        Args:
            before: last micro-batch of the previous segment.
            first: first micro-batch of this segment.
        """
        old = self.broken.get(first.batch_id), self.rewinds[:1]
        broken, rewinds = self.broken, [batch for batch in self.rewinds if batch != first.batch_id]
        broken.pop(first.batch_id, None)
        self.broken, self.rewinds = {}, []
        self._joint(first.batch_id, before, first)
        new = self.broken.get(first.batch_id), self.rewinds[:1] or rewinds[:1]
        self.broken |= broken
        self.rewinds += rewinds
        return old != new

    def _joint(self, batch_id: int, before: BatchPositions | None, here: BatchPositions) -> None:
        if before is None:
            return
        properties = next_properties(before, here)
        if "rewinds" in properties:
            self.rewinds.append(batch_id)
        if properties.keys() - {"rewinds"}:
            missing = properties.get("missing", 0)
            gaps, overlaps = (properties.get(f"{word}_partitions", []) for word in ("gap", "overlap"))
            assert isinstance(missing, int)  # noqa: S101 - for the type checker
            assert isinstance(gaps, list)  # noqa: S101 - for the type checker
            assert isinstance(overlaps, list)  # noqa: S101 - for the type checker
            self.broken[batch_id] = missing, len(gaps), len(overlaps)

    def _list(self, batch_id: int, winner: Variant, time: Cell | None) -> None:
        tail = self.lists.get(TAIL)
        if tail is not None and tail.batch_ids[-1] // segment.TAIL != batch_id // segment.TAIL:
            self._roll(tail)
            tail = None
        if tail is None:
            tail = self.lists[TAIL] = Columns()
        rows = len(tail.batch_ids)
        tail.add(
            batch_id,
            micros(time) // 1000 if isinstance(time, datetime) else UNKNOWN,
            *(
                number if isinstance(number := winner.registers.get(name, ("", None))[1], int) else UNKNOWN
                for name in ("duration_ms", "rows_in")
            ),
        )
        for use, range_ in self.ranges.items():
            position = winner.uses.get(use, {}).get("position", ("", None))[1]
            range_.list_offsets(position if isinstance(position, dict) else {}, rows)

    def _roll(self, tail: Columns) -> None:
        part = str(segment.at(tail.batch_ids[-1]).block)
        block = self.lists.setdefault(part, Columns())
        for range_ in self.ranges.values():
            range_.roll(part, len(block.batch_ids), len(tail.batch_ids))
        block.extend(tail)

    def properties(self, query: str) -> dict[str, Any]:
        """Properties of the node; None for an absent property."""
        out = {
            "batches": self.batches,
            "first_batch": self.first,
            "last_batch": self.last,
            "first_time": self.began,
            "last_time": self.ended,
            "timed": self.timed,
            "contested": self.contested or None,
            "broken": list(self.broken) or None,
            **{name: [fault[at_] for fault in self.broken.values()] or None for at_, name in enumerate(_FAULTS)},
            "rewinds": self.rewinds or None,
            "failed": self.failed or None,
            "reconciled": self.reconciled or None,
            "late": list(self.late) or None,
            "late_rows": list(self.late.values()) or None,
            "last_passed": self.last_passed,
            "_broken": query if self.broken else None,
            "_rewinds": query if self.rewinds else None,
            "_contested": query if self.contested else None,
        }
        for part, lists in self.lists.items():
            out |= lists.properties(part)
        return out


def summarize(
    tenant: str, intervals: Mapping[int, IntervalFacts], before: BatchPositions | None
) -> tuple[Summary, BatchPositions | None]:
    """Return the summary of micro-batches by ascending batch id, and the last micro-batch as a `BatchPositions`."""
    summary = Summary()
    return summary, summary.add_all(tenant, intervals.values(), before)
