"""Answers of blast radii."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_consumers.analysis.assets import Asset
from headwater_consumers.analysis.declared import ReadingConsumer
from headwater_consumers.analysis.quality import DatasetQuality
from headwater_consumers.analysis.trace.answer import Hop, Part, Step
from headwater_schemas.events import Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded:
    """A tainted part that isn't there any more.

    Attributes:
        part: it.
        why: a sentence.
        by: what replaced it, where that is known.
        at: when.
    """

    part: Part
    why: str
    by: Step | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tainted:
    """A dataset that bad data came into.

    Attributes:
        dataset: which.
        depth: hops from the origin; 0: written by the origin itself.
        parts: what of it is tainted still; each part's certainty is the weakest on the way to it.
        superseded: what was, and is gone.
        hops: numbers of the steps that wrote it.
        certainty: the surest of its parts; of those superseded where none is left.
    """

    dataset: Asset
    depth: int
    parts: tuple[Part, ...]
    superseded: tuple[Superseded, ...]
    hops: tuple[int, ...]
    certainty: Certainty


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """How much is tainted still.

    Attributes:
        datasets: with some part that is.
        clean_again: datasets of which everything tainted was superseded.
        offsets: records of topics, at most (a range may hold others).
        files: listed or counted.
        versions: of tables.
        unknown: datasets of which it isn't known what part is tainted.
        steps: runs and ranges of micro-batches that it went through.
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
    """The blast radius.

    Attributes:
        start: the offsets that are bad; none where a run or micro-batches are.
        tainted: by depth, then by name.
        hops: the steps that it went through, breadth-first; the origin's own come first, at depth 0.
        totals: how much.
        consumers: declared consumers of the tainted datasets that aren't clean again, by name: whom to notify.
        quality: what the latest checks found of the tainted datasets that were checked.
        notes: what else is worth knowing.
        truncated: whether the limit of steps was reached: then there is more.
    """

    start: tuple[Part, ...]
    tainted: tuple[Tainted, ...]
    hops: tuple[Hop, ...]
    totals: Totals
    consumers: tuple[ReadingConsumer, ...]
    quality: tuple[DatasetQuality, ...]
    notes: tuple[str, ...]
    truncated: bool
