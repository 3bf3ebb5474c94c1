"""Question of a review."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater_review.compare import Difference
from headwater_review.schema import Schema


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a review.

    Attributes:
        dataset: name, as `resolve_dataset` understands it.
        new: schema to be.
        old: schema as it is; None: the one in the graph.
        renames: old path to new path of columns that are renamed.
        at: path of the column that the schemas describe; None: a topic's `value`, and for any other dataset all of it.
        differences: differences of a job's two versions, which are reviewed instead of the schemas'; None: there is no
            job.
    """

    dataset: str
    new: Schema
    old: Schema | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    at: str | None = None
    differences: tuple[Difference, ...] | None = None
