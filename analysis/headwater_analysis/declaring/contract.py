"""A declaration set → an ODCS 3.1 data contract, without loss; observed types where none are declared.

Descriptions, tags, definitions, team, support, service levels, and columns with classification and tags go to the
standard's own fields. The contract is then read back like any other contract. Each value that this reading misses or
reads differently is added as a custom property `headwater.<field>`, which takes precedence in reading. Jobs and
consumers are one custom property of the contract.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
import yaml

from headwater_analysis.declaring.odcs import DECLARATIONS, NAME, NAMESPACE, NOT_DECLARED, PREFIX, read_contract
from headwater_analysis.declaring.sets import DeclaredSet
from headwater_schemas.events import DatasetRef, DeclarationEvent, DeclaredColumn, Owner, Tag

API_VERSION: Final = "v3.1.0"
_ITEMS: Final = "[]"
_STEP: Final = re.compile(r"`(?:[^`]|``)*`|[^.]+")
_DEFINITION: Final = "businessDefinition"
_LOGICAL_TYPES: Final = {
    **dict.fromkeys(("string", "varchar", "char", "text", "uuid"), "string"),
    **dict.fromkeys(("tinyint", "smallint", "int", "integer", "bigint", "byte", "short", "long"), "integer"),
    **dict.fromkeys(("float", "double", "real", "decimal", "numeric"), "number"),
    **dict.fromkeys(("timestamp", "timestamp_ntz", "timestamp_ltz", "timestamptz"), "timestamp"),
    **dict.fromkeys(("struct", "map"), "object"),
    "boolean": "boolean",
    "date": "date",
    "array": "array",
}
"""Logical type by the first word of a data type, as Spark and catalogs spell it; other types are only physical."""


@dataclass(frozen=True, slots=True)
class ObservedType:
    """Data type and nullability of a column in an observed schema.

    Attributes:
        type: data type, where known.
        nullable: whether the column may hold nulls, where known.
    """

    type: str | None
    nullable: bool | None


def contract_of(declared: DeclaredSet, observed: Mapping[DatasetRef, Mapping[str, ObservedType]] | None = None) -> str:
    """Return a set as the YAML of a data contract; a set that was read from a contract returns that contract.

    The contract's id is the set's id. Declaring the contract makes the set `odcs:<id>`; then withdraw the original set.

    Args:
        observed: columns of the observed schema by path, for each dataset. Only columns that the set declares count.
    """
    if declared.format == "odcs" and declared.document is not None:
        return declared.document
    bodies = sorted(
        (body for body in declared.declarations.values() if body.dataset is not None),
        key=lambda body: str(body.dataset),
    )
    document = _document(declared, bodies)
    read_back = read_contract("contract", _yaml(document))
    by_dataset = {body.dataset: body for body in read_back.declarations.values()}
    for object_, body in zip(document["schema"], bodies, strict=True):
        found = by_dataset[body.dataset]
        _add(object_, _differences(body, found, but=("set", "columns")))
        columns = {column.path: column for column in found.columns or ()}
        properties = dict(_properties(object_.get("properties", ()), ""))
        if columns.keys() == {column.path for column in body.columns or ()}:
            for column in body.columns or ():
                _add(properties[column.path], _differences(column, columns[column.path], but=("path",)))
        else:
            _add(object_, {"columns": msgspec.to_builtins(body.columns)})
        types = (observed or {}).get(body.dataset, {}) if body.dataset is not None else {}
        for path, property_ in properties.items():
            if (type_ := types.get(path)) is not None:
                _add_observed(property_, type_)
    return _yaml(document)


def _add_observed(property_: dict[str, Any], observed: ObservedType) -> None:
    """Add the observed type and nullability to a property, before the property's inner properties."""
    names = ("customProperties", "items", "properties")
    inner: dict[str, Any] = {name: property_.pop(name) for name in names if name in property_}
    if observed.type is not None and "physicalType" not in property_:
        for name, value in _type_fields(observed.type).items():
            # The property's own type stays: a JSON string has properties, too.
            property_.setdefault(name, value)
    if observed.nullable is not None:
        property_["required"] = not observed.nullable
    property_ |= inner


def _type_fields(type_: str) -> dict[str, str]:
    logical = _LOGICAL_TYPES.get((re.match(r"\w*", type_.strip()) or [""])[0].lower())
    return {**({} if logical is None else {"logicalType": logical}), "physicalType": type_}


def _document(declared: DeclaredSet, bodies: Sequence[DeclarationEvent]) -> dict[str, Any]:
    others = [
        {name: value for name, value in msgspec.to_builtins(body).items() if value is not None and name != "set"}
        for body in sorted(declared.declarations.values(), key=lambda body: (str(body.job), body.consumer or ""))
        if body.dataset is None
    ]
    names = _names(bodies)
    document: dict[str, Any] = {
        "kind": "DataContract",
        "apiVersion": API_VERSION,
        "id": declared.name,
        "version": str(declared.revision or 1),
        "status": "active",
        "schema": [_object(body, name) for body, name in zip(bodies, names, strict=True)],
        "team": _team(bodies),
        "support": _support(bodies),
        "slaProperties": [level for body, name in zip(bodies, names, strict=True) for level in _levels(body, name)],
        "customProperties": [{"property": DECLARATIONS, "value": others}],
    }
    return {name: value for name, value in document.items() if value or name == "schema"}


