"""Names of datasets, columns and jobs, and their keys, as the materializer makes them."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass

from headwater_benchmarks.estate.feeds import Feeds
from headwater_benchmarks.estate.lines import DATASETS, Lines
from headwater_benchmarks.estate.sizes import Sizes
from headwater_benchmarks.estate.times import BEGIN
from headwater_graph import keys
from headwater_graph.facts.registers import stamp
from headwater_graph.words import dataset_title

TENANT = "default"
STAMP = stamp(BEGIN, str(uuid.uuid5(uuid.NAMESPACE_URL, "estate")))
"""Stamp of everything that is imported, so that the writer of micro-batches can join it."""
JOBS_NAMESPACE = "estate"
TOPICS_NAMESPACE = "kafka://estate"
TABLES_NAMESPACE = "s3://estate"

_AREAS = ("orders", "payments", "customers", "shipping", "stock", "clicks", "returns", "loyalty", "fraud", "finance")
_NOUNS = (
    *("order", "customer", "item", "payment", "store", "parcel", "price", "session", "event", "account"),
    *("product", "address", "invoice", "refund", "voucher", "carrier", "supplier", "device", "page", "campaign"),
)
_PARTS = (
    *("id", "name", "type", "status", "at", "amount", "currency", "count", "total", "rate", "code", "country"),
    *("channel", "source", "version", "flag", "reason", "rank", "score", "hash", "date", "key", "group", "unit"),
)
COLUMN_NAMES = tuple(f"{noun}_{part}" for noun in _NOUNS for part in _PARTS)
DATA_TYPES = {"id": "bigint", "count": "bigint", "amount": "double", "at": "timestamp", "date": "date"}


@dataclass(frozen=True, slots=True)
class Dataset:
    """Names of a dataset."""

    namespace: str
    name: str
    title: str
    type: str
    key: str


@dataclass(frozen=True, slots=True)
class Job:
    """Names of a job and of what there is one of for each: its plan and its run."""

    name: str
    key: str
    digest: str
    plan_key: str
    run_id: str
    run_key: str


def datasets_of(sizes: Sizes, lines: Lines) -> list[Dataset]:
    """All datasets, by index."""
    return [_dataset(index, lines) for index in range(sizes.datasets)]


def jobs_of(feeds: Feeds, lines: Lines) -> list[Job]:
    """All jobs, by index."""
    return [_job(index, index < len(lines.queries)) for index in range(len(feeds.job_targets))]


def query_id(number: int) -> str:
    """The id of a streaming query."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"estate/query/{number}"))


def digest(*parts: object) -> str:
    """32 hex digits that stand for something."""
    return hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=16).hexdigest()


def _dataset(index: int, lines: Lines) -> Dataset:
    line, number = divmod(index, DATASETS)
    if lines.is_topic(index):
        namespace, name, type_ = TOPICS_NAMESPACE, f"line-{line:03}.step-{number}", "TOPIC"
    elif index < lines.datasets:
        namespace, name, type_ = TABLES_NAMESPACE, f"lines/line-{line:03}-table-{number}", "TABLE"
    else:
        area = _AREAS[index % len(_AREAS)]
        namespace, name, type_ = TABLES_NAMESPACE, f"{area}/{area}_{index:06}", ("TABLE", "FILE")[index % 3 == 0]
    return Dataset(namespace, name, dataset_title(name), type_, keys.dataset_key(TENANT, namespace, name))


def _job(index: int, streaming: bool) -> Job:  # noqa: FBT001
    name = f"stream-{index:04}" if streaming else f"batch-{index:06}"
    key, plan = keys.job_key(TENANT, JOBS_NAMESPACE, name), digest("plan", index)
    run_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"estate/run/{index}"))
    return Job(name, key, plan, keys.plan_key(TENANT, key, plan), run_id, keys.run_key(TENANT, run_id))
