"""Datasets of the graph → ODCS data contracts.

A dataset that was declared by a data contract returns that contract, byte for byte. For any other dataset, the contract
is built from all sets that declare the dataset and from its observed schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, Final

from headwater_analysis.assets import Asset
from headwater_analysis.declared import Declared, declared_together, set_state
from headwater_analysis.declared.merge import MARKS
from headwater_analysis.declaring.contract import ObservedType, contract_of
from headwater_analysis.declaring.odcs import FORMAT
from headwater_analysis.declaring.sets import DeclaredSet, by_digest
from headwater_analysis.identity import Identities
from headwater_analysis.known.dataset import KnownColumn, known_column
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_schemas.events import (
    Approval,
    DatasetMark,
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    MarkSpread,
    Owner,
    Sensitivity,
    Tag,
)

_MOST_COLUMNS: Final = 100_000
_SAME: Final = (
    *("description", "classification", "criticality", "certified", "freshness_seconds", "deadline", "notice_days"),
    *("on_call", "contact", "url", "keep_days", "reference"),
)
"""Properties of a declaration that are fields of the file with the same name and value."""


@dataclass(frozen=True, slots=True)
class DatasetContract:
    """A data contract for one or several datasets.

    Attributes:
        set: declaration set that the contract was declared as; None: the contract was built.
        datasets: requested datasets that the contract covers, as answers spell them.
        other_sets: ids of other sets that declare these datasets, too, and aren't part of the contract.
        contradictions: number of properties in which the sets contradict each other; the contract has the first value.
        document: the contract, as YAML.
    """

    set: str | None
    datasets: tuple[str, ...]
    other_sets: tuple[str, ...]
    contradictions: int
    document: str


@dataclass(frozen=True, slots=True)
class _Found:
    asset: Asset
    declared: Declared
    columns: tuple[KnownColumn, ...]
    description: str | None


def contracts_of(
    reader: Reader, names: Sequence[str], *, contract_id: str | None = None, made: bool = False
) -> list[DatasetContract]:
    """Contracts of datasets: declared contracts, and a built contract for each dataset without a declared one.

    Args:
        names: names of the datasets, in any spelling.
        contract_id: id of one contract for all datasets; None: one contract for each dataset, with the dataset's name
            as id.
        made: whether to build contracts even for datasets with a declared contract.

    Raises:
        NotFoundError: no dataset has this name; with the nearest.
        AmbiguousError: several datasets have this name.
    """
    found = {each.asset.key: each for each in (reader.read(partial(_found, name=name)) for name in names)}
    documents: dict[str, str] = {}
    if not made and contract_id is None:
        for name in sorted({each for one in found.values() for each in one.declared.sets}):
            state = set_state(reader, name)
            if state.format == FORMAT and state.document is not None:
                documents[name] = state.document
    out = []
    for name, document in documents.items():
        covered = [each for each in found.values() if name in each.declared.sets]
        others = {each for one in covered for each in one.declared.sets} - {name}
        spelled = tuple(each.asset.spelling for each in covered)
        out.append(DatasetContract(name, spelled, tuple(sorted(others)), 0, document))
    left = [each for each in found.values() if documents.keys().isdisjoint(each.declared.sets)]
    together = [left] if contract_id is not None else [[each] for each in left]
    return [*out, *(_made(each, contract_id or each[0].asset.spelling) for each in together)]


def _found(tx: Transaction, name: str) -> _Found:
    asset = resolve_dataset(tx, name).asset
    keys = Identities.of(tx).members(asset.key)
    own = tx.one("known/dataset", key=asset.key, keys=keys)["properties"]
    rows = tx.rows("known/columns", keys=keys, most=_MOST_COLUMNS)
    columns = (known_column(row["column"], row["link"], ()) for row in rows)
    return _Found(
        asset,
        declared_together(tx, keys) or Declared(),
        tuple(column for column in columns if column.current),
        own.get("description") or None,
    )


def _made(found: Sequence[_Found], name: str) -> DatasetContract:
    bodies, observed = [], {}
    for one in found:
        dataset = DatasetRef(one.asset.namespace or "", one.asset.name)
        bodies.append(_body(name, dataset, one))
        observed[dataset] = {column.name: ObservedType(column.type, column.nullable) for column in one.columns}
    return DatasetContract(
        None,
        tuple(one.asset.spelling for one in found),
        (),
        sum(len(one.declared.contradictions) for one in found),
        contract_of(DeclaredSet(name, by_digest(bodies)), observed),
    )


def _body(name: str, dataset: DatasetRef, found: _Found) -> DeclarationEvent:
    """Merge all sets' declarations of a dataset into one, with all columns of its schema, in their order.

    If no set has a description, the description is the one that events report.
    """
    values, columns = found.declared.values, found.declared.columns
    described = {column.name: column.description for column in found.columns}
    paths = dict.fromkeys([*(column.name for column in found.columns), *columns])
    marks = zip_longest(*(values.get(each) or () for each in MARKS))
    owners = zip_longest(values.get("owners") or (), values.get("owner_types") or ())
    fields = {each: values.get(each) for each in _SAME}
    fields["description"] = values.get("description") or found.description
    return DeclarationEvent(
        set=name,
        dataset=dataset,
        **fields,
        owners=tuple(Owner(owner, type_ or None) for owner, type_ in owners) or None,
        sensitivity=_sensitivity(values.get("sensitivity")),
        tags=_tags(values),
        glossary=_glossary(values),
        marks=tuple(
            DatasetMark(
                mark=mark,
                version=version or None,
                spread=MarkSpread(spread) if spread else None,
                reason=reason or None,
            )
            for mark, version, spread, reason in marks
        )
        or None,
        columns=tuple(_column(path, {"description": described.get(path)} | columns.get(path, {})) for path in paths)
        or None,
    )


def _column(path: str, values: Mapping[str, Any]) -> DeclaredColumn:
    approval = None
    if "approval_by" in values:
        approval = Approval(
            covers=_sensitivity(values.get("approval_covers")) or Sensitivity.UNKNOWN,
            sensitivity=_sensitivity(values.get("approval_sensitivity")) or Sensitivity.UNKNOWN,
            by=values["approval_by"],
            reason=values.get("approval_reason") or "",
            until=values.get("approval_until"),
        )
    return DeclaredColumn(
        path=path,
        description=values.get("description"),
        classification=values.get("classification"),
        sensitivity=_sensitivity(values.get("sensitivity")),
        tags=_tags(values),
        glossary=_glossary(values),
        approval=approval,
        smallest_group=values.get("smallest_group"),
        type=values.get("type"),
    )


def _sensitivity(value: str | None) -> Sensitivity | None:
    return None if value is None else Sensitivity(value)


def _tags(values: Mapping[str, Any]) -> tuple[Tag, ...] | None:
    pairs = zip_longest(values.get("tags") or (), values.get("tag_values") or ())
    return tuple(Tag(key=key, value=value or None) for key, value in pairs) or None


def _glossary(values: Mapping[str, Any]) -> tuple[str, ...] | None:
    return tuple(values.get("glossary") or ()) or None
