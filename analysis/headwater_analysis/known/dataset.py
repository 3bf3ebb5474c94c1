"""Details of one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Annotated, Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.declared import (
    Declared,
    ReadingConsumer,
    consumers_of_datasets,
    declared_together,
)
from headwater_analysis.facets import Facet, facets_of
from headwater_analysis.identity import Identities
from headwater_analysis.known.tags_and_uses import (
    AssetTag,
    JobUse,
    job_uses,
    tags_of,
)
from headwater_analysis.moments import moment
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.quality import Check, quality_of
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset
from headwater_analysis.runs.last_good_run import quality_turns
from headwater_analysis.runs.list_runs import ask_runs
from headwater_analysis.runs.records import BusinessVersion, QualityTurn, Role, RunItem
from headwater_analysis.runs.run_details import business_versions_of
from headwater_analysis.runs.versions import VersionItem, latest_versions
from headwater_analysis.schemas import KnownSchema, schemas_of
from headwater_analysis.texts import TEXT
from headwater_schemas.events import RunEventType

MOST_COLUMNS = 1_000
MOST_JOBS = 100
MOST_RUNS = 5
MOST_VERSIONS = 5
MOST_SCHEMAS = 10
MOST_QUERIES = 20
"""Maximum number of queries whose quality is shown."""


@dataclass(frozen=True, slots=True)
class KnownColumn:
    """A column of a dataset.

    Attributes:
        key: key of the node.
        name: field path.
        type: data type, where known.
        nullable: whether it may hold nulls, where known.
        description: description, if any.
        current: whether it is in the current schema. False: it left the schema, or only plans name it.
        tags: tags of this column.
        first_seen: time of the earliest schema that has it.
        last_seen: for a column that left, time of the last schema that had it.
    """

    key: str
    name: str
    type: str | None
    nullable: bool | None
    description: str | None
    current: bool
    tags: tuple[AssetTag, ...]
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class OtherName:
    """Another name of a dataset.

    Attributes:
        namespace: namespace of that name.
        name: the name.
        type: type of the link, such as TABLE; None if unknown.
    """

    namespace: str
    name: str
    type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetDetails:
    """Details of one dataset.

    Attributes:
        dataset: the dataset.
        description: description, if any.
        owners: owners that its events report.
        tags: tags of the whole dataset; a column has its own tags.
        classification, criticality: classification and criticality that its own events report.
        declared: declarations of the dataset and of its columns; None if there are none.
        declared_consumers: dashboards, teams and others that are declared to read it.
        storage_layer, storage_format: layer and format of the storage, such as `iceberg` and `parquet`.
        source_uri: location of its data.
        known_as: all its other names: former names, names in catalogs, names of a topic by other brokers. The answer
            includes facts under each of these names.
        symlinks: other names that its own latest events report.
        lifecycle: last change of the dataset as a whole: CREATE, OVERWRITE, DROP …
        gone: whether the dataset was dropped.
        dropped_at: time of the DROP.
        renamed_from: the dataset before its last RENAME, if any.
        renamed_to: datasets after each RENAME, if any.
        columns: columns of the current schema in its order, then columns that left it; at most 1,000.
        columns_total: number of all columns.
        schemas: current and former schemas, the last reported first, each with its changes; at most 10.
        schemas_total: number of all schemas.
        producers: jobs that write it, the last seen first; at most 100.
        producers_total: number of jobs that write it.
        consumers: jobs that read it, the last seen first; at most 100.
        consumers_total: number of jobs that read it.
        runs: latest runs that wrote it, at most 5.
        versions: latest versions, at most 5.
        versions_total: number of its known versions.
        business_versions: versions of reference data that the latest run used to write it.
        quality: changes between passing and failing assertions of each streaming query that writes it; at most 20
            queries.
        checks: latest check results, one for each job or streaming query that checked the dataset.
        facets: further facets of the dataset in events.
    """

    dataset: Asset
    description: str | None
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    classification: str | None
    criticality: str | None
    declared: Declared | None
    declared_consumers: tuple[ReadingConsumer, ...]
    storage_layer: str | None
    storage_format: str | None
    source_uri: Annotated[str | None, TEXT]
    known_as: tuple[str, ...]
    symlinks: tuple[OtherName, ...]
    lifecycle: str | None
    gone: bool
    dropped_at: datetime | None
    renamed_from: Asset | None
    renamed_to: tuple[Asset, ...]
    columns: tuple[KnownColumn, ...]
    columns_total: int
    schemas: tuple[KnownSchema, ...]
    schemas_total: int
    producers: tuple[JobUse, ...]
    producers_total: int
    consumers: tuple[JobUse, ...]
    consumers_total: int
    runs: tuple[RunItem, ...]
    versions: tuple[VersionItem, ...]
    versions_total: int
    business_versions: tuple[BusinessVersion, ...]
    quality: tuple[QualityTurn, ...]
    checks: tuple[Check, ...]
    facets: Annotated[tuple[Facet, ...], TEXT]


def dataset_details(reader: Reader, text: str) -> DatasetDetails:
    """Return the details of the dataset that `text` names.

    Raises:
        NotFoundError: no dataset has this name; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    return reader.read(lambda tx: details_of(tx, resolve_dataset(tx, text).asset))


