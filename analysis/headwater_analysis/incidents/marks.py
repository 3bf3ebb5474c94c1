"""Datasets that open incidents reached, by their latest records, and those in which bad data began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from headwater_analysis.identity import Identities
from headwater_analysis.incidents.answers import IncidentMark
from headwater_analysis.incidents.questions import OPEN
from headwater_analysis.moments import moment
from headwater_analysis.reader import Transaction
from headwater_schemas.events import Certainty


def marks_of(tx: Transaction, keys: Iterable[str]) -> dict[str, tuple[IncidentMark, ...]]:
    """Find the open incidents of datasets, by key of the shown dataset, in order of their ids.

    A dataset without one has no entry. One incident has one mark on a dataset: what was recorded last, else the scope.
    """
    identities, asked = Identities.of(tx), sorted(set(keys))
    identities.look_at(asked)
    members = {member: key for key in asked for member in identities.members(key)}
    rows = (
        tx.rows("incidents/marks", datasets=sorted(members), states=[str(state) for state in OPEN]) if members else []
    )
    found: dict[str, dict[str, IncidentMark]] = defaultdict(dict)
    for row in rows:
        is_recorded = row["type"] == "REACHED"
        mark = IncidentMark(
            incident=row["incident"],
            title=row["title"],
            severity=row["severity"],
            since=moment(row["since"]),
            certainty=Certainty(row["certainty"]) if is_recorded else Certainty.UNKNOWN,
            as_of=moment(row["as_of"]) if is_recorded else None,
        )
        found[members[row["dataset"]]].setdefault(row["incident"], mark)
    return {key: tuple(mark for _, mark in sorted(marks.items())) for key, marks in found.items()}
