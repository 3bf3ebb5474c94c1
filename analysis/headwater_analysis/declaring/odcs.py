"""ODCS data contracts (Open Data Contract Standard, 2.2 to 3.1) → declaration sets, and back.

The set keeps the contract's text unchanged, so that the contract can be returned whole: declarations have no fields for
quality rules, prices, roles and servers. Other fields of the contract are declared as well:

| in the contract                                     | becomes                                                        |
|-----------------------------------------------------|----------------------------------------------------------------|
| `id`                                                | the set `odcs:<id>`                                            |
| each object of `schema`                             | a dataset, named by its server or by `customProperties`        |
| `description`, `businessName`, `authoritativeDefinitions` | description, glossary                                    |
| `team`: its name and its members of today           | owners                                                         |
| `tags`, `domain`, `dataProduct`, `status`           | tags                                                           |
| `slaProperties` latency, frequency, freshness; retention; timeOfAvailability | freshness, keep, deadline             |
| `support`                                           | on call, contact, url                                          |
| properties: `classification`, `tags`, `criticalDataElement` | of columns: classification, sensitivity, tags          |
| properties: `physicalType`, else `logicalType`      | their types                                                    |
| `transformSourceObjects`, `transformLogic`          | column lineage of the job `odcs`, `<id>`                       |

https://bitol-io.github.io/open-data-contract-standard/v3.1.0/
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar, get_type_hints

import msgspec
from pydantic import Field

from headwater_analysis.declaring.names import Names, UnresolvedNameError
from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path
from headwater_analysis.declaring.reading import Form, column_lineage, require_form
from headwater_analysis.declaring.sets import DeclaredSet, by_digest
from headwater_analysis.declaring.yaml_lines import LocatedDocument, parse_yaml
from headwater_schemas import naming
from headwater_schemas.events import (
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    JobRef,
    Owner,
    Sensitivity,
    Tag,
    TransformationKind,
)

FORMAT: Final = "odcs"
_MOST_SECONDS: Final = 1e15
NAMESPACE: Final = "headwater.namespace"
NAME: Final = "headwater.name"
"""Custom properties of a schema object, or of the contract, that name its dataset."""
PREFIX: Final = "headwater."
"""Prefix of custom properties for fields of an object's or property's declaration (`declaring.contract`)."""
DECLARATIONS: Final = "headwater.declarations"
"""Custom property of a contract that was made from a declaration set: the set's jobs and consumers."""
NOT_DECLARED: Final = "headwater.not_declared"
"""Custom property that marks a property as only a parent of declared columns."""

_IDENTITY: Final = frozenset({"set", "dataset", "job", "consumer", "path"})
_T = TypeVar("_T", bound=msgspec.Struct)
_SECONDS: Final = {
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3_600),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
    **dict.fromkeys(("mo", "month", "months"), 30 * 86_400),
    **dict.fromkeys(("y", "yr", "year", "years"), 365 * 86_400),
}
_FRESHNESS: Final = frozenset({"latency", "ly", "frequency", "fy", "freshness"})
_RETENTION: Final = frozenset({"retention", "re"})
_AVAILABLE: Final = frozenset({"timeofavailability", "ta"})
_MINUTES_OF_A_DAY: Final = 1_440
_TIME_OF_DAY: Final = re.compile(r"((?:[01]\d|2[0-3]):[0-5]\d)(?::00)?(Z|[+-]\d\d:\d\d)?")
_SENSITIVITY: Final = {one.value: one for one in Sensitivity if one is not Sensitivity.UNKNOWN}
_DEFAULT_PORTS: Final = {"postgres": 5432, "postgresql": 5432, "mysql": 3306, "redshift": 5439, "sqlserver": 1433}


def read_contract(file: str, text: str, namespace: str | None = None, names: Names | None = None) -> DeclaredSet:
    """Read the declaration set of a data contract.

    Args:
        file: name of the file, for messages.
        text: YAML or JSON.
        namespace: namespace of datasets that neither a server nor a custom property names.
        names: lookup of datasets without any namespace; None: such names are mistakes.

    Raises:
        DeclarationError: the contract has mistakes.
    """
    document = parse_yaml(file, text)
    if not isinstance(document.value, dict) or document.value.get("kind") != "DataContract":
        raise DeclarationError(
            [FileProblem(file, document.line(("kind",)), ("kind",), "must be DataContract in a data contract")]
        )
    return _Contract(file, text, document, namespace, names).declared()


_Text = Annotated[str, Field(min_length=1)]


class _Defined(Form):
    definitions: list[Any] | None = Field(None, alias="authoritativeDefinitions")


class _Items(Form):
    properties: list[_Property] | None = None


