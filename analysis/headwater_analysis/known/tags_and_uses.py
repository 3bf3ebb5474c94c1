"""Tags and uses: parts that are common to the details and to the lists of datasets and jobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import zip_longest
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset, job_asset
from headwater_analysis.declared import owners_by_key
from headwater_analysis.moments import moment
from headwater_analysis.owners import OwnerName
from headwater_analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class AssetTag:
    """A tag of a dataset, of one of its columns, or of a job.

    Attributes:
        key: key of the tag, such as `pii`.
        value: value of the tag; '' if it has none.
        column: field path, for a tag of one column; None: the whole dataset or job.
        source: person or program that set it, where known.
    """

    key: str
    value: str
    column: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class JobUse:
    """A job that writes or reads a dataset.

    Attributes:
        job: the job.
        owners: owners of the job.
        observed: whether a run, micro-batch or plan of the job was observed to write or read the dataset.
        declared: whether this use is declared now.
        first_seen, last_seen: the span in which it was observed.
    """

    job: Asset
    owners: tuple[OwnerName, ...]
    observed: bool
    declared: bool
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class JobDataset:
    """A dataset that a job reads or writes.

    Attributes:
        dataset: the dataset.
        gone: whether the dataset was dropped.
        observed: whether the use was observed in a run, micro-batch or plan of the job.
        declared: whether this use is declared now.
        first_seen, last_seen: the span in which it was observed.
    """

    dataset: Asset
    gone: bool
    observed: bool
    declared: bool
    first_seen: datetime | None
    last_seen: datetime | None


def tags_of(properties: Mapping[str, Any]) -> tuple[AssetTag, ...]:
    """Build tags from a node's parallel lists `tags`, `tag_values`, `tag_fields` and `tag_sources`."""
    names = ("tags", "tag_values", "tag_fields", "tag_sources")
    rows = zip_longest(*(properties.get(name) or () for name in names), fillvalue="")
    return tuple(AssetTag(key, value, field or None, source or None) for key, value, field, source in rows if key)


def job_uses(tx: Transaction, rows: Iterable[Mapping[str, Any]]) -> tuple[JobUse, ...]:
    """Build uses from READS or WRITES relationships (`link`) and their Jobs.

    The owners of a job are its declared owners; without any, the owners that events report.
    """
    rows = list(rows)
    known = owners_by_key(tx, [row["job"] for row in rows])
    return tuple(JobUse(job_asset(row["job"]), known[row["job"]["key"]], *_link(row["link"])) for row in rows)


def dataset_use(row: Mapping[str, Any]) -> JobDataset:
    """Build a use from a READS or WRITES relationship (`link`) and its Dataset."""
    return JobDataset(dataset_asset(row["dataset"]), bool(row["dataset"].get("dropped")), *_link(row["link"]))


def _link(link: Mapping[str, Any]) -> tuple[bool, bool, datetime | None, datetime | None]:
    first, last = (moment(link.get(name)) for name in ("first_seen", "last_seen"))
    return bool(link.get("observed")), bool(link.get("declared")), first, last
