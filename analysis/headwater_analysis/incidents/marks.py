"""Datasets of an answer that hold bad data of open incidents, by the latest recorded reach, else by the scope."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.identity import Identities
from headwater_analysis.incidents.answers import IncidentMark, IncidentMarks
from headwater_analysis.moments import moment
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.incidents import OPEN
from headwater_graph.keys import dataset_key
from headwater_schemas.events import Certainty, IncidentSeverity

MOST_MARKS: Final = 100
_UNSTATED: Final = "SEV9"


class MarkingReader(Reader):
    """Reader that also finds the datasets of each answer that hold bad data of open incidents.

    Attributes:
        incidents: marks of the last answer; None: the answer has none, or the asker isn't allowed to see the whole
            graph.
    """

    incidents: IncidentMarks | None = None

    def _answered(self, tx: Transaction, answer: object) -> None:
        self.incidents = marks_in(tx, answer) if tx.incidents and tx.visible is None else None


def marks_in(tx: Transaction, answer: Any) -> IncidentMarks | None:
    """Find the marks of all datasets that an answer names; None: there are none.

    An incident has one mark on a dataset: from its latest recorded reach, else from its scope.

    Args:
        answer: a dataclass, or tuples, lists and dictionaries of dataclasses.
    """
    if type(answer).__module__.startswith(__package__ or ""):
        return None  # the answer itself is about incidents
    shown = {
        asset.key if asset.kind is AssetKind.DATASET else dataset_key(tx.tenant, asset.namespace, asset.name): asset
        for asset in _assets(answer)
        if asset.kind is not AssetKind.JOB
    }
    if not shown:
        return None
    identities = Identities.of(tx)
    identities.look_at(sorted(shown))
    members = {member: key for key in sorted(shown) for member in identities.members(key)}
    rows = tx.rows("incidents/marks", datasets=sorted(members), states=[str(state) for state in OPEN])
    found: dict[tuple[str, str, str], IncidentMark] = {}
    for row in rows:
        key = members[row["dataset"]]
        is_recorded = row["type"] == "REACHED"
        mark = IncidentMark(
            key=key,
            dataset=_name(shown[key]),
            incident=row["incident"],
            title=row["title"],
            severity=None if row["severity"] is None else IncidentSeverity(row["severity"]),
            since=moment(row["since"]),
            certainty=Certainty(row["certainty"]) if is_recorded else Certainty.UNKNOWN,
            as_of=moment(row["as_of"]) if is_recorded else None,
        )
        found.setdefault((mark.severity or _UNSTATED, mark.dataset, mark.incident), mark)
    ordered = tuple(mark for _, mark in sorted(found.items()))
    return IncidentMarks(items=ordered[:MOST_MARKS], total=len(ordered)) if ordered else None


def _name(asset: Asset) -> str:
    return asset.spelling.removesuffix(f"#{asset.column}")


_PLAIN: Final = frozenset({str, int, bool, float, datetime, type(None)})
"""Types of fields that can't contain an asset."""


def _assets(value: Any) -> Iterator[Asset]:
    if type(value) in _PLAIN:
        return
    if isinstance(value, Asset):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _assets(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _assets(each)
    elif is_dataclass(value) and not isinstance(value, type):
        for name in _names(type(value)):
            yield from _assets(getattr(value, name))


@cache
def _names(kind: type[Any]) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))
