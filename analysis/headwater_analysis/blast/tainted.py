"""Answers of blast radii."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_analysis.assets import Asset
from headwater_analysis.declared import ReadingConsumer
from headwater_analysis.quality import DatasetQuality
from headwater_analysis.trace.traced_parts import Hop, Part, Step
from headwater_schemas.events import Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """A tainted part that no longer exists.

    Attributes:
        part: the part.
        why: reason, as a sentence.
        by: step that replaced the part; None: not known, or no step did.
        at: time when the part was replaced, dropped or declared repaired; None: not known.
    """

    part: Part
    why: str
    by: Step | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tainted:
    """A dataset that bad data reached.

    Attributes:
        dataset: the dataset.
        depth: hops from the origin; 0: the origin itself wrote the dataset.
        parts: parts that are still tainted; the certainty of a part is the weakest one on the path to it.
        superseded: tainted parts that are gone.
        hops: numbers of the steps that wrote the dataset.
        certainty: strongest certainty of `parts`; without `parts`: of the superseded parts.
    """

    dataset: Asset
    depth: int
    parts: tuple[Part, ...]
    superseded: tuple[Superseded, ...]
    hops: tuple[int, ...]
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Counts of tainted data, and of the steps that it passed through.

    Attributes:
        datasets: number of datasets with a tainted part.
        clean_again: number of datasets whose tainted parts were all superseded.
        offsets: number of offsets in tainted ranges of topics: an upper bound of the number of tainted records.
        files: number of tainted files, listed or counted.
        versions: number of tainted versions of tables.
        unknown: number of datasets with an unknown tainted part.
        steps: number of steps: runs, and ranges of micro-batches.
    """

    datasets: int
    clean_again: int
    offsets: int
    files: int
    versions: int
    unknown: int
    steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Blast:
    """Answer: the blast radius.

    Attributes:
        start: bad parts that the question names; empty for a run or micro-batches.
        tainted: tainted datasets by depth, then by name.
        hops: steps that bad data passed through, breadth-first; the steps of the origin come first, at depth 0.
        totals: amounts that are still tainted.
        consumers: declared consumers to notify, the most critical first, then by notice and name: they read tainted
            datasets that aren't clean again.
        quality: results of the latest checks of the datasets in `tainted`.
        notes: further remarks, as sentences.
        truncated: whether the depth or the limit left out further steps.
    """

    start: tuple[Part, ...]
    tainted: tuple[Tainted, ...]
    hops: tuple[Hop, ...]
    totals: Totals
    consumers: tuple[ReadingConsumer, ...]
    quality: tuple[DatasetQuality, ...]
    notes: tuple[str, ...]
    truncated: bool
