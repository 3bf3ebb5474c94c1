"""Bodies of DatasetEvents, from a plan's inputs and outputs, and the tables that an application has used."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

import msgspec

from headwater_producers.spark.events.partitions import change_facets
from headwater_producers.spark.plan import DdlChange, PlanDescription, PlanInput, PlanOutput, SourceKind
from headwater_schemas.events import DatasetEvent, DatasetRef, LifecycleChange, SchemaDefinition, Symlink
from headwater_schemas.facets import COLUMNS_FACET
from headwater_schemas.identity import schema_digest
from headwater_schemas.redacted_values import redacted

# Sources whose own schema Spark reads. A topic has none: the columns that a reader parses from its payload are the
# reader's view, and must not replace the schema that the topic's writer published.
_SCHEMA_IS_THE_SOURCES_OWN = frozenset({SourceKind.FILE, SourceKind.TABLE, SourceKind.JDBC, SourceKind.PYTHON})

# Sinks that keep nothing. An application has one of each, whatever columns its queries write there.
_KEEPS_NOTHING = frozenset({"console", "noop"})


def dataset_bodies(description: PlanDescription) -> Iterator[DatasetEvent]:
    """Build a body for each dataset of a plan that has more than a name to report, outputs last."""
    written = {output.dataset for output in description.outputs}
    for source in description.inputs:
        if source.dataset not in written and (body := _input_body(source)) is not None:
            yield body
    for output in description.outputs:
        if (body := _output_body(output)) is not None:
            yield body


def schema_read(source: PlanInput) -> str | None:
    """Return the digest of an input's schema as `dataset_bodies` reports it; None if it reports none."""
    return _digest(_read(source))


def schema_written(output: PlanOutput) -> str | None:
    """Return the digest of an output's schema as `dataset_bodies` reports it; None if it reports none."""
    return _digest(_stored(_whole(output), output.kind))


def _digest(schema: SchemaDefinition | None) -> str | None:
    return None if schema is None else schema_digest(redacted(schema))


def change_body(change: DdlChange) -> DatasetEvent:
    """Build the DatasetEvent of a DDL change."""
    return DatasetEvent(
        dataset=change.dataset,
        type=change.type,
        schema=change.schema if change.schema is not None and change.schema.fields else None,
        description=change.description,
        storage=change.storage,
        symlinks=change.symlinks or None,
        lifecycle=change.lifecycle,
        previous=change.previous,
        facets=_change_facets(change),
    )


def _change_facets(change: DdlChange) -> dict[str, str]:
    facets = change_facets(change.partitions) if change.partitions is not None else {}
    if change.columns is not None:
        facets[COLUMNS_FACET] = msgspec.json.encode(change.columns).decode()
    return facets


def _input_body(source: PlanInput) -> DatasetEvent | None:
    return _unless_empty(
        DatasetEvent(
            dataset=source.dataset,
            type=source.type,
            schema=_read(source),
            storage=source.storage,
            symlinks=source.symlinks or None,
        )
    )


def _read(source: PlanInput) -> SchemaDefinition | None:
    return _stored(source.schema if source.kind in _SCHEMA_IS_THE_SOURCES_OWN else None, source.kind)


def _output_body(output: PlanOutput) -> DatasetEvent | None:
    # An output with no fact but its name, such as an append's, needs no event.
    return _unless_empty(
        DatasetEvent(
            dataset=output.dataset,
            type=output.type,
            schema=_stored(_whole(output), output.kind),
            storage=output.storage,
            symlinks=output.symlinks or None,
            lifecycle=output.lifecycle if output.lifecycle is not LifecycleChange.UNKNOWN else None,
        )
    )


def _whole(output: PlanOutput) -> SchemaDefinition | None:
    """Return the schema of an output; None for sinks that keep nothing, and for a single partition.

    Rows that are written to a single partition lack the partition columns.
    """
    if output.schema is None or (output.kind is SourceKind.GENERATED and output.format in _KEEPS_NOTHING):
        return None
    known = {field.path for field in output.schema.fields}
    return output.schema if known.issuperset(name for name, _ in output.partition) else None


def _stored(schema: SchemaDefinition | None, kind: SourceKind) -> SchemaDefinition | None:
    """Drop nullability of files' fields: Spark reads every field of a file as nullable, whatever was written."""
    if schema is None or not schema.fields:
        return None
    if kind is not SourceKind.FILE:
        return schema
    return SchemaDefinition(tuple(msgspec.structs.replace(field, nullable=None) for field in schema.fields))


def _unless_empty(body: DatasetEvent) -> DatasetEvent | None:
    return None if body == DatasetEvent(dataset=body.dataset) else body


_LIMIT: Final = 10_000


class KnownTables:
    """Datasets that an application has used, by their names in catalogs: a catalog forgets a dropped table."""

    def __init__(self) -> None:
        self._datasets: OrderedDict[DatasetRef, DatasetRef] = OrderedDict()

    def see(self, description: PlanDescription) -> None:
        """Remember all tables that a plan names."""
        # Changes that have only a catalog name, or a new location, are left out: `resolved` looks up their tables here.
        changed = [each for each in description.changes if not each.by_name and not _is_moved(each)]
        named = [
            *((each.dataset, each.symlinks) for each in description.inputs),
            *((each.dataset, each.symlinks) for each in description.outputs),
            *((each.dataset, each.symlinks) for each in changed),
        ]
        for dataset, symlinks in named:
            self._see(dataset, symlinks)

    def _see(self, dataset: DatasetRef, symlinks: Iterable[Symlink]) -> None:
        for name in (dataset, *(DatasetRef(link.namespace, link.name) for link in symlinks)):
            self._datasets[name] = dataset
            self._datasets.move_to_end(name)
        while len(self._datasets) > _LIMIT:
            self._datasets.popitem(last=False)

    def resolved(self, change: DdlChange) -> DdlChange | None:
        """Return the change with the datasets' locations in place of names in a catalog.

        None for DROP IF EXISTS of a table that the application never used: it may not have existed.
        """
        dataset, previous = change.dataset, change.previous
        if change.if_exists and change.by_name and dataset not in self._datasets:
            return None
        if change.by_name:
            dataset = self._datasets.get(dataset, dataset)
        if change.previous_by_name and previous is not None:
            # The former location of a moved table that keeps its name is only known if capture saw it before.
            previous = self._datasets.get(previous, None if _is_moved(change) else previous)
            if _is_moved(change) and previous not in (None, dataset):
                change = replace(change, lifecycle=LifecycleChange.RENAME)
        known = replace(change, dataset=dataset, previous=previous if previous != dataset else None)
        self._forget(known)
        if change.previous_by_name and not change.by_name:
            self._see(known.dataset, known.symlinks)
        return known

    def _forget(self, change: DdlChange) -> None:
        """Forget names that no dataset has any longer: of dropped, moved and renamed tables."""
        names = {change.dataset, *(DatasetRef(link.namespace, link.name) for link in change.symlinks)}
        is_dropped, is_named = change.lifecycle is LifecycleChange.DROP, bool(change.symlinks)
        for name, dataset in list(self._datasets.items()):
            is_old = dataset == change.dataset and (is_dropped or (is_named and name not in names))
            if is_old or (change.previous is not None and dataset == change.previous):
                del self._datasets[name]


def _is_moved(change: DdlChange) -> bool:
    """Return True if a table has moved to another location under its old name."""
    return change.lifecycle is LifecycleChange.ALTER and change.previous_by_name
