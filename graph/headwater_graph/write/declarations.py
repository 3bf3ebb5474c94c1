"""Declaration sets: declarations that hold before and after a transaction, and the resulting changes.

Every writer of a set locks the set first. So the set's stored and current declarations don't change during the
transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater_graph.declarations import (
    ITEMS,
    MISSING,
    REVISED,
    DeclarationState,
    declaration_links,
    declaration_state,
    set_properties,
)
from headwater_graph.facts.declarations import Revision
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import Link
from headwater_graph.keys import SCOPE, feeds_identity
from headwater_graph.write.bolt import to_bolt
from headwater_graph.write.transaction import Index, WriteTransaction

_OF_A_REVISION = ("format", "source", "document")
_SUBJECTS = {"dataset": "datasets", "job": "jobs", "consumer": "consumers"}
_STATEMENTS = {
    RelType.READS: "declared_reads",
    RelType.WRITES: "declared_writes",
    RelType.FEEDS: "declared_feeds",
    RelType.CONSUMES: "declared_consumes",
}


@dataclass(slots=True)
class Changes:
    """Changes of declarations in one transaction.

    Attributes:
        created: keys of new declarations.
        begin, end: declarations that begin to hold, and declarations that no longer hold, by key.
        sets: properties to be set, by key of the declaration set.
    """

    created: list[str] = field(default_factory=list)
    begin: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    end: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    sets: dict[str, dict[str, Any]] = field(default_factory=dict)

    def subjects(self, kind: str) -> set[str]:
        """Return keys of the jobs or consumers whose relationships change; they have to be locked."""
        rows = (*self.begin.values(), *self.end.values())
        return {str(row["subject"]) for row in rows if row["subject_type"] == kind}


def lock_declarations(tx: WriteTransaction, delta: GraphDelta) -> Changes:
    """Lock the delta's sets and find the changes of their declarations."""
    changes = Changes()
    if not delta.declaration_sets:
        return changes
    rows = [dict(declared.identity) for _, declared in sorted(delta.declaration_sets.items())]
    stored = {found["key"]: found for found in tx.find_rows("declaration_sets", rows)}
    before, after = {}, {}
    wanted = set(delta.declarations)
    for key, declared in delta.declaration_sets.items():
        before[key] = DeclarationState(tuple(stored[key][ITEMS] or ()), tuple(stored[key][MISSING] or ()))
        revision = declared.revision
        if revision is not None and not _is_newer(revision, stored[key]):
            revision = None
        after[key] = revision
        if revision is not None:
            wanted |= set(revision.items).symmetric_difference(before[key].held)
    known = {found["key"]: found for found in tx.find_rows("declarations_there", sorted(wanted))}
    changes.created = sorted(delta.declarations.keys() - known.keys())
    known |= {key: declaration.properties for key, declaration in delta.declarations.items()}
    for key, revision in after.items():
        _revise(changes, key, before[key], revision, known)
    return changes


def _revise(
    changes: Changes,
    key: str,
    before: DeclarationState,
    revision: Revision | None,
    known_properties: Mapping[str, Mapping[str, Any]],
) -> None:
    known_keys: Collection[str] = known_properties.keys() | before.held
    now = declaration_state(before.items if revision is None else revision.items, known_keys)
    changes.begin |= {item: known_properties[item] for item in now.held - before.held}
    changes.end |= {item: known_properties[item] for item in before.held - now.held}
    if revision is not None:
        cleared = dict.fromkeys(_OF_A_REVISION)
        changes.sets[key] = to_bolt({**cleared, **set_properties(revision, now)})
    elif now.missing != before.missing:
        changes.sets[key] = {MISSING: list(now.missing) or None, "missing": len(now.missing) or None}


def _is_newer(revision: Revision, stored: Mapping[str, Any]) -> bool:
    return stored["revision"] is None or revision.rank > (stored["revision"], stored[REVISED])


def write_declarations(tx: WriteTransaction, delta: GraphDelta, changes: Changes) -> None:
    """Write new declarations, and the relationships of declarations that hold. All nodes that they name are locked."""
    _create(tx, delta, changes.created)
    tx.send_rows(
        "current_declarations",
        [{"key": key, "current": True} for key in sorted(changes.begin)]
        + [{"key": key, "current": None} for key in sorted(changes.end)],
    )
    tx.send_rows(
        "update_declaration_sets",
        [{"key": key, "properties": properties} for key, properties in sorted(changes.sets.items())],
    )
    rows: dict[Link, dict[str, Any]] = {}
    for name, declarations in (("gone", changes.end), ("new", changes.begin)):
        for key, properties in declarations.items():
            for link in declaration_links(properties):
                rows.setdefault(link, _row(link, properties))[name].append(key)
    by_type: dict[RelType, list[dict[str, Any]]] = defaultdict(list)
    for link in sorted(rows):
        by_type[link.type].append(rows[link])
    for type_, statement in _STATEMENTS.items():
        tx.send_rows(statement, by_type[type_])


def write_consumers(tx: WriteTransaction, delta: GraphDelta, more: Iterable[str]) -> None:
    """Write and lock the delta's consumers; lock also the consumers with the keys `more`."""
    rows = {key: dict(consumer.identity) for key, consumer in delta.consumers.items()}
    for key in more:
        rows.setdefault(key, {"key": key})
    tx.send_rows("consumers", [rows[key] for key in sorted(rows)])


def _create(tx: WriteTransaction, delta: GraphDelta, created: Iterable[str]) -> None:
    sets = Index()
    rows = []
    ends: dict[str, list[dict[str, Any]]] = {name: [] for name in (*_SUBJECTS.values(), "columns")}
    for key in created:
        declaration = delta.declarations[key]
        rows.append({"properties": dict(declaration.properties), "set": sets.at(declaration.set)})
        subjects = ends[_SUBJECTS[str(declaration.properties["subject_type"])]]
        subjects.append({"start": key, "end": declaration.subject})
        ends["columns"] += [
            {"start": key, "end": column, "properties": properties} for column, properties in declaration.columns
        ]
    if rows:
        tx.send("declarations", rows=rows, sets=sets.keys)
        tx.send("declares", **ends)


def _row(link: Link, properties: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {"start": link.start, "end": link.end, "new": [], "gone": []}
    if link.type is RelType.FEEDS:
        identity = feeds_identity(str(properties["tenant"]), str(properties["_job"]), str(properties[SCOPE]), link)
        row |= {"key": identity["key"], "properties": identity}
    return row