class _Property(_Defined):
    name: _Text
    properties: list[_Property] | None = None
    items: _Items | None = None
    sources: list[_Text] | None = Field(None, alias="transformSourceObjects")
    logical_type: str | None = Field(None, alias="logicalType")
    physical_type: str | None = Field(None, alias="physicalType")


class _Object(_Defined):
    name: _Text
    properties: list[_Property] | None = None


class _Document(_Defined):
    version: _Text
    api_version: _Text = Field(alias="apiVersion")
    id: _Text
    status: _Text
    objects: list[_Object] | None = Field(None, alias="schema")


class _Contract:
    def __init__(
        self, file: str, text: str, document: LocatedDocument, namespace: str | None, names: Names | None
    ) -> None:
        self._file, self._text, self._document, self._namespace = file, text, document, namespace
        self._names = names
        self._value: dict[str, Any] = document.value
        self._problems: list[FileProblem] = []

    def declared(self) -> DeclaredSet:
        require_form(self._file, self._document, _Document)
        objects = self._list(self._value, "schema", ())
        named: dict[int, DatasetRef] = {}
        for index, one in enumerate(objects):
            path: Path = ("schema", index)
            dataset = self._dataset_of(one, path)
            if dataset is not None and dataset in named.values():
                self._wrong(path, f"is dataset {dataset.namespace} {dataset.name}, as an earlier object is")
            elif dataset is not None:
                named[index] = dataset
        if self._problems:
            raise DeclarationError(self._problems)
        bodies = [self._dataset(objects[index], dataset, ("schema", index)) for index, dataset in named.items()]
        bodies += [*self._job(objects, named), *self._others()]
        if self._problems:
            raise DeclarationError(self._problems)
        return DeclaredSet(
            self._set,
            by_digest(bodies),
            format=FORMAT,
            source=f"{self._value['id']} {self._value['version']}",
            document=self._text,
        )

    @property
    def _set(self) -> str:
        return f"odcs:{self._value['id']}"

    def _wrong(self, path: Path, message: str) -> None:
        self._problems.append(FileProblem(self._file, self._document.line(path), path, message))

    def _list(self, of: Mapping[str, Any], key: str, path: Path) -> list[Any]:
        found = of.get(key)
        if found is None:
            return []
        if not isinstance(found, list):
            self._wrong((*path, key), "must be a list")
            return []
        return found

    def _dataset_of(self, one: Mapping[str, Any], path: Path) -> DatasetRef | None:
        custom = _custom(self._value) | _custom(one)
        name = str(one.get("physicalName") or one["name"])
        if NAMESPACE in custom:
            return DatasetRef(custom[NAMESPACE], custom.get(NAME) or name)
        for server in self._list(self._value, "servers", ()):
            if isinstance(server, dict) and (found := _on_server(server, name)) is not None:
                return found
        if self._namespace is not None:
            return DatasetRef(self._namespace, name)
        why = ""
        if self._names is not None:
            try:
                return self._names.dataset(name)
            except UnresolvedNameError as error:
                why = f", and {error}"
        self._wrong(
            path,
            f"its dataset is unknown, since no server gives a namespace{why}: add customProperties {NAMESPACE} and "
            f"{NAME}, or give --namespace",
        )
        return None

    def _dataset(self, one: Mapping[str, Any], dataset: DatasetRef, path: Path) -> DeclarationEvent:
        freshness, keep, deadline = self._service_levels(str(one["name"]))
        support = [each for each in self._list(self._value, "support", ()) if isinstance(each, dict)]
        first: Mapping[str, Any] = support[0] if support else {}
        columns = dict(self._columns(one.get("properties"), (*path, "properties"), ""))
        body = DeclarationEvent(
            set=self._set,
            dataset=dataset,
            description=_text(one.get("description")) or _text(one.get("businessName")) or self._purpose(),
            owners=self._owners(),
            tags=_tags([*_words(self._value), *_words(one)], self._contract_tags()),
            glossary=_definitions(self._value, one),
            freshness_seconds=freshness,
            keep_days=keep,
            deadline=deadline,
            on_call=_text(first.get("channel")),
            contact=_text(first.get("url")),
            columns=tuple(columns[column] for column in sorted(columns)) or None,
        )
        return self._as_stated(body, one, path)

    def _as_stated(self, found: _T, of: Mapping[str, Any], path: Path) -> _T:
        """Replace a declaration's fields by the values in custom properties."""
        types = get_type_hints(type(found), include_extras=True)
        fields = {}
        for index, row in enumerate(self._list(of, "customProperties", path)):
            name = str(row.get("property")).removeprefix(PREFIX) if isinstance(row, dict) else ""
            if name not in types.keys() - _IDENTITY or f"{PREFIX}{name}" != row.get("property"):
                continue
            try:
                fields[name] = msgspec.convert(row.get("value"), types[name])
            except msgspec.ValidationError as error:
                self._wrong((*path, "customProperties", index, "value"), str(error))
        return msgspec.structs.replace(found, **fields)

    def _others(self) -> Iterator[DeclarationEvent]:
        """Jobs and consumers of a contract that was made from a declaration set."""
        for index, row in enumerate(self._list(self._value, "customProperties", ())):
            if not isinstance(row, dict) or row.get("property") != DECLARATIONS:
                continue
            for number, one in enumerate(self._list(row, "value", ("customProperties", index))):
                try:
                    body = msgspec.convert({**one, "set": self._set}, DeclarationEvent)
                except (msgspec.ValidationError, TypeError) as error:
                    self._wrong(("customProperties", index, "value", number), str(error))
                    continue
                yield body

    def _purpose(self) -> str | None:
        description = self._value.get("description")
        return _text(description.get("purpose")) if isinstance(description, dict) else _text(description)

    def _contract_tags(self) -> dict[str, str]:
        if DECLARATIONS in _custom(self._value):
            return {}
        names = {"domain": "domain", "dataProduct": "data_product", "status": "contract_status"}
        return {tag: self._value[key] for key, tag in names.items() if isinstance(self._value.get(key), str)}

    def _owners(self) -> tuple[Owner, ...] | None:
        team = self._value.get("team")
        members = team.get("members") if isinstance(team, dict) else team
        owners = set()
        if isinstance(team, dict) and (name := _text(team.get("name"))):
            owners.add(Owner(name, "TEAM"))
        for member in members if isinstance(members, list) else []:
            if isinstance(member, dict) and not member.get("dateOut") and (name := _text(member.get("username"))):
                owners.add(Owner(name, _text(member.get("role"))))
        return tuple(sorted(owners, key=lambda owner: (owner.name, owner.type or ""))) or None

    def _service_levels(self, name: str) -> tuple[int | None, int | None, str | None]:
        freshness = keep = deadline = None
        for level in self._list(self._value, "slaProperties", ()):
            if not isinstance(level, dict):
                continue
            element = _text(level.get("element")) or _text(self._value.get("slaDefaultElement"))
            if element is not None and name not in {part.strip().partition(".")[0] for part in element.split(",")}:
                continue
            kind = str(level.get("property", "")).lower()
            seconds = _seconds(level.get("value"), level.get("unit"))
            if kind in _FRESHNESS and seconds is not None:
                freshness = seconds if freshness is None else min(freshness, seconds)
            elif kind in _RETENTION and seconds is not None and seconds >= 86_400:
                keep = seconds // 86_400
            elif kind in _AVAILABLE and level.get("value") is not None:
                deadline = _time_of_day(level["value"])
        return freshness, keep, deadline

    def _columns(self, properties: Any, path: Path, prefix: str) -> Iterator[tuple[str, DeclaredColumn]]:
        seen: dict[str, int] = {}
        for index, one in enumerate(properties or ()):
            here = (*path, index)
            column = f"{prefix}{_step(one['name'])}"
            if column in seen:
                self._wrong((*here, "name"), f"is a property in line {seen[column]} already")
                continue
            seen[column] = self._document.line((*here, "name"))
            if NOT_DECLARED not in _custom(one):
                yield column, self._as_stated(_column(column, one), one, here)
            yield from self._columns(one.get("properties"), (*here, "properties"), f"{column}.")
            if items := one.get("items"):
                yield from self._columns(items.get("properties"), (*here, "items", "properties"), f"{column}.[].")

    def _job(self, objects: Sequence[Any], named: Mapping[int, DatasetRef]) -> Iterator[DeclarationEvent]:
        own = {
            str(name): named[index]
            for index, one in enumerate(objects)
            for name in (one["name"], one.get("physicalName"))
            if name
        }
        rows = [
            ((named[index], column), self._source(source, own, named[index]), TransformationKind.DERIVE, False, logic)
            for index, one in enumerate(objects)
            for column, sources, logic in _transformed(one.get("properties"), "")
            for source in sources
        ]
        if rows:
            yield DeclarationEvent(
                set=self._set, job=JobRef(FORMAT, str(self._value["id"])), lineage=column_lineage(rows)
            )

    def _source(self, text: str, own: Mapping[str, DatasetRef], output: DatasetRef) -> tuple[DatasetRef, str | None]:
        """Parse a source: an object of the contract, its column, or a dataset in the namespace of the output."""
        if text in own:
            return own[text], None
        table, _, column = text.rpartition(".")
        if table in own:
            return own[table], column
        if "/" in text or "." in text:
            return DatasetRef(output.namespace, text), None
        parent, slash, _ = output.name.rpartition("/" if "/" in output.name else ".")
        return DatasetRef(output.namespace, f"{parent}{slash}{text}"), None


