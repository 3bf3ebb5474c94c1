"""dbt's `manifest.json`, with `catalog.json` if any → a declaration set.

| in dbt                        | becomes                                                                    |
|-------------------------------|----------------------------------------------------------------------------|
| the project                   | the set `dbt:<project>`                                                    |
| models, seeds, snapshots, sources | datasets `database.schema.table` in the given namespace                |
| their `meta.headwater_dataset` | the dataset's name instead of `database.schema.table`, e.g. in the lake   |
| `description`, `tags`, `meta.owner`, groups' owners, columns | the datasets' fields; also columns of the catalog |
| a column's type in the catalog, else its `data_type` | the column's type                                     |
| tests                         | tags `test` of the columns and datasets that they test                     |
| dependencies of a model       | the inputs of the job `dbt`, `<unique id>`, whose output is the model      |
| exposures                     | consumers that read their dependencies, through metrics and semantic models |
| a source's `freshness`        | freshness: the age at which dbt reports an error, else the age at which it warns |

Ephemeral models are no datasets: dependants of an ephemeral model depend on its inputs.
https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path
from headwater_analysis.declaring.reading import Form, require_form
from headwater_analysis.declaring.sets import DeclaredSet, by_digest
from headwater_analysis.declaring.yaml_lines import LocatedDocument
from headwater_schemas import naming
from headwater_schemas.events import (
    ConsumerType,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    JobRef,
    Owner,
    Tag,
)

FORMAT: Final = "dbt"
CATALOG: Final = "catalog.json"
"""File name in messages about the catalog."""
_DATASETS: Final = frozenset({"model", "seed", "snapshot", "source"})
_TYPES: Final = {
    "dashboard": ConsumerType.DASHBOARD,
    "notebook": ConsumerType.REPORT,
    "analysis": ConsumerType.REPORT,
    "ml": ConsumerType.MODEL,
    "application": ConsumerType.API,
}
_PERIODS: Final = {"minute": 60, "hour": 3_600, "day": 86_400}
_MOST_PERIODS: Final = 1 << 40


def is_manifest(value: Any) -> bool:
    """Return whether a document is dbt's manifest."""
    return isinstance(value, dict) and "manifest" in str(_of(value, "metadata").get("dbt_schema_version", ""))


def read_manifest(file: str, text: str, namespace: str | None, catalog: str | None = None) -> DeclaredSet:
    """Read the declaration set of a manifest.

    Args:
        file: name of the file, for messages.
        text: JSON.
        namespace: namespace of the manifest's datasets, e.g. `snowflake://account`; a manifest has none.
        catalog: text of `catalog.json`.

    Raises:
        DeclarationError: the manifest or catalog has mistakes.
    """
    if namespace is None:
        message = "a manifest doesn't have the address of the database: give --namespace, e.g. postgres://host:5432"
        raise DeclarationError([FileProblem(file, 1, (), message)])
    manifest = _parsed(file, text)
    columns = {} if catalog is None else _parsed(CATALOG, catalog)
    if not is_manifest(manifest):
        path = ("metadata", "dbt_schema_version")
        raise DeclarationError([FileProblem(file, line_in_json(text, path), path, "isn't that of a manifest")])
    _require_form(file, text, manifest, _ManifestForm)
    _require_form(CATALOG, catalog or "", columns, _CatalogForm)
    return _Manifest(manifest, columns, namespace).declared()


def _parsed(file: str, text: str) -> Any:
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        message = "has half of a surrogate pair, which isn't a character"
        raise DeclarationError([FileProblem(file, 1, (), message)]) from error
    except ValueError as error:
        raise DeclarationError([FileProblem(file, getattr(error, "lineno", 1), (), f"not JSON: {error}")]) from error
    except RecursionError as error:
        raise DeclarationError([FileProblem(file, 1, (), "nested too deeply")]) from error
    return value


def _require_form(file: str, text: str, value: Any, form: type[Form]) -> None:
    try:
        require_form(file, LocatedDocument(value, 1), form)
    except DeclarationError as error:
        located = [replace(each, line=line_in_json(text, each.path)) for each in error.problems]
        raise DeclarationError(located) from error


_Text = Annotated[str, Field(min_length=1)]


class _Documented(Form):
    description: str | None = None
    tags: list[_Text] | None = None


class _Column(_Documented):
    data_type: str | None = None


class _Dependencies(Form):
    nodes: list[str] | None = None


class _Dataset(Form):
    namespace: _Text
    name: _Text


class _Meta(Form):
    headwater_dataset: _Text | _Dataset | None = None


class _Config(Form):
    meta: _Meta | None = None


class _Node(_Documented):
    resource_type: str | None = None
    name: _Text | None = None
    columns: dict[_Text, _Column] | None = None
    depends_on: _Dependencies | None = None
    meta: _Meta | None = None
    config: _Config | None = None
    group: str | None = None
    attached_node: str | None = None
    column_name: str | None = None


