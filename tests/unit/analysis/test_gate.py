"""Incidents and bad parts that hold a dataset; whatever isn't known does."""

from __future__ import annotations

import pytest

from headwater_analysis.incidents.gate import counts, may_be_in
from headwater_analysis.trace import Part, PartKind
from headwater_schemas.events import Certainty, IncidentSeverity
from support.incidents import asset, offsets, some

SEV1, SEV2, SEV3 = IncidentSeverity.SEV1, IncidentSeverity.SEV2, IncidentSeverity.SEV3


@pytest.mark.parametrize(
    ("severity", "worst", "expected"),
    [
        (SEV1, SEV2, True),
        (SEV2, SEV2, True),
        (SEV3, SEV2, False),
        (SEV3, None, True),
        (None, SEV1, True),
        (IncidentSeverity.UNKNOWN, SEV1, True),
        (SEV3, IncidentSeverity.UNKNOWN, True),
    ],
)
def test_a_severity(severity: IncidentSeverity | None, worst: IncidentSeverity | None, expected: bool) -> None:
    assert counts(severity, worst) is expected


def files(*paths: str, count: int | None = None, partitions: tuple[str, ...] = ()) -> Part:
    return Part(
        dataset=asset("d"),
        kind=PartKind.FILES,
        certainty=Certainty.EXACT,
        files=paths,
        file_count=len(paths) if count is None else count,
        partitions=partitions,
    )


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (files("/d/day=1/hour=2/a"), True),
        (files("/d/day=2/a"), False),
        (files("/d/day=2/a", "/d/day=1/b"), True),
        (files("/d/hour=2/a"), True),
        (files("/d/day=2/a", count=9), True),
        (files("/d/day=2/a", count=9, partitions=("day=2",)), False),
        (files("/d/a"), True),
        (offsets("d"), True),
        (some("d"), True),
    ],
)
def test_a_part(part: Part, expected: bool) -> None:
    assert may_be_in(part, "day=1") is expected
    assert may_be_in(part, None)