def _column(path: str, one: Mapping[str, Any]) -> DeclaredColumn:
    classification = _text(one.get("classification"))
    tags = {"critical_data_element": "true"} if one.get("criticalDataElement") is True else {}
    return DeclaredColumn(
        path=path,
        description=_text(one.get("description")) or _text(one.get("businessName")),
        classification=classification,
        sensitivity=_SENSITIVITY.get((classification or "").upper()),
        tags=_tags(_words(one), tags),
        glossary=_definitions(one),
        type=_type(one),
    )


def _type(one: Mapping[str, Any]) -> str | None:
    """Physical type of a property, else its logical type, except `object` and `array`: these may be stored as JSON."""
    logical = _text(one.get("logicalType"))
    return _text(one.get("physicalType")) or (None if logical in {"object", "array"} else logical)


def _transformed(properties: Any, prefix: str) -> Iterator[tuple[str, list[str], str | None]]:
    for one in properties or ():
        column = f"{prefix}{_step(one['name'])}"
        sources = one.get("transformSourceObjects") or []
        if sources:
            yield column, sources, _text(one.get("transformLogic")) or _text(one.get("transformDescription"))
        yield from _transformed(one.get("properties"), f"{column}.")
        if items := one.get("items"):
            yield from _transformed(items.get("properties"), f"{column}.[].")


