"""Start of a change in the graph, and its type."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities, notice
from headwater_analysis.impact.change import ChangeType, Extent, ImpactChange, SchemaChange
from headwater_analysis.impact.moves import ChangeStart
from headwater_analysis.reader import Transaction
from headwater_analysis.resolve import FoundNode, resolve_asset, resolve_column, resolve_dataset
from headwater_analysis.trace import Arrivals, Offsets, Part, Path, Times, trace_in
from headwater_analysis.trace.starts import Start
from headwater_analysis.trace.traced_parts import weakest
from headwater_graph.keys import column_key, dataset_key
from headwater_schemas.ranges import MOST_OFFSET

MOST_PARTS = 10
_MOST_STEPS = 2_000
_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class DataReach:
    """Datasets that a part of the data reached.

    Attributes:
        datasets: ids of datasets; None: any, because the part couldn't be followed to the end.
        parts: known parts of each dataset that are derived from the changed part, by key of the dataset; at most 10
            each.
        notes: remarks, as sentences.
    """

    datasets: frozenset[int] | None
    parts: dict[str, tuple[Part, ...]]
    notes: tuple[str, ...]


EVERYWHERE = DataReach(None, {}, ())
"""Reach of a change of all data: any dataset."""


def reach_of(tx: Transaction, dataset: Asset, extent: Extent, arrivals: Arrivals | None = None) -> DataReach:
    """Follow a part of a dataset's data downstream."""
    start = _start(dataset, extent)
    if start is None:
        kind = dataset.type or "dataset of unknown type"
        return DataReach(None, {}, (f"This part of a {kind} can't be followed, so the answer is for all data.",))
    traced = trace_in(tx, start, depth=None, limit=_MOST_STEPS, arrivals=arrivals)
    parts: dict[str, dict[Part, None]] = {}
    for hop in traced.hops:
        for part in hop.outputs:
            # If a step only possibly used the data, its output is only possibly derived from the data. So the weakest
            # certainty on the path counts, too.
            found = replace(part, certainty=weakest(hop.overall, part.certainty))
            parts.setdefault(part.dataset.key, {})[found] = None
    notes = list(traced.notes)
    if traced.truncated:
        notes.append(
            f"The part was followed for {_MOST_STEPS:,} steps and goes on, so everything derived from the dataset is "
            "listed."
        )
    elif not (traced.hops or notes):
        notes.append("No job is known to have read this part.")
    row = tx.row("impact/dataset_ids", keys=list(parts))
    within = None if traced.truncated else frozenset(row["ids"] if row is not None else ())
    return DataReach(within, {key: tuple(of)[:MOST_PARTS] for key, of in parts.items()}, tuple(notes))


def _start(dataset: Asset, extent: Extent) -> Start | None:
    """Start of a trace for the part; None if no trace can start there.

    Raises:
        QuestionError: offsets are given for a dataset that isn't a topic.
    """
    number = int(extent.partition) if extent.partition is not None and extent.partition.isdecimal() else None
    if (dataset.type or "").upper() == "TOPIC":
        if extent.since is not None or extent.until is not None:
            return Times(dataset.key, number, extent.since or _FIRST, extent.until or _LAST, read=extent.read_time)
        if number is not None:
            end = MOST_OFFSET if extent.end_offset is None else extent.end_offset
            return Offsets(dataset.key, number, extent.first_offset or 0, end)
        return None
    if extent.first_offset is not None and dataset.type is not None:
        raise QuestionError(f"{dataset.spelling} is a {dataset.type}: only topics have offsets.", field="extent")
    if (dataset.type or "").upper() == "FILE" and "=" in (extent.partition or "") and extent.since == extent.until:
        folder = dataset.name if dataset.namespace == "file" else dataset.spelling
        return Path(f"{folder}/{extent.partition}")
    return None


_WIDER = {
    "byte": {"short", "int", "long", "float", "double"},
    "short": {"int", "long", "float", "double"},
    "int": {"long", "double"},
    "long": set[str](),
    "float": {"double"},
    "date": {"timestamp", "timestamp_ntz"},
}
_SAME = {"tinyint": "byte", "smallint": "short", "integer": "int", "bigint": "long", "real": "float"}
_DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 19}
_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d+),\s*(\d+)\)")
_TEXT = re.compile(r"(var)?char\((\d+)\)")


def is_same(before: str, after: str | None) -> bool:
    """Return whether both texts spell the same type."""
    return after is not None and _plain(before) == _plain(after)


def widens(before: str | None, after: str | None) -> bool:
    """Return whether type `after` can hold every value of type `before`; False if unknown."""
    if before is None or after is None:
        return False
    old, new = (_plain(type_) for type_ in (before, after))
    if old == new or new in _WIDER.get(old, ()):
        return True
    if decimal := _DECIMAL.fullmatch(new):
        precision, scale = int(decimal[1]), int(decimal[2])
        if was := _DECIMAL.fullmatch(old):
            return int(was[1]) - int(was[2]) <= precision - scale and int(was[2]) <= scale
        return old in _DIGITS and _DIGITS[old] <= precision - scale
    if text := _TEXT.fullmatch(old):
        longer = _TEXT.fullmatch(new)
        return new == "string" or (text[1] == "var" and bool(longer and longer[1] and int(longer[2]) >= int(text[2])))
    return False


def _plain(type_: str) -> str:
    plain = " ".join(type_.lower().split())
    return _SAME.get(plain, plain)


