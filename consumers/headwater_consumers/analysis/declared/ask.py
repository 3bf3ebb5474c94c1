"""Questions about declarations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from headwater_consumers.analysis.declared.answer import Declaration, Declared, SetState
from headwater_consumers.analysis.declared.merge import merge, merged
from headwater_consumers.analysis.reader import Reader, Transaction
from headwater_consumers.graph.keys import dataset_key, declaration_set_key
from headwater_schemas.events import DatasetRef

_NOT_STATED: Final = frozenset({"key", "name", "tenant", "set", "subject", "subject_type", "current", "columns"})


def set_state(reader: Reader, name: str) -> SetState:
    """What is in the graph of a set.

    Args:
        reader: of the graph.
        name: id of the set.
    """
    row = reader.read(lambda tx: tx.row("declared/set", subject=declaration_set_key(reader.tenant, name)))
    if row is None or row["revision"] is None:
        return SetState()
    return SetState(
        row["revision"],
        frozenset(row["items"] or ()),
        frozenset(row["missing"] or ()),
        row["format"],
        row["source"],
        row["document"],
    )


def set_progress(reader: Reader, name: str, keys: Sequence[str]) -> tuple[int, int]:
    """The latest revision of a set, 0 where there is none, and how many of some declarations are there.

    Args:
        reader: of the graph.
        name: id of the set.
        keys: of the declarations.
    """
    subject = declaration_set_key(reader.tenant, name)
    row = reader.read(lambda tx: tx.one("declared/progress", subject=subject, keys=list(keys)))
    return row["revision"], row["there"]


def declarations(reader: Reader, keys: Iterable[str]) -> list[Declaration]:
    """Declarations by key, those that are there, in order of key."""
    keys = list(keys)
    if not keys:
        return []
    return reader.read(lambda tx: _read(tx, "declared/declarations", keys))


def there(reader: Reader, keys: Iterable[str]) -> frozenset[str]:
    """Those of the declarations, by key, that are there."""
    asked = sorted(keys)
    return frozenset(reader.read(lambda tx: tx.one("declared/there", keys=asked)["there"]))


def holding_elsewhere(reader: Reader, subjects: Iterable[str], name: str) -> list[Declaration]:
    """The declarations of other sets that hold of datasets, jobs and consumers, by key of these.

    Args:
        reader: of the graph.
        subjects: keys of what is declared.
        name: id of the set that is left out.
    """
    asked = sorted(subjects)
    rows = reader.read(lambda tx: tx.rows("declared/holding_elsewhere", keys=asked, set=name))
    return sorted((_declaration(row) for row in rows), key=lambda one: one.key)


def declared(tx: Transaction, subjects: Iterable[str]) -> dict[str, Declared]:
    """What is declared of datasets, jobs and consumers, by key; those of which nothing is are left out."""
    return merged(_read(tx, "declared/holding", subjects))


def declared_together(tx: Transaction, names: Iterable[str]) -> Declared | None:
    """What is declared of one dataset, job or consumer under any of its names, by key; None where nothing is."""
    found = merge(_read(tx, "declared/holding", names))
    return found if found.sets else None


def unknown_datasets(reader: Reader, datasets: Iterable[DatasetRef]) -> list[DatasetRef]:
    """Those of the datasets that the graph doesn't have."""
    rows = [
        [dataset_key(reader.tenant, dataset.namespace, dataset.name), dataset.namespace, dataset.name]
        for dataset in sorted(set(datasets))
    ]
    found = reader.read(lambda tx: tx.rows("declared/unknown", datasets=rows))
    return [DatasetRef(row["namespace"], row["name"]) for row in found]


def _read(tx: Transaction, statement: str, keys: Iterable[str]) -> list[Declaration]:
    rows = [_declaration(row) for row in tx.rows(statement, keys=sorted(keys))]
    return sorted(rows, key=lambda one: one.key)


def _declaration(row: Any) -> Declaration:
    stored: dict[str, Any] = row["declaration"]
    namespace, name = row["subject"]
    return Declaration(
        stored["key"],
        stored["set"],
        stored["subject"],
        stored["subject_type"],
        namespace,
        name,
        stated(stored),
        {path: stated(values) for path, values in sorted(row["columns"])},
    )


def stated(properties: Any) -> dict[str, Any]:
    """What a declaration states, of all properties of its node or relationship."""
    return {
        name: value
        for name, value in sorted(properties.items())
        if name not in _NOT_STATED and not name.startswith("_") and value is not None
    }