def _on_server(server: Mapping[str, Any], name: str) -> DatasetRef | None:
    """Dataset of an object on a server, by OpenLineage's naming; None: unknown naming for this type of server."""
    type_, host = str(server.get("type", "")).lower(), _text(server.get("host"))
    location = _text(server.get("location")) or _text(server.get("path"))
    if type_ == "kafka" and host:
        return naming.kafka_topic(host, name)
    if type_ in {"s3", "azure", "local", "hdfs", "gcs"} and location:
        folder = location.split("{", 1)[0].rstrip("/")
        return naming.path(folder if folder.endswith(f"/{name}") else f"{folder}/{name}")
    if type_ == "bigquery" and (project := _text(server.get("project"))):
        return DatasetRef("bigquery", f"{project}.{server.get('dataset')}.{name}")
    if type_ == "snowflake" and (account := _text(server.get("account"))):
        return DatasetRef(f"snowflake://{account}", f"{server.get('database')}.{server.get('schema')}.{name}")
    if type_ in _DEFAULT_PORTS and host:
        parts = (_text(server.get("database")), _text(server.get("schema")), name)
        port = server.get("port") or _DEFAULT_PORTS[type_]
        return naming.normal(f"{type_}://{host}:{port}", ".".join(part for part in parts if part))
    return None


def _custom(of: Mapping[str, Any]) -> dict[str, str]:
    rows = of.get("customProperties")
    return {
        str(row["property"]): str(row.get("value"))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and "property" in row and row.get("value") is not None
    }


def _words(of: Mapping[str, Any]) -> list[str]:
    tags = of.get("tags")
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def _tags(words: Sequence[str], more: Mapping[str, str]) -> tuple[Tag, ...] | None:
    pairs = {(word.partition(":")[0], word.partition(":")[2] or None) for word in words} | set(more.items())
    return tuple(Tag(key=key, value=value) for key, value in sorted(pairs, key=lambda p: (p[0], p[1] or ""))) or None


def _definitions(*of: Mapping[str, Any]) -> tuple[str, ...] | None:
    rows = [row for one in of for row in one.get("authoritativeDefinitions") or () if isinstance(row, dict)]
    return tuple(sorted({row["url"] for row in rows if isinstance(row.get("url"), str)})) or None


def _seconds(value: Any, unit: Any) -> int | None:
    scale = _SECONDS.get(str(unit or "").lower())
    try:
        number = float(str(value))
    except ValueError:
        return None
    if scale is None or not math.isfinite(number) or not 0 <= number * scale < _MOST_SECONDS:
        return None
    return int(number * scale)


def _time_of_day(value: Any) -> str:
    """Convert the standard's `09:00-08:00` to `09:00 -08:00` of Headwater's own files. Other texts stay unchanged."""
    if type(value) is int and 0 <= value < _MINUTES_OF_A_DAY:
        # YAML reads 10:00 without quotes as a number in base 60.
        value = f"{value // 60:02}:{value % 60:02}"
    found = _TIME_OF_DAY.fullmatch(str(value))
    return str(value) if found is None else " ".join(filter(None, found.groups()))


def _step(name: str) -> str:
    """Quote a name as one step of a field path."""
    return f"`{name.replace('`', '``')}`" if re.search(r"[.`]", name) else name


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
