"""dbt's `manifest.json`, with `catalog.json` if there is one → a declaration set.

| of dbt                        | becomes                                                                    |
|-------------------------------|----------------------------------------------------------------------------|
| the project                   | the set `dbt:<project>`                                                    |
| models, seeds, snapshots, sources | datasets `database.schema.table` in the namespace that is given        |
| `description`, `tags`, `meta.owner`, groups' owners, columns | of these datasets; columns of the catalog, too |
| tests                         | tags `test` of the columns and datasets that they test                     |
| what a model depends on       | the inputs of the job `dbt`, `<unique id>`, whose output is the model      |
| exposures                     | consumers that read what they depend on                                    |

Ephemeral models are no datasets: what depends on one depends on what it is made from.
https://docs.getdbt.com/reference/artifacts/manifest-json
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from headwater_consumers.declaring.problems import DeclarationError, Problem
from headwater_consumers.declaring.sets import DeclaredSet
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
from headwater_schemas.identity import declaration_digest

FORMAT: Final = "dbt"
_DATASETS: Final = frozenset({"model", "seed", "snapshot", "source"})
_TYPES: Final = {
    "dashboard": ConsumerType.DASHBOARD,
    "notebook": ConsumerType.REPORT,
    "analysis": ConsumerType.REPORT,
    "ml": ConsumerType.MODEL,
    "application": ConsumerType.API,
}


def is_manifest(value: Any) -> bool:
    """Whether a document is dbt's manifest."""
    return isinstance(value, dict) and "manifest" in str(_of(value, "metadata").get("dbt_schema_version", ""))


def read_manifest(file: str, text: str, namespace: str | None, catalog: str | None = None) -> DeclaredSet:
    """The declaration set of a manifest.

    Args:
        file: its name, for messages.
        text: JSON.
        namespace: of its datasets, e.g. `snowflake://account`; a manifest has none.
        catalog: text of `catalog.json`.

    Raises:
        DeclarationError: something is wrong with it.
    """
    if namespace is None:
        message = "a manifest doesn't have the address of the database: give --namespace, e.g. postgres://host:5432"
        raise DeclarationError([Problem(file, 1, (), message)])
    try:
        manifest = json.loads(text)
        columns = json.loads(catalog) if catalog is not None else {}
    except ValueError as error:
        raise DeclarationError([Problem(file, getattr(error, "lineno", 1), (), f"not JSON: {error}")]) from error
    if not is_manifest(manifest):
        raise DeclarationError([Problem(file, 1, ("metadata", "dbt_schema_version"), "isn't that of a manifest")])
    return _Manifest(manifest, columns, namespace).declared()


class _Manifest:
    def __init__(self, manifest: Mapping[str, Any], catalog: Mapping[str, Any], namespace: str) -> None:
        self._nodes: dict[str, Mapping[str, Any]] = {**_of(manifest, "nodes"), **_of(manifest, "sources")}
        self._exposures = _of(manifest, "exposures")
        self._groups = {group.get("name"): group for group in _of(manifest, "groups").values()}
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
        return DeclaredSet(self._set, {declaration_digest(body): body for body in bodies}, format=FORMAT)

    def _test(self, node: Mapping[str, Any]) -> None:
        name = _of(node, "test_metadata").get("name") or node.get("name") or "test"
        tested = node.get("attached_node")
        for unique_id in [tested] if tested else _depends(node):
            self._tests.setdefault((unique_id, node.get("column_name")), set()).add(str(name))

    def _ref(self, unique_id: str) -> DatasetRef | None:
        node = self._nodes.get(unique_id)
        if node is None or not _is_dataset(node):
            return None
        table = node.get("identifier") or node.get("alias") or node.get("name")
        parts = (node.get("database"), node.get("schema"), table)
        return DatasetRef(self._namespace, ".".join(str(part) for part in parts if part))

    def _inputs(self, node: Mapping[str, Any]) -> set[DatasetRef]:
        """The datasets that a node depends on, through ephemeral models."""
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
                columns=self._columns(unique_id, node) or None,
            )

    def _columns(self, unique_id: str, node: Mapping[str, Any]) -> tuple[DeclaredColumn, ...]:
        documented = {name.lower(): (name, column) for name, column in _of(node, "columns").items()}
        known = dict.fromkeys(_of(self._catalog.get(unique_id, {}), "columns"))
        # The catalog's spelling is the database's.
        spelled = {name.lower(): name for name in known} | {
            low: name for low, (name, _) in documented.items() if low not in {each.lower() for each in known}
        }
        out = []
        for low, path in sorted(spelled.items(), key=lambda item: item[1]):
            name, column = documented.get(low, (path, {}))
            tags = self._tags(unique_id, name, column)
            out.append(DeclaredColumn(path=path, description=column.get("description") or None, tags=tags))
        return tuple(out)

    def _tags(self, unique_id: str, column: str | None, node: Mapping[str, Any]) -> tuple[Tag, ...] | None:
        pairs = {(str(tag), None) for tag in node.get("tags") or ()}
        tests = sorted(self._tests.get((unique_id, column), ()))
        out = [Tag(key=key) for key, _ in sorted(pairs)]
        if tests:
            out.append(Tag(key="test", value=", ".join(tests)))
        return tuple(sorted(out, key=lambda tag: tag.key)) or None

    def _owners(self, node: Mapping[str, Any]) -> tuple[Owner, ...] | None:
        owner = _of(node, "meta").get("owner") or _of(_of(node, "config"), "meta").get("owner")
        if owner is None and (group := self._groups.get(node.get("group"))) is not None:
            owner = _of(group, "owner").get("name") or _of(group, "owner").get("email") or group.get("name")
        names = owner if isinstance(owner, list) else [owner] if owner else []
        return tuple(Owner(str(name)) for name in sorted(set(map(str, names)))) or None

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


def _is_dataset(node: Mapping[str, Any]) -> bool:
    is_ephemeral = _of(node, "config").get("materialized") == "ephemeral"
    return node.get("resource_type") in _DATASETS and not is_ephemeral


def _depends(node: Mapping[str, Any]) -> list[str]:
    return list(_of(node, "depends_on").get("nodes") or ())


def _of(value: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}
