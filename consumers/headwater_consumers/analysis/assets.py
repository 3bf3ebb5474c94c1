"""Assets as answers show them: datasets, columns, jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class AssetKind(StrEnum):
    """What an asset is."""

    DATASET = "DATASET"
    COLUMN = "COLUMN"
    JOB = "JOB"


@dataclass(frozen=True, slots=True)
class Asset:
    """A dataset, a column of one, or a job.

    Attributes:
        kind: which of these.
        key: of the node: 32 hex digits.
        namespace: by OpenLineage's naming, of the dataset where it is a column.
        name: likewise.
        column: the field path, of a column.
        title: short, for captions.
        type: a dataset's type, a column's data type, a job's processing type; where known.
    """

    kind: AssetKind
    key: str
    namespace: str
    name: str
    column: str | None = None
    title: str | None = None
    type: str | None = None

    @property
    def spelling(self) -> str:
        """How a person may name it, and `resolve` understands it: `kafka://broker:9092/orders`, `file:/tmp/x`."""
        return spelling(self.namespace, self.name) + (f"#{self.column}" if self.column is not None else "")


def spelling(namespace: str, name: str) -> str:
    """A dataset or job in one word: `kafka://broker:9092/orders`, `s3://bucket/x`, `file:/tmp/x`, `default/enrich`."""
    if not name.startswith("/"):
        return f"{namespace}/{name}"
    return namespace + name if "://" in namespace else f"{namespace}:{name}"


def dataset_asset(properties: Mapping[str, Any]) -> Asset:
    """From a Dataset node's `key`, `namespace`, `name`, `title`, `type`."""
    return Asset(
        AssetKind.DATASET,
        properties["key"],
        properties["namespace"],
        properties["name"],
        title=properties.get("title"),
        type=properties.get("type"),
    )


def column_asset(dataset: Mapping[str, Any], column: Mapping[str, Any]) -> Asset:
    """From a Column node and the Dataset node that has it."""
    return Asset(
        AssetKind.COLUMN,
        column["key"],
        dataset["namespace"],
        dataset["name"],
        column["name"],
        title=dataset.get("title"),
        type=column.get("data_type"),
    )


def job_asset(properties: Mapping[str, Any]) -> Asset:
    """From a Job node's `key`, `namespace`, `name`, `processing_type`."""
    return Asset(
        AssetKind.JOB,
        properties["key"],
        properties["namespace"],
        properties["name"],
        type=properties.get("processing_type"),
    )
