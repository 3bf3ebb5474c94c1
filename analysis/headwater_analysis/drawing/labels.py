"""Labels of datasets for the drawing, for neighbours and for the most used datasets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.declared import Declared, declared_of_datasets
from headwater_analysis.degrees import NearDatasets
from headwater_analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class DatasetLabels:
    """A dataset with its labels.

    Attributes:
        asset: the dataset.
        gone: whether it was dropped.
        owners: owners declared under any of its names, else the owners that events report.
        tags: tags of the dataset and its columns, as `key` or `key=value`: reported by events, then declared.
        criticality, classification: reported by events, else declared.
        owners_of_jobs: owners of the jobs that write it; at most 20.
        sensitivity: greatest declared sensitivity of the dataset and its columns.
        contact: declared person or channel for messages, else the declared channel of the people on call.
    """

    asset: Asset
    gone: bool
    owners: tuple[str, ...]
    tags: tuple[str, ...]
    criticality: str | None
    classification: str | None
    owners_of_jobs: tuple[str, ...]
    sensitivity: str | None
    contact: str | None


@dataclass(frozen=True, slots=True)
class CountedDataset:
    """A dataset with labels, and the numbers of its direct neighbours.

    Attributes:
        asset: the dataset.
        owners: owners declared under any of its names, else the owners that events report.
        owners_of_jobs: owners of the jobs that write it; at most 20.
        tags: tags of the dataset and its columns, as `key` or `key=value`: reported by events, then declared.
        criticality: reported by events, else declared.
        sensitivity: greatest declared sensitivity of the dataset and its columns.
        gone: whether it was dropped.
        upstream_total: number of datasets that feed it, itself left out.
        downstream_total: number of datasets that it feeds, itself left out.
    """

    asset: Asset
    owners: tuple[str, ...]
    owners_of_jobs: tuple[str, ...]
    tags: tuple[str, ...]
    criticality: str | None
    sensitivity: str | None
    gone: bool
    upstream_total: int
    downstream_total: int


def counted(labels: DatasetLabels, near: NearDatasets) -> dict[str, Any]:
    """Fields of a `CountedDataset`."""
    names = ("asset", "owners", "owners_of_jobs", "tags", "criticality", "sensitivity", "gone")
    totals = {"upstream_total": len(near.upstream), "downstream_total": len(near.downstream)}
    return {name: getattr(labels, name) for name in names} | totals


def labels_of(tx: Transaction, nodes: Iterable[int]) -> dict[int, DatasetLabels]:
    """Labels of shown datasets by Neo4j's id, in the order of `nodes`."""
    ids = list(nodes)
    rows = {row["node"]: row for row in tx.rows("drawing/datasets", nodes=ids)}
    about = declared_of_datasets(tx, [row["properties"]["key"] for row in rows.values()])
    out = {}
    for node in ids:
        row = rows[node]
        stated = about.get(row["properties"]["key"], Declared())
        tags = [*zip(row["tags"], row["tag_values"], strict=True), *((key, value) for key, value, _ in stated.tags())]
        out[node] = DatasetLabels(
            asset=dataset_asset(row["properties"]),
            gone=row["gone"],
            owners=tuple(stated.values.get("owners") or row["owners"]),
            tags=tuple(dict.fromkeys(f"{tag}={value}" if value else tag for tag, value in tags)),
            criticality=row["criticality"] or stated.values.get("criticality"),
            classification=row["classification"] or stated.values.get("classification"),
            owners_of_jobs=tuple(row["owners_of_jobs"]),
            sensitivity=stated.sensitivity(),
            contact=stated.values.get("contact") or stated.values.get("on_call"),
        )
    return out


def keys_of(tx: Transaction, nodes: Iterable[int]) -> dict[int, str]:
    """Keys of datasets by Neo4j's id."""
    row = tx.one("lineage/dataset_keys", nodes=list(nodes))
    return dict(zip(row["nodes"], row["keys"], strict=True))