def details_of(tx: Transaction, asset: Asset) -> DatasetDetails:
    """Return the details of a resolved dataset."""
    identities = Identities.of(tx)
    keys = identities.members(asset.key)
    row = tx.one("known/dataset", key=asset.key, keys=keys)
    own = row["properties"]
    tags = tags_of(own)
    names = ("symlink_namespaces", "symlinks", "symlink_types")
    links = list(zip_longest(*(own.get(name) or () for name in names), fillvalue=""))
    unchanged = ("description", "classification", "criticality", "storage_layer", "storage_format", "source_uri")
    runs = ask_runs(tx, "of", asset, Role.WROTE, limit=MOST_RUNS)
    schemas, schemas_total = schemas_of(tx, keys, most=MOST_SCHEMAS)
    return DatasetDetails(
        dataset=asset,
        **{name: own.get(name) or None for name in (*unchanged, "lifecycle")},
        owners=owners_of(own),
        tags=tuple(tag for tag in tags if tag.column is None),
        declared=declared_together(tx, keys),
        declared_consumers=consumers_of_datasets(tx, keys),
        known_as=identities.known_as(asset.key),
        symlinks=tuple(OtherName(namespace, name, type_ or None) for namespace, name, type_ in links),
        gone=bool(own.get("dropped")),
        dropped_at=moment(own.get("dropped_at")),
        renamed_from=None if row["renamed_from"] is None else dataset_asset(row["renamed_from"]),
        renamed_to=tuple(dataset_asset(each) for each in row["renamed_to"]),
        columns=tuple(
            known_column(each["column"], each["link"], tags)
            for each in tx.rows("known/columns", keys=keys, most=MOST_COLUMNS)
        ),
        columns_total=row["columns_total"],
        schemas=schemas,
        schemas_total=schemas_total,
        producers=job_uses(tx, tx.rows("known/jobs_of_dataset", keys=keys, link="WRITES", most=MOST_JOBS)),
        producers_total=row["producers_total"],
        consumers=job_uses(tx, tx.rows("known/jobs_of_dataset", keys=keys, link="READS", most=MOST_JOBS)),
        consumers_total=row["consumers_total"],
        runs=tuple(runs),
        versions=latest_versions(tx, asset, MOST_VERSIONS),
        versions_total=row["versions_total"],
        business_versions=_business_versions(tx, runs, keys),
        quality=quality_turns(tx, asset, most=MOST_QUERIES),
        checks=tuple(check for each in quality_of(tx, [asset]) for check in each.checks),
        facets=facets_of(own),
    )


def _business_versions(tx: Transaction, runs: Iterable[RunItem], keys: list[str]) -> tuple[BusinessVersion, ...]:
    # A failed streaming run may still have written micro-batches.
    last = next((run for run in runs if run.state is not RunEventType.FAIL or run.first_batch is not None), None)
    if last is None:
        return ()
    return tuple(each for each in business_versions_of(tx, last) if any(output.key in keys for output in each.outputs))


def known_column(column: Mapping[str, Any], link: Mapping[str, Any], tags: Iterable[AssetTag]) -> KnownColumn:
    """Build a column from its Column node, its HAS_COLUMN relationship, and the tags of its dataset."""
    return KnownColumn(
        key=column["key"],
        name=column["name"],
        type=column.get("data_type") or None,
        nullable=column.get("nullable"),
        description=column.get("description") or None,
        current=bool(link.get("current")),
        tags=tuple(tag for tag in tags if tag.column == column["name"]),
        first_seen=moment(link.get("first_seen")),
        last_seen=moment(link.get("last_seen")),
    )
