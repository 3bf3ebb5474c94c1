"""Answer of a review of a job's two versions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from headwater_analysis.impact import Severity
from headwater_review.answer import Review
from headwater_review.jobs.version import JobProblem


class JobVerdict(StrEnum):
    """Worst severity of the differences, or UNKNOWN where not all of them are known."""

    BREAKING = "BREAKING"
    DEGRADED = "DEGRADED"
    COSMETIC = "COSMETIC"
    NONE = "NONE"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class JobReview:
    """Answer of a review of a job's two versions.

    Attributes:
        old, new: scripts of the versions.
        verdict: the worst of all differences; UNKNOWN if one of the versions isn't known in full.
        severity: the worst of the known differences.
        outputs: each dataset that either version writes, with all its differences.
        problems: reasons why the review is incomplete.
        notes: sentences on what the verdict rests on.
    """

    old: str
    new: str
    verdict: JobVerdict
    severity: Severity
    outputs: tuple[Review, ...]
    problems: tuple[JobProblem, ...]
    notes: tuple[str, ...]
