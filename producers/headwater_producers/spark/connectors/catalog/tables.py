"""Catalog tables, V1 and V2: names and locations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from headwater_producers.spark.connectors.connector_questions import JvmLeaf, unwrapped
from headwater_producers.spark.connectors.context import SessionContext
from headwater_producers.spark.connectors.registry import REGISTRY, first_answer
from headwater_producers.spark.jvm.scala import class_name, items, kept, option, setting
from headwater_producers.spark.plan.description import PlanInput, PlanOutput, SourceKind, WriteMode
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import LIFECYCLES
from headwater_schemas import naming
from headwater_schemas.events import DatasetRef, Storage, Symlink
from headwater_schemas.naming import NamedTable


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """V2 table as its catalog describes it.

    Attributes:
        provider: `iceberg`, `delta`, `parquet` …
        type: TABLE, VIEW, or FILE for a table that has only a path.
        catalog: name of the catalog in the session; None for Spark's own.
    """

    dataset: DatasetRef
    symlinks: tuple[Symlink, ...] = ()
    provider: str | None = None
    storage: Storage | None = None
    type: str = "TABLE"
    catalog: str | None = None


def named(context: SessionContext, catalog: Any, identifier: Any, table: Any) -> CatalogEntry:
    """Name a V2 table by catalog (None: the session's), identifier, and loaded table (None: not loaded)."""
    catalog_name = str(catalog.name()) if catalog is not None else None
    names = first_answer(each.catalog(context, catalog_name) for each in REGISTRY) if catalog_name is not None else None
    name = str(identifier.toString())
    if table is None:
        found = context.table(name, None, catalog=catalog_name, names=names)
        return CatalogEntry(found.ref, found.symlinks, catalog=catalog_name)
    described = REGISTRY.v2_table(table)
    location, provider, storage = described.location, described.provider, described.storage()
    name = described.own_name(name)
    if location is not None and described.is_path(name):
        # The path is the dataset's only name.
        return CatalogEntry(naming.path(location), (), provider, storage, type="FILE", catalog=catalog_name)
    found = context.table(name, location, catalog=catalog_name, names=names)
    return CatalogEntry(found.ref, found.symlinks, provider, storage, catalog=catalog_name)


def relation_table(context: SessionContext, relation: Any) -> CatalogEntry | None:
    """Return the table of a JVM `DataSourceV2Relation`; None if no catalog names it."""
    identifier, catalog = option(relation.identifier()), option(relation.catalog())
    if identifier is None:
        return None
    return named(context, catalog, identifier, unwrapped(kept(relation, "table")))


def v1_name(identifier: Any, context: SessionContext) -> NamedTable:
    """Name a table or view of Spark's own catalog by its JVM `TableIdentifier` alone."""
    return context.table(f"{option(identifier.database()) or 'default'}.{identifier.table()}", None)


def v1_partition_columns(table: Any) -> tuple[str, ...]:
    """Return the partition columns of a JVM `CatalogTable`."""
    return tuple(str(name) for name in items(table.partitionColumnNames()))


def v1_output(
    context: SessionContext, table: Any | None, path: str, mode: WriteMode, file_format: str | None, storage: Storage
) -> PlanOutput:
    """Build the output for a write to a JVM `CatalogTable`, or to a path without a table (None)."""
    found = context.catalog_table(table) if table is not None else None
    return PlanOutput(
        dataset=found.ref if found else naming.path(path),
        kind=SourceKind.TABLE if found else SourceKind.FILE,
        type="TABLE" if found else "FILE",
        mode=mode,
        format=file_format,
        storage=storage,
        symlinks=found.symlinks if found else (),
    )


def table_output(entry: CatalogEntry, mode: WriteMode, table: Any | None) -> PlanOutput:
    """Build the output for a catalog's V2 table; `table` None: it couldn't be loaded."""
    output = PlanOutput(
        dataset=entry.dataset,
        kind=SourceKind.TABLE,
        type=entry.type,
        mode=mode,
        format=entry.provider,
        storage=entry.storage,
        symlinks=entry.symlinks,
        lifecycle=LIFECYCLES.get(mode),
    )
    if table is None:
        return output
    branch = REGISTRY.v2_table(unwrapped(table)).branch()
    return replace(output, partition_columns=_partition_columns(table), branch=branch)


def _partition_columns(table: Any) -> tuple[str, ...]:
    """Return the columns that a V2 table is partitioned by, directly or by a transform."""
    names = (".".join(reference.fieldNames()) for each in table.partitioning() for reference in each.references())
    return tuple(dict.fromkeys(names))


def is_staged(table: Any) -> bool:
    """Return True if the table is staged: CREATE TABLE AS will create it together with its rows."""
    return class_name(table).startswith("Staged")


def read_table(leaf: JvmLeaf, entry: CatalogEntry, *, is_whole: bool = True) -> Leaf:
    """Describe a leaf as a read of a catalog's V2 table.

    Args:
        is_whole: True if the leaf's columns are those of the table's newest version.
    """
    batch = leaf.batch()
    return batch.table(entry.dataset, entry.storage, entry.symlinks, batch.schema() if is_whole else None)


def read_other(leaf: JvmLeaf) -> Leaf:
    """Describe the reads of a leaf without a connector: a V2 table by its name in a catalog, or by its path."""
    subject = leaf.subject
    if subject is leaf.plan:
        return Leaf(problem=f"what a {class_name(leaf.plan)} reads isn't known")
    if not class_name(leaf.relation).endswith(("V2Relation", "V2")):
        return Leaf(problem=f"what a {class_name(subject)} reads isn't known")
    if leaf.is_streamed:
        dataset = leaf.context.in_memory(str(subject.name()).split("(")[0].lower())
        read = PlanInput(
            dataset=dataset,
            kind=SourceKind.GENERATED,
            type="STREAM",
            schema=leaf.schema(),
            source_index=leaf.index,
        )
        return Leaf(inputs=(read,))
    entry = relation_table(leaf.context, leaf.relation)
    return read_table(leaf, entry) if entry is not None else _read_unnamed(leaf.batch(), subject)


def _read_unnamed(leaf: JvmLeaf, table: Any) -> Leaf:
    path = setting(leaf.options, "path")
    if path is None:
        dataset = leaf.context.in_memory(str(table.name()).split("(")[0].split(" ")[0])
        return Leaf(inputs=(PlanInput(dataset=dataset, kind=SourceKind.UNKNOWN, schema=leaf.schema()),))
    kind = SourceKind.FILE
    return Leaf(inputs=(PlanInput(dataset=naming.path_pattern(path), kind=kind, type="FILE", schema=leaf.schema()),))
