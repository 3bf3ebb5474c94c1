"""One batch write: what it read and wrote, in numbers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater_producers.spark.plan import PlanDescription, PlanInput, PlanOutput
from headwater_schemas.events import Certainty, DatasetUse

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Rows, bytes and files, each None where Spark doesn't know."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None

    def plus(self, other: Counts) -> Counts:
        """The sum; unknown where either is, since a part is no total."""
        return Counts(
            rows=_sum(self.rows, other.rows),
            bytes=_sum(self.bytes, other.bytes),
            files=_sum(self.files, other.files),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """One scan of the executed plan: what it is known by, and what it read."""

    names: frozenset[str]
    counts: Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """One executed command that writes.

    Attributes:
        description: its plan.
        written: by the command as a whole.
        scans: of the executed plan, as far as they can be seen.
    """

    description: PlanDescription
    written: Counts
    scans: tuple[Scan, ...] = ()

    def inputs(self) -> tuple[DatasetUse, ...]:
        """The datasets read, with counts where a scan is known to be of them."""
        return tuple(self._input(source) for source in self.description.inputs)

    def outputs(self) -> tuple[DatasetUse, ...]:
        """The datasets written. Counts are the command's: of several outputs they can't be told apart."""
        outputs = self.description.outputs
        counts = self.written if len(outputs) == 1 else Counts()
        return tuple(
            DatasetUse(
                dataset=output.dataset,
                rows=counts.rows,
                bytes=counts.bytes,
                files=counts.files,
                facets=_lifecycle(output),
            )
            for output in outputs
        )

    def _input(self, source: PlanInput) -> DatasetUse:
        known = {source.dataset.name, *(link.name for link in source.symlinks)}
        mine = [scan.counts for scan in self.scans if scan.names & known]
        counts = _total(mine)
        return DatasetUse(
            dataset=source.dataset,
            position=source.position,
            certainty=source.certainty or Certainty.UNKNOWN,
            rows=counts.rows,
            bytes=counts.bytes,
            files=counts.files,
        )


def _lifecycle(output: PlanOutput) -> dict[str, str]:
    """OpenLineage's facet of a write that replaces what was there: the dataset's own is only that of the last one."""
    if output.lifecycle is None:
        return {}
    return {"lifecycleStateChange": json.dumps({"lifecycleStateChange": output.lifecycle.value})}


def join_outputs(uses: Iterable[DatasetUse]) -> tuple[DatasetUse, ...]:
    """Each dataset once, by name; what several writes put into it is added up."""
    totals: dict[object, DatasetUse] = {}
    for use in uses:
        earlier = totals.get(use.dataset)
        if earlier is None:
            totals[use.dataset] = use
            continue
        counts = _counts(earlier).plus(_counts(use))
        totals[use.dataset] = DatasetUse(dataset=use.dataset, rows=counts.rows, bytes=counts.bytes, files=counts.files)
    return tuple(sorted(totals.values(), key=lambda use: use.dataset))


def _counts(use: DatasetUse) -> Counts:
    return Counts(rows=use.rows, bytes=use.bytes, files=use.files)


def _total(counts: list[Counts]) -> Counts:
    if not counts:
        return Counts()
    total, *rest = counts
    for each in rest:
        total = total.plus(each)
    return total


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