def _names(bodies: Iterable[DeclarationEvent]) -> list[str]:
    """Name of each dataset's object: the last part of the dataset's name, with a number if several are equal."""
    out: list[str] = []
    for body in bodies:
        last = re.split(r"[/.]", body.dataset.name if body.dataset else "")[-1]
        name = re.sub(r"\W+", "_", last) or "dataset"
        number = 1
        while (unique := name if number == 1 else f"{name}_{number}") in out:
            number += 1
        out.append(unique)
    return out


def _object(body: DeclarationEvent, name: str) -> dict[str, Any]:
    dataset = body.dataset
    assert dataset is not None  # noqa: S101 - callers pass only datasets; for the type checker
    object_: dict[str, Any] = {
        "name": name,
        "physicalName": dataset.name,
        "description": body.description,
        "tags": _words(body.tags),
        "authoritativeDefinitions": _definitions(body.glossary),
        "customProperties": [
            {"property": NAMESPACE, "value": dataset.namespace},
            {"property": NAME, "value": dataset.name},
        ],
        "properties": _tree(body.columns or ()),
    }
    return {name: value for name, value in object_.items() if value}


def _tree(columns: Iterable[DeclaredColumn]) -> list[dict[str, Any]]:
    """Nest properties by the columns' paths; mark properties that are only parents of declared columns."""
    top: dict[str, Any] = {}
    for column in columns:
        steps = _STEP.findall(column.path)
        level, here = top, top
        for step in steps:
            if step == _ITEMS:
                here.update(logicalType="array")
                items = here.setdefault("items", {"logicalType": "object"})
                level = items.setdefault("properties", {})
                continue
            here = level.setdefault(
                step, {"name": _name(step), "customProperties": [{"property": NOT_DECLARED, "value": True}]}
            )
            level = here.setdefault("properties", {})
        if steps and steps[-1] != _ITEMS:
            here.pop("customProperties", None)
            found = {
                "description": column.description,
                "classification": column.classification,
                "tags": _words(column.tags),
                "authoritativeDefinitions": _definitions(column.glossary),
            }
            here.update({name: value for name, value in found.items() if value})
            here.update({} if column.type is None else _type_fields(column.type))
    return _lists(top)


def _lists(level: dict[str, Any]) -> list[dict[str, Any]]:
    out = []
    for one in level.values():
        if inner := one.pop("properties", None):
            one["logicalType"] = "object"
            one["properties"] = _lists(inner)
        if "items" in one:
            one["items"]["properties"] = _lists(one["items"].pop("properties", {}))
        out.append(one)
    return out


def _name(step: str) -> str:
    return step[1:-1].replace("``", "`") if step.startswith("`") else step


def _properties(rows: Iterable[Any], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each property, with its path."""
    for one in rows:
        name = one["name"]
        path = f"{prefix}{'`' + name.replace('`', '``') + '`' if re.search(r'[.`]', name) else name}"
        yield path, one
        yield from _properties(one.get("properties", ()), f"{path}.")
        yield from _properties(one.get("items", {}).get("properties", ()), f"{path}.{_ITEMS}.")


def _words(tags: Iterable[Tag] | None) -> list[str]:
    return [tag.key if tag.value is None else f"{tag.key}:{tag.value}" for tag in tags or ()]


def _definitions(glossary: Iterable[str] | None) -> list[dict[str, str]]:
    return [{"type": _DEFINITION, "url": term} for term in glossary or ()]


def _team(bodies: Sequence[DeclarationEvent]) -> dict[str, Any] | None:
    """Owners, if all datasets have the same owners; otherwise owners are custom properties of each dataset."""
    owners: set[tuple[Owner, ...]] = {body.owners or () for body in bodies}
    if len(owners) != 1:
        return None
    members = [
        {"username": owner.name, **({} if owner.type is None else {"role": owner.type})} for owner in owners.pop()
    ]
    return {"members": members} if members else None


def _support(bodies: Sequence[DeclarationEvent]) -> list[dict[str, str]]:
    channels = {(body.on_call, body.contact) for body in bodies}
    channel, url = channels.pop() if len(channels) == 1 else (None, None)
    return [] if channel is None else [{"channel": channel, **({} if url is None else {"url": url})}]


def _levels(body: DeclarationEvent, name: str) -> Iterator[dict[str, Any]]:
    if body.freshness_seconds is not None:
        yield {"property": "latency", "value": body.freshness_seconds, "unit": "s", "element": name}
    if body.keep_days is not None:
        yield {"property": "retention", "value": body.keep_days, "unit": "d", "element": name}
    if body.deadline is not None:
        yield {"property": "timeOfAvailability", "value": body.deadline, "element": name}


def _differences(declared: msgspec.Struct, found: msgspec.Struct, *, but: Sequence[str]) -> dict[str, Any]:
    """Declared values of the fields that a round trip through the contract changes."""
    return {
        name: msgspec.to_builtins(getattr(declared, name))
        for name in declared.__struct_fields__
        if name not in but and getattr(declared, name) != getattr(found, name)
    }


def _add(target: dict[str, Any], fields: dict[str, Any]) -> None:
    if fields:
        rows = target.setdefault("customProperties", [])
        rows += [{"property": f"{PREFIX}{name}", "value": value} for name, value in fields.items()]


def _yaml(document: dict[str, Any]) -> str:
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=120
    )
    return text


class _Dumper(yaml.SafeDumper):
    """YAML dumper without aliases: a value that occurs twice is written twice."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - of PyYAML
        return True
