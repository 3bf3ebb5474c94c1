"""The question of a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater_consumers.review.compare import Difference
from headwater_consumers.review.schema import Schema


@dataclass(frozen=True, slots=True)
class Question:
    """What is reviewed.

    Attributes:
        dataset: as `resolve_dataset` understands.
        new: its schema to be.
        old: its schema as it is; None: the one in the graph.
        renames: old path to new path of columns that are renamed.
        at: path of the column that the schemas are of; None: a topic's `value`, and of any other dataset all of it.
        differences: those of a job's two versions, which are reviewed instead of those of the schemas; None: there is
            no job.
    """

    dataset: str
    new: Schema
    old: Schema | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    at: str | None = None
    differences: tuple[Difference, ...] | None = None