class _Owner(Form):
    name: str | None = None
    email: str | None = None


class _Exposure(_Node):
    owner: _Owner | None = None
    name: _Text
    label: str | None = None
    url: str | None = None
    maturity: str | None = None


class _ManifestForm(Form):
    nodes: dict[_Text, _Node] = Field(default_factory=dict)
    sources: dict[_Text, _Node] = Field(default_factory=dict)
    metrics: dict[str, _Node] = Field(default_factory=dict)
    semantic_models: dict[str, _Node] = Field(default_factory=dict)
    saved_queries: dict[str, _Node] = Field(default_factory=dict)
    exposures: dict[str, _Exposure] = Field(default_factory=dict)
    groups: dict[str, Form] = Field(default_factory=dict)


class _CatalogColumn(Form):
    type: str | None = None


class _CatalogNode(Form):
    columns: dict[str, _CatalogColumn] | None = None


class _CatalogForm(Form):
    nodes: dict[str, _CatalogNode] | None = None
    sources: dict[str, _CatalogNode] | None = None


class _Manifest:
    def __init__(self, manifest: Mapping[str, Any], catalog: Mapping[str, Any], namespace: str) -> None:
        self._nodes: dict[str, Mapping[str, Any]] = {
            name: node
            for kind in ("nodes", "sources", "metrics", "semantic_models", "saved_queries")
            for name, node in _of(manifest, kind).items()
        }
        self._exposures = _of(manifest, "exposures")
        self._groups = {str(group.get("name")): group for group in _of(manifest, "groups").values()}
        self._catalog = {**_of(catalog, "nodes"), **_of(catalog, "sources")}
        self._namespace = namespace
        project = _of(manifest, "metadata").get("project_name")
        self._set = f"dbt:{project or 'project'}"
        self._tests: dict[tuple[str, str | None], set[str]] = {}

    def declared(self) -> DeclaredSet:
        for node in self._nodes.values():
            if node.get("resource_type") == "test":
                self._test(node)
        bodies = [*self._datasets(), *self._jobs(), *self._consumers()]
        return DeclaredSet(self._set, by_digest(bodies), format=FORMAT)

    def _test(self, node: Mapping[str, Any]) -> None:
        name = _of(node, "test_metadata").get("name") or node.get("name") or "test"
        tested = node.get("attached_node")
        for unique_id in [tested] if tested else _depends(node):
            self._tests.setdefault((unique_id, node.get("column_name")), set()).add(str(name))

    def _ref(self, unique_id: str) -> DatasetRef | None:
        node = self._nodes.get(unique_id)
        if node is None or not _is_dataset(node):
            return None
        if (known := _meta(node).get("headwater_dataset")) is not None:
            path = naming.path(known) if isinstance(known, str) else None
            return DatasetRef(path.namespace, path.name) if path else DatasetRef(known["namespace"], known["name"])
        table = node.get("identifier") or node.get("alias") or node.get("name")
        parts = (node.get("database"), node.get("schema"), table)
        return DatasetRef(self._namespace, ".".join(str(part) for part in parts if part))

    def _inputs(self, node: Mapping[str, Any]) -> set[DatasetRef]:
        """Datasets that a node depends on, also through ephemeral models, metrics and semantic models."""
        found: set[DatasetRef] = set()
        seen: set[str] = set()
        left = _depends(node)
        while left:
            unique_id = left.pop()
            if unique_id in seen:
                continue
            seen.add(unique_id)
            ref = self._ref(unique_id)
            if ref is not None:
                found.add(ref)
            else:
                left += _depends(self._nodes.get(unique_id, {}))
        return found

    def _datasets(self) -> Iterator[DeclarationEvent]:
        for unique_id, node in sorted(self._nodes.items()):
            ref = self._ref(unique_id)
            if ref is None:
                continue
            yield DeclarationEvent(
                set=self._set,
                dataset=ref,
                description=node.get("description") or None,
                owners=self._owners(node),
                tags=self._tags(unique_id, None, node),
                freshness_seconds=_freshness(node),
                columns=self._columns(unique_id, node) or None,
            )

    def _columns(self, unique_id: str, node: Mapping[str, Any]) -> tuple[DeclaredColumn, ...]:
        documented = {name.lower(): (name, column) for name, column in _of(node, "columns").items()}
        stored = _of(_of(self._catalog, unique_id), "columns")
        known = {name.lower(): name for name in stored if name}
        # The catalog has the database's spelling.
        spelled = {low: name for low, (name, _) in documented.items()} | known
        out = []
        for low, path in sorted(spelled.items(), key=lambda item: item[1]):
            name, column = documented.get(low, (path, {}))
            tags = self._tags(unique_id, name, column)
            type_ = _of(stored, path).get("type") or column.get("data_type") or None
            out.append(DeclaredColumn(path=path, description=column.get("description") or None, tags=tags, type=type_))
        return tuple(out)

    def _tags(self, unique_id: str, column: str | None, node: Mapping[str, Any]) -> tuple[Tag, ...] | None:
        pairs = {(str(tag), None) for tag in node.get("tags") or ()}
        tests = sorted(self._tests.get((unique_id, column), ()))
        out = [Tag(key=key) for key, _ in sorted(pairs)]
        if tests:
            out.append(Tag(key="test", value=", ".join(tests)))
        return tuple(sorted(out, key=lambda tag: tag.key)) or None

    def _owners(self, node: Mapping[str, Any]) -> tuple[Owner, ...] | None:
        owner = _meta(node).get("owner")
        if owner is None and (group := self._groups.get(str(node.get("group")))) is not None:
            owner = _of(group, "owner").get("name") or _of(group, "owner").get("email") or group.get("name")
        names = owner if isinstance(owner, list) else [owner] if owner else []
        return tuple(Owner(str(name)) for name in sorted({str(name) for name in names if name})) or None

    def _jobs(self) -> Iterator[DeclarationEvent]:
        for unique_id, node in sorted(self._nodes.items()):
            ref = self._ref(unique_id)
            if ref is None or node.get("resource_type") == "source":
                continue
            inputs = self._inputs(node)
            yield DeclarationEvent(
                set=self._set,
                job=JobRef(FORMAT, unique_id),
                description=node.get("description") or None,
                owners=self._owners(node),
                inputs=tuple(sorted(inputs)),
                outputs=(ref,),
            )

    def _consumers(self) -> Iterator[DeclarationEvent]:
        for exposure in sorted(self._exposures.values(), key=lambda one: str(one.get("name"))):
            owner = _of(exposure, "owner")
            name = owner.get("name") or owner.get("email")
            maturity = [Tag(key="maturity", value=exposure["maturity"])] if exposure.get("maturity") else []
            tags = [Tag(key=str(tag)) for tag in sorted(set(exposure.get("tags") or ()))]
            yield DeclarationEvent(
                set=self._set,
                consumer=str(exposure["name"]),
                type=_TYPES.get(str(exposure.get("type")).lower()),
                description=exposure.get("description") or exposure.get("label") or None,
                owners=(Owner(str(name)),) if name else None,
                contact=owner.get("email") if name != owner.get("email") else None,
                url=exposure.get("url") or None,
                tags=tuple(sorted([*maturity, *tags], key=lambda tag: tag.key)) or None,
                reads=tuple(DatasetRead(ref) for ref in sorted(self._inputs(exposure))),
            )


