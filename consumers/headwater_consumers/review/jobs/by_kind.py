"""How bad a difference is for somebody who reads the column, or the dataset: where nobody knows who does."""

from __future__ import annotations

from headwater_consumers.analysis.impact import Severity
from headwater_consumers.review.compare import Difference, DifferenceKind, Retyping

_BREAKING = (DifferenceKind.OUTPUT_REMOVED, DifferenceKind.REMOVED, DifferenceKind.RENAMED, DifferenceKind.POSITION)
_DEGRADED = (
    DifferenceKind.ROWS,
    DifferenceKind.MEANING,
    DifferenceKind.UNIT,
    DifferenceKind.ENUM,
    DifferenceKind.PARTITIONING,
    DifferenceKind.WRITE_MODE,
)
_COSMETIC = (DifferenceKind.ADDED, DifferenceKind.DESCRIPTION)


def severity_of(difference: Difference) -> Severity:
    """As if somebody read what differs."""
    kind = difference.kind
    if kind in _BREAKING:
        return Severity.BREAKING
    if kind is DifferenceKind.RETYPED:
        return {
            Retyping.WIDER: Severity.COSMETIC,
            Retyping.NARROWER: Severity.DEGRADED,
        }.get(difference.retyping or Retyping.OTHER, Severity.BREAKING)
    if kind is DifferenceKind.NULLABILITY:
        return Severity.DEGRADED if difference.after == "nullable" else Severity.COSMETIC
    if kind in _DEGRADED:
        return Severity.DEGRADED
    return Severity.COSMETIC if kind in _COSMETIC else Severity.NONE
