"""Figures of incidents by severity: open incidents by age, and times until incidents were acknowledged and resolved."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from headwater_analysis.errors import QuestionError
from headwater_analysis.moments import moment
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.incidents import OPEN, IncidentStatus
from headwater_schemas.events import IncidentSeverity

PERIOD: Final = timedelta(days=90)
"""Default length of the period whose openings, acknowledgements and resolutions count."""
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenByAge:
    """Number of open incidents by the time since their first opening.

    Attributes:
        under_a_day: opened less than 24 hours ago.
        under_a_week: opened at least 24 hours, and less than 7 days, ago.
        older: opened at least 7 days ago.
    """

    under_a_day: int
    under_a_week: int
    older: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeTaken:
    """Seconds from the first opening of incidents to another action.

    Attributes:
        incidents: number of incidents with this action in the period.
        median_seconds: median, interpolated; None: no incident had the action.
        longest_seconds: maximum; None: no incident had the action.
    """

    incidents: int
    median_seconds: float | None
    longest_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeverityFigures:
    """Figures of incidents of one severity.

    Attributes:
        severity: the severity; None: not stated.
        open: number of open incidents by age.
        new: number of open incidents with the status New.
        oldest_opened_at: opening of the oldest open incident; None: none is open.
        opened: number of incidents that were opened in the period.
        to_acknowledge: times until incidents were first acknowledged, for acknowledgements in the period.
        to_resolve: times until incidents were resolved, for resolutions in the period; without incidents that were
            merged or superseded.
    """

    severity: IncidentSeverity | None
    open: OpenByAge
    new: int
    oldest_opened_at: datetime | None
    opened: int
    to_acknowledge: TimeTaken
    to_resolve: TimeTaken


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentFigures:
    """Figures of all incidents.

    Attributes:
        as_of: time of the answer.
        since: start of the period, which ends at `as_of`.
        severities: figures of each severity that any counted incident has, the worst first, then of incidents without a
            severity.
    """

    as_of: datetime
    since: datetime
    severities: tuple[SeverityFigures, ...]


def incident_figures(reader: Reader, *, period: timedelta = PERIOD, now: datetime | None = None) -> IncidentFigures:
    """Compute figures of open incidents, and of incidents that were opened, acknowledged or resolved in a period.

    Args:
        period: length of the period until now.
        now: time of the answer; None: by the clock.

    Raises:
        QuestionError: the period isn't positive.
    """
    if period <= timedelta(0):
        raise QuestionError("The period must be longer than 0 s.", field="period")
    until = datetime.now(UTC) if now is None else now

    def question(tx: Transaction) -> IncidentFigures:
        states = [str(state) for state in OPEN]
        since = until - period
        rows = tx.rows("incidents/figures", states=states, since=since)
        by_severity: dict[IncidentSeverity | None, list[Mapping[str, Any]]] = {}
        for row in rows:
            stated = row["severity"]
            by_severity.setdefault(None if stated is None else IncidentSeverity(stated), []).append(row)
        return IncidentFigures(
            as_of=until,
            since=since,
            severities=tuple(
                _of_severity(severity, by_severity[severity], since, until)
                for severity in (*IncidentSeverity, None)
                if severity in by_severity
            ),
        )

    return reader.read(question)


def _of_severity(
    severity: IncidentSeverity | None, rows: Iterable[Mapping[str, Any]], since: datetime, until: datetime
) -> SeverityFigures:
    rows = list(rows)
    open_ = [row for row in rows if row["state"] in OPEN]
    begun = [at for row in open_ if (at := moment(row["opened_at"])) is not None]  # every open incident has it
    young = sum(1 for at in begun if until - at < _DAY)
    middle = sum(1 for at in begun if _DAY <= until - at < _WEEK)
    return SeverityFigures(
        severity=severity,
        open=OpenByAge(under_a_day=young, under_a_week=middle, older=len(begun) - young - middle),
        new=sum(1 for row in open_ if row["state"] == IncidentStatus.NEW),
        oldest_opened_at=min(begun, default=None),
        opened=sum(1 for row in rows if (at := moment(row["opened_at"])) is not None and since <= at),
        to_acknowledge=_taken(rows, "acknowledged_at", since),
        to_resolve=_taken([row for row in rows if row["resolution"] is not None], "resolved_at", since),
    )


def _taken(rows: Iterable[Mapping[str, Any]], field: str, since: datetime) -> TimeTaken:
    seconds = [
        max((at - begun).total_seconds(), 0.0)
        for row in rows
        if (begun := moment(row["opened_at"])) is not None and (at := moment(row[field])) is not None and at >= since
    ]
    return TimeTaken(
        incidents=len(seconds),
        median_seconds=statistics.median(seconds) if seconds else None,
        longest_seconds=max(seconds, default=None),
    )
