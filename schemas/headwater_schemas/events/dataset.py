"""DatasetEvent: facts of one dataset itself. Each field is a separate register; None leaves it unchanged."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from headwater_schemas.events.common import DatasetRef, Owner, Tag


class LifecycleChange(StrEnum):
    """OpenLineage's `lifecycleStateChange`. DROP is a tombstone that a later CREATE lifts."""

    UNKNOWN = "UNKNOWN"
    ALTER = "ALTER"
    CREATE = "CREATE"
    DROP = "DROP"
    OVERWRITE = "OVERWRITE"
    RENAME = "RENAME"
    TRUNCATE = "TRUNCATE"


class SchemaField(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a dataset; `path` is the full path, also of a nested field, written as in `ColumnEdge`."""

    path: str
    type: str | None = None
    nullable: bool | None = None
    description: str | None = None


class SchemaDefinition(msgspec.Struct, frozen=True):
    """The fields of a dataset in order, a parent before its children, each path once."""

    fields: tuple[SchemaField, ...]


class Storage(msgspec.Struct, frozen=True):
    """OpenLineage's storage facet: `Storage("iceberg", "parquet")`."""

    layer: str
    format: str | None = None


class Symlink(msgspec.Struct, frozen=True, order=True):
    """Another name of the same dataset: `type` is TABLE or LOCATION, as in OpenLineage."""

    namespace: str
    name: str
    type: str | None = None


class DatasetEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Schema, type, owners, tags, classification, storage, symlinks, lifecycle of one dataset.

    Attributes:
        dataset: namespace and name.
        type: OpenLineage's dataset type, e.g. TABLE, VIEW, FILE, TOPIC, STREAM, MODEL.
        schema: fields of the dataset.
        description: text for people.
        owners, tags: sets; a new set replaces the whole previous set.
        classification: sensitivity, e.g. `restricted`.
        criticality: importance for its readers, e.g. `tier-1`.
        storage: location and format of its data.
        symlinks: other names of the dataset.
        lifecycle: change of the dataset at `event_time`.
        previous: for RENAME, the previous name.
        source_uri: URI of the dataset's data source, as in OpenLineage; empty: deleted.
        facets: OpenLineage facets that have no field here, name to JSON text, verbatim.
    """

    dataset: DatasetRef
    type: str | None = None
    schema: SchemaDefinition | None = None
    description: str | None = None
    owners: tuple[Owner, ...] | None = None
    tags: tuple[Tag, ...] | None = None
    classification: str | None = None
    criticality: str | None = None
    storage: Storage | None = None
    symlinks: tuple[Symlink, ...] | None = None
    lifecycle: LifecycleChange | None = None
    previous: DatasetRef | None = None
    source_uri: str | None = None
    facets: dict[str, str] = {}