@dataclass(frozen=True, slots=True)
class Beginning:
    """A change with its start in the graph.

    Attributes:
        changed: asset that sentences name: `asset`, or the column that is added.
        notes: remarks, as sentences.
        reach: datasets that the changed part of the data reached.
    """

    start: ChangeStart
    asset: Asset
    changed: Asset
    type: ChangeType
    notes: tuple[str, ...] = ()
    reach: DataReach = EVERYWHERE


def named(tx: Transaction, change: ImpactChange) -> ImpactChange:
    """Split `dataset` into dataset and column if it names a column: `orders#price`.

    Raises:
        NotFoundError, AmbiguousError: as `resolve_asset`.
    """
    if change.column is not None or "#" not in change.dataset:
        return change
    if change.schema is SchemaChange.ADDED:
        dataset, _, column = change.dataset.rpartition("#")
        return replace(change, dataset=dataset, column=column)
    found = resolve_asset(tx, change.dataset).asset
    if found.column is None:
        return change
    return replace(change, dataset=dataset_key(tx.tenant, found.namespace, found.name), column=found.column)


def begin(tx: Transaction, change: ImpactChange, arrivals: Arrivals | None = None) -> Beginning:
    """Find the start of a change.

    Raises:
        NotFoundError, AmbiguousError: as `resolve_dataset` and `resolve_column`.
        QuestionError: the column to be added exists already.
    """
    dataset = resolve_dataset(tx, change.dataset)
    beginning = _beginning(tx, change, dataset)
    beginning = replace(beginning, notes=(*beginning.notes, *notice(tx, dataset.asset)))
    if change.extent is None:
        return beginning
    reach = reach_of(tx, dataset.asset, change.extent, arrivals)
    start = replace(beginning.start, within=reach.datasets)
    return replace(beginning, start=start, notes=(*beginning.notes, *reach.notes), reach=reach)


def _beginning(tx: Transaction, change: ImpactChange, dataset: FoundNode) -> Beginning:
    columns = columns_of(tx, dataset)
    whole = ChangeStart((dataset.id,), (), dataset.id, dataset.asset.type)
    if change.schema is SchemaChange.ADDED and change.column is not None:
        if any(row["name"] == change.column and not row["gone"] for row in columns):
            raise QuestionError(f"{dataset.asset.spelling} has a column {change.column!r} already.", field="column")
        key = column_key(tx.tenant, dataset.asset.key, change.column)
        added = replace(dataset.asset, kind=AssetKind.COLUMN, key=key, column=change.column, type=change.new_type)
        return Beginning(whole, dataset.asset, added, change.type or ChangeType.SCHEMA_COMPATIBLE)
    if change.column is None:
        if change.type is ChangeType.PRIVACY_RECLASSIFICATION and columns:
            # Start at each column, so that the spread ends where values are masked.
            every = tuple(row["id"] for row in columns if not row["gone"])
            whole = replace(whole, nodes=every or whole.nodes)
        return Beginning(whole, dataset.asset, dataset.asset, change.type or ChangeType.SCHEMA_BREAKING)
    found = resolve_column(tx, dataset.asset.key, change.column)
    _check_differs(change, found.asset, {row["name"] for row in columns if not row["gone"]})
    path = str(found.asset.column)
    nested = tuple(row["id"] for row in columns if row["name"].startswith(f"{path}.") and not row["gone"])
    wholes = tuple(row["id"] for row in columns if path.startswith(f"{row['name']}.") and not row["gone"])
    start = ChangeStart((found.id, *nested), wholes, dataset.id, dataset.asset.type)
    gone = next(row["gone"] for row in columns if row["id"] == found.id)
    notes = ("The column is no longer in the dataset's schema; the answer shows jobs that used it.",) if gone else ()
    notes = (*notes, *Identities.of(tx).column_notes(found.asset))
    return Beginning(start, found.asset, found.asset, _type_of(change, found.asset.type), notes)


def columns_of(tx: Transaction, dataset: FoundNode) -> list[dict[str, Any]]:
    """`id` (of the shown node), `name` and `gone` of a dataset's columns under all its names, each column once."""
    identities = Identities.of(tx)
    rows = tx.rows("impact/start_columns", datasets=identities.members(dataset.asset.key))
    identities.learn(row["id"] for row in rows)
    found: dict[int, dict[str, Any]] = {}
    for row in rows:
        node = identities.shown_node(row["id"])
        known = found.setdefault(node, {"id": node, "name": row["name"], "gone": True})
        if row["id"] == node:
            known["name"] = row["name"]
        known["gone"] = known["gone"] and row["gone"]
    return list(found.values())


def _check_differs(change: ImpactChange, column: Asset, current: set[str]) -> None:
    if change.new_name is not None and change.new_name in current:
        raise QuestionError(f"{column.name} has a column {change.new_name!r} already.", field="new_name")
    if change.schema is SchemaChange.RETYPED and column.type and is_same(column.type, change.new_type):
        raise QuestionError(f"{column.spelling} is {column.type} already.", field="new_type")


def _type_of(change: ImpactChange, type_: str | None) -> ChangeType:
    """Given type of the change, else the type that follows from the schema change."""
    if change.type is not None:
        return change.type
    harmless = (change.schema is SchemaChange.RETYPED and widens(type_, change.new_type)) or (
        change.schema is SchemaChange.NULLABILITY and change.nullable is False
    )
    return ChangeType.SCHEMA_COMPATIBLE if harmless else ChangeType.SCHEMA_BREAKING
