"""Declarations in the graph, and owners: declared, or reported by events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from headwater_analysis.declared.declaration import Declaration, Declared, SetState
from headwater_analysis.declared.merge import merge, merged
from headwater_analysis.identity import Identities
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.keys import dataset_key, declaration_set_key, plan_key
from headwater_schemas.events import DatasetRef
from headwater_schemas.naming import spelling

_NAMED: Final = ("inputs", "outputs", "partition_inputs", "partition_outputs", "_consumes")
"""Properties with keys of datasets and columns; answers show names instead."""
_OF_A_MAPPING: Final = ("inputs", "input_fields", "outputs", "output_fields", "transforms")
_KEY: Final = 32
"""Length of a key, in characters."""
_NOT_STATED: Final = frozenset({"key", "name", "tenant", "set", "subject", "subject_type", "current", "columns"})


def set_state(reader: Reader, name: str) -> SetState:
    """Return the state of a set in the graph.

    Args:
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
    """Return the latest revision of a set (0 if there is none), and the number of given declarations in the graph.

    Args:
        name: id of the set.
        keys: keys of the declarations.
    """
    subject = declaration_set_key(reader.tenant, name)
    row = reader.read(lambda tx: tx.one("declared/progress", subject=subject, keys=list(keys)))
    return row["revision"], row["there"]


def declarations(reader: Reader, keys: Iterable[str]) -> list[Declaration]:
    """Declarations in the graph with these keys, in order of key."""
    keys = list(keys)
    if not keys:
        return []
    return reader.read(lambda tx: _read(tx, "declared/declarations", keys))


def existing_declarations(reader: Reader, keys: Iterable[str]) -> frozenset[str]:
    """Keys of the declarations that the graph has."""
    asked = sorted(keys)
    return frozenset(reader.read(lambda tx: tx.one("declared/there", keys=asked)["there"]))


def holding_elsewhere(reader: Reader, subjects: Iterable[str], name: str) -> list[Declaration]:
    """Return other sets' current declarations of the same datasets, jobs and consumers.

    Args:
        subjects: keys of the declared datasets, jobs and consumers.
        name: id of the set that is left out.
    """
    asked = sorted(subjects)
    return reader.read(lambda tx: _read(tx, "declared/holding_elsewhere", asked, shown=True, set=name))


def feeds_elsewhere(tx: Transaction, name: str) -> set[tuple[str, str]]:
    """Pairs of input and output dataset, by key, of the jobs that sets other than `name` declare."""
    return {(pair[:_KEY], pair[_KEY:]) for pair in tx.one("declared/feeds_elsewhere", set=name)["pairs"]}


def edge_text(output: str, source: str, kind: str | None, expression: str | None, *, masking: bool) -> str:
    """Format an edge of declared column lineage: `n/report#total ← n/orders#price (AGGREGATE: sum(price))`."""
    how = ", masked" if masking else ""
    return f"{output} ← {source} ({kind or 'DERIVE'}{how}{'' if expression is None else f': {expression}'})"