def _freshness(node: Mapping[str, Any]) -> int | None:
    """Age in seconds from which a source is stale."""
    given = _of(node, "freshness") or _of(_of(node, "config"), "freshness")
    for level in ("error_after", "warn_after"):
        limit = _of(given, level)
        count, seconds = limit.get("count"), _PERIODS.get(str(limit.get("period")))
        if isinstance(count, int) and seconds is not None and 0 < count < _MOST_PERIODS:
            return count * seconds
    return None


def _is_dataset(node: Mapping[str, Any]) -> bool:
    is_ephemeral = _of(node, "config").get("materialized") == "ephemeral"
    return node.get("resource_type") in _DATASETS and bool(node.get("name")) and not is_ephemeral


def _meta(node: Mapping[str, Any]) -> dict[str, Any]:
    """Project's own keys in a node's `meta`; newer versions of dbt have it in `config`."""
    return {**_of(_of(node, "config"), "meta"), **_of(node, "meta")}


def _depends(node: Mapping[str, Any]) -> list[str]:
    return list(_of(node, "depends_on").get("nodes") or ())


def _of(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


_BLANK: Final = " \t\n\r"
_DECODER: Final = json.JSONDecoder()


def line_in_json(text: str, path: Path) -> int:
    """Line, from 1, of the value at a path, or of its nearest ancestor in the text.

    `json` keeps no positions. A manifest has tens of megabytes and few mistakes. So `json` reads it, and each mistake
    is then located in the text.

    Args:
        text: JSON, without mistakes.
        path: keys and indexes.
    """
    at = _skip(text, 0)
    for step in path:
        found = _within(text, at, step)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _within(text: str, at: int, step: str | int) -> int | None:
    """Offset of the value of a key or index in the value that begins at `at`; for a duplicate key, the last one's."""
    is_object = text[at] == "{"
    if text[at] not in "{[" or is_object is isinstance(step, int):
        return None
    found, index = None, 0
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        key: str | int = index
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if key == step:
            found = at
        _, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
        index += 1
    return found


def _skip(text: str, at: int) -> int:
    """Offset of the next character that isn't blank."""
    while text[at] in _BLANK:
        at += 1
    return at
