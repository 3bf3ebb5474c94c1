"""Reach of a part of the data: a change of that part alone hits no dataset that the part never reached."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from headwater_analysis.assets import Asset
from headwater_analysis.errors import QuestionError
from headwater_analysis.impact.change import Extent
from headwater_analysis.reader import Transaction
from headwater_analysis.trace import Arrivals, Offsets, Part, Path, Times, trace_in
from headwater_analysis.trace.starts import Start
from headwater_analysis.trace.traced_parts import weakest
from headwater_schemas.ranges import MOST_OFFSET

MOST_PARTS = 10
_MOST_STEPS = 2_000
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DataReach:
    """Datasets that a part of the data reached.

    Attributes:
        datasets: ids of datasets; None: any, because the part couldn't be followed to the end.
        parts: known parts of each dataset that come from it, by key of the dataset; at most 10 each.
        notes: remarks, as sentences.
    """

    datasets: frozenset[int] | None
    parts: dict[str, tuple[Part, ...]]
    notes: tuple[str, ...]


EVERYWHERE = DataReach(None, {}, ())
"""Reach of all data."""


def reach_of(tx: Transaction, dataset: Asset, extent: Extent, arrivals: Arrivals | None = None) -> DataReach:
    """Follow a part of a dataset's data downstream."""
    start = _start(dataset, extent)
    if start is None:
        kind = dataset.type or "dataset of unknown type"
        return DataReach(None, {}, (f"That part of a {kind} can't be followed: the answer is of all of its data.",))
    traced = trace_in(tx, start, depth=None, limit=_MOST_STEPS, arrivals=arrivals)
    parts: dict[str, dict[Part, None]] = {}
    for hop in traced.hops:
        for part in hop.outputs:
            # No surer than the path to it: a step that only possibly used the data only possibly wrote it.
            found = replace(part, certainty=weakest(hop.overall, part.certainty))
            parts.setdefault(part.dataset.key, {})[found] = None
    notes = list(traced.notes)
    if traced.truncated:
        notes.append(f"It was followed for {_MOST_STEPS:,} steps and goes on: what lies beyond is listed as a whole.")
    elif not (traced.hops or notes):
        notes.append("No job is known to have read that part.")
    row = tx.row("impact/dataset_ids", keys=list(parts))
    within = None if traced.truncated else frozenset(row["ids"] if row is not None else ())
    return DataReach(within, {key: tuple(of)[:MOST_PARTS] for key, of in parts.items()}, tuple(notes))


def _start(dataset: Asset, extent: Extent) -> Start | None:
    """Start of a trace for the part; None: a trace can't start there.

    Raises:
        QuestionError: offsets of a dataset that has none.
    """
    number = int(extent.partition) if extent.partition is not None and extent.partition.isdecimal() else None
    if (dataset.type or "").upper() == "TOPIC":
        if extent.since is not None or extent.until is not None:
            return Times(dataset.key, number, extent.since or _FIRST, extent.until or _LAST, read=extent.read_time)
        if number is not None:
            end = MOST_OFFSET if extent.end_offset is None else extent.end_offset
            return Offsets(dataset.key, number, extent.first_offset or 0, end)
        return None
    if extent.first_offset is not None and dataset.type is not None:
        raise QuestionError(f"{dataset.spelling} is a {dataset.type}: offsets are of topics.", field="extent")
    if (dataset.type or "").upper() == "FILE" and "=" in (extent.partition or "") and extent.since == extent.until:
        folder = dataset.name if dataset.namespace == "file" else dataset.spelling
        return Path(f"{folder}/{extent.partition}")
    return None