def declared_edges(reader: Reader, plans: Iterable[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """Edges of declared jobs' plans, formatted by `edge_text`, by key of the job and digest of the plan."""
    keys = {plan_key(reader.tenant, job, digest): (job, digest) for job, digest in plans}
    out: dict[tuple[str, str], set[str]] = {plan: set() for plan in keys.values()}
    rows = reader.read(lambda tx: tx.rows("declared/edges", plans=sorted(keys))) if keys else ()
    for row in rows:
        into, source = spelling(row["namespace"], row["name"]), spelling(row["source_namespace"], row["source_name"])
        text = edge_text(
            with_column(into, row["column"]),
            with_column(source, row["source_column"]),
            row["kind"],
            row["expression"],
            masking=bool(row["masking"]),
        )
        out[keys[row["plan"]]].add(text)
    return out


def with_column(dataset: str, column: str | None) -> str:
    """Name of a dataset, or of a column in it: `n/orders#price`."""
    return dataset if column is None else f"{dataset}#{column}"


def dataset_names(tx: Transaction, keys: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Namespace and name of datasets, by key."""
    found = tx.one("declared/names", keys=sorted(keys))["names"]
    return {key: (namespace, name) for key, namespace, name, column in found if column is None}


def declared(tx: Transaction, subjects: Iterable[str]) -> dict[str, Declared]:
    """Merged declarations of datasets, jobs and consumers, by key; subjects without declarations are left out."""
    return merged(_read(tx, "declared/holding", subjects, shown=True))


def declared_together(tx: Transaction, names: Iterable[str]) -> Declared | None:
    """Merged declarations of one dataset, job or consumer, given the keys of all its names; None if there are none."""
    found = merge(_read(tx, "declared/holding", names, shown=True))
    return found if found.sets else None


def declared_of_datasets(tx: Transaction, keys: Iterable[str]) -> dict[str, Declared]:
    """Merged declarations of datasets under all their names, by the given key; without declarations: no entry."""
    if not tx.declarations:
        return {}
    identities, asked = Identities.of(tx), list(keys)
    identities.look_at(asked)
    names = {key: identities.members(key) for key in asked}
    found: dict[str, list[Declaration]] = {}
    for one in _read(tx, "declared/holding", {name for each in names.values() for name in each}, shown=True):
        found.setdefault(one.subject, []).append(one)
    together = {key: [one for name in each for one in found.get(name, ())] for key, each in names.items()}
    return {key: merge(each) for key, each in together.items() if each}


def unknown_datasets(reader: Reader, datasets: Iterable[DatasetRef]) -> list[DatasetRef]:
    """Datasets that the graph doesn't have."""
    rows = [
        [dataset_key(reader.tenant, dataset.namespace, dataset.name), dataset.namespace, dataset.name]
        for dataset in sorted(set(datasets))
    ]
    found = reader.read(lambda tx: tx.rows("declared/unknown", datasets=rows))
    return [DatasetRef(row["namespace"], row["name"]) for row in found]


def _read(
    tx: Transaction, statement: str, keys: Iterable[str], *, shown: bool = False, **more: Any
) -> list[Declaration]:
    """Read declarations. With `shown`, datasets have their shown names, so that declarations can be compared."""
    rows: Sequence[Mapping[str, Any]] = tx.rows(statement, keys=sorted(keys), **more)
    named = {key for row in rows for name in _NAMED for key in row["declaration"].get(name) or ()}
    found = tx.one("declared/names", keys=sorted(named))["names"] if named else ()
    names = {key: (spelling(namespace, name), column) for key, namespace, name, column in found}
    if tx.visible is not None:
        rows = [{**row, "declaration": _without_hidden(row["declaration"], names)} for row in rows]
    if shown and tx.several_names:
        identities = Identities.of(tx)
        datasets = {key: dataset_key(tx.tenant, namespace, name) for key, namespace, name, _ in found}
        identities.look_at(datasets.values())
        for key, dataset in datasets.items():
            if (other := identities.named(identities.shown(dataset))) is not None:
                names[key] = (other.asset.spelling, names[key][1])
    return sorted((_declaration(row, names) for row in rows), key=lambda one: one.key)


def _without_hidden(stored: Mapping[str, Any], names: Mapping[str, object]) -> dict[str, Any]:
    """Properties of a declaration without datasets and columns that are hidden from the asker: `names` lacks these."""
    out = dict(stored)
    for name in ("inputs", "outputs", "_consumes"):
        if out.get(name) is not None:
            out[name] = [key for key in out[name] if key in names]
    lists = [f"partition_{name}" for name in _OF_A_MAPPING]
    if any(out.get(name) for name in lists):
        mappings = [
            each for each in zip(*(out[name] for name in lists), strict=True) if {each[0], each[2]} <= names.keys()
        ]
        out |= {name: [each[index] for each in mappings] for index, name in enumerate(lists)}
    return out


def _declaration(row: Any, names: Mapping[str, tuple[str, str | None]]) -> Declaration:
    stored: dict[str, Any] = row["declaration"]
    namespace, name = row["subject"]
    return Declaration(
        stored["key"],
        stored["set"],
        stored["subject"],
        stored["subject_type"],
        namespace,
        name,
        stated(stored, names),
        {path: stated(values) for path, values in sorted(row["columns"])},
    )


def stated(properties: Any, names: Mapping[str, tuple[str, str | None]] | None = None) -> dict[str, Any]:
    """Values that a declaration states, from the properties of its node or relationship.

    Args:
        names: names of datasets, and of columns with their dataset, by the keys in the properties.
    """
    out = {
        name: value
        for name, value in sorted(properties.items())
        if name not in _NOT_STATED and not name.startswith("_") and value is not None
    }
    if names is None:
        return out

    def spelled(key: str, column: str | None = None) -> str:
        dataset, own_column = names.get(key, (key, None))
        return with_column(dataset, column or own_column)

    for name in ("inputs", "outputs"):
        if name in out:
            out[name] = sorted({spelled(key) for key in out[name]})
    if (consumed := properties.get("_consumes")) is not None:
        with_columns = {names[key][0] for key in consumed if key in names and names[key][1] is not None}
        whole = {key for key in consumed if key in names and names[key] in {(name, None) for name in with_columns}}
        out["reads"] = sorted({spelled(key) for key in consumed if key not in whole})
    mappings = [out.pop(f"partition_{name}", ()) for name in _OF_A_MAPPING]
    if any(mappings):
        out["partitions"] = sorted(
            {
                f"{spelled(input_, field)} → {spelled(output, made)} ({transform})"
                for input_, field, output, made, transform in zip(*mappings, strict=True)
            }
        )
    return dict(sorted(out.items()))


def owners_by_key(tx: Transaction, nodes: Sequence[Mapping[str, Any]]) -> dict[str, tuple[OwnerName, ...]]:
    """Owners by key: declared owners, else owners that events report; for a dataset, under any of its names.

    Args:
        nodes: properties of Datasets, Jobs and Consumers: `key`, `owners`, `owner_types`.
    """
    identities = Identities.of(tx)
    own = {str(node["key"]): node for node in nodes}
    identities.look_at(own)
    names = {key: identities.members(key) for key in own}
    asked = {name for each in names.values() for name in each}
    stated = merged(_read(tx, "declared/owned", asked)) if asked and tx.declarations else {}
    reported = {key: owners_of(node) for key, node in own.items()}
    others = sorted(asked - own.keys())
    reported |= {row["key"]: owners_of(row) for row in (tx.rows("declared/owners", keys=others) if others else ())}
    out = {}
    for key, each in names.items():
        declared_ones = [owner for name in each if name in stated for owner in owners_of(stated[name].values)]
        out[key] = tuple(dict.fromkeys(declared_ones or [owner for name in each for owner in reported.get(name, ())]))
    return out
