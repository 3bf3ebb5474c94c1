"""Details of one consumer: a dashboard, report, API, model, export, search index or team."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from headwater_analysis.assets import Asset, dataset_asset
from headwater_analysis.declared import Declared, declared_together, owners_by_key
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.identity import Identities
from headwater_analysis.known.tags_and_uses import AssetTag, JobUse, job_uses
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.quality import Check, quality_of
from headwater_analysis.reader import Reader, Transaction
from headwater_graph.keys import consumer_key

MOST_DATASETS = 100
MOST_COLUMNS = 100
"""Maximum number of columns to show for each dataset that a consumer reads."""
MOST_WRITERS = 5
_MOST_CANDIDATES = 20
_MOST_NAMES = 10_000
"""Maximum number of consumers' names to compare with an unknown name."""
_SHORT_KEY = re.compile(r"[0-9a-fA-F]{4,32}")


@dataclass(frozen=True, slots=True)
class ConsumerName:
    """A consumer.

    Attributes:
        key: key of the node.
        name: name of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX or TEAM, where declared.
    """

    key: str
    name: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumedDataset:
    """A dataset that a consumer reads.

    Attributes:
        dataset: the dataset.
        gone: whether the dataset was dropped.
        columns: columns that the consumer reads; empty: all. At most 100.
        columns_total: number of columns that it reads; 0: all.
        owners: declared owners of the dataset, else the owners that events report.
        last_written: last time at which a job was observed to write it; None: never.
        writers: jobs that write it, the latest seen first; at most 5.
        writers_total: number of jobs that write it.
        checks: latest check results, one for each job or streaming query that checked the dataset.
    """

    dataset: Asset
    gone: bool
    columns: tuple[str, ...]
    columns_total: int
    owners: tuple[OwnerName, ...]
    last_written: datetime | None
    writers: tuple[JobUse, ...]
    writers_total: int
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerDetails:
    """Details of one consumer. If declaration sets contradict each other, the first set's value is shown.

    Attributes:
        consumer: the consumer.
        withdrawn: whether no declaration set declares it any more.
        description: description, if any.
        owners: owners of the consumer.
        tags: tags of the consumer.
        criticality: declared criticality.
        on_call: channel of the people on call.
        contact: address for questions.
        notice_days: days of notice that its people need before a change.
        freshness_seconds: maximum age of its data, in seconds.
        deadline: time of day by which it needs its data.
        url: address of the consumer.
        declared: all declarations of the consumer, with their declaration sets and contradictions.
        reads: datasets that it reads, in order of name; at most 100.
        reads_total: number of datasets that it reads.
    """

    consumer: ConsumerName
    withdrawn: bool
    description: str | None
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    criticality: str | None
    on_call: str | None
    contact: str | None
    notice_days: int | None
    freshness_seconds: int | None
    deadline: str | None
    url: str | None
    declared: Declared | None
    reads: tuple[ConsumedDataset, ...]
    reads_total: int


_STATED = (
    "description",
    "criticality",
    "on_call",
    "contact",
    "notice_days",
    "freshness_seconds",
    "deadline",
    "url",
)


def consumer_details(reader: Reader, text: str) -> ConsumerDetails:
    """Return the details of the consumer that `text` names.

    Raises:
        NotFoundError: no consumer has this name; with the nearest names.
        AmbiguousError: several keys have this prefix.
    """
    return reader.read(lambda tx: details_of(tx, resolve_consumer(tx, text)))


def resolve_consumer(tx: Transaction, text: str) -> ConsumerName:
    """Return the consumer that `text` names: its name, its key, or a unique prefix of its key.

    Raises:
        NotFoundError: no consumer has this name; with the nearest names.
        AmbiguousError: several keys have this prefix.
    """
    if not tx.declarations and tx.visible is None:
        raise NotFoundError(f"No consumer is called {text!r}: none is declared.")
    if (row := tx.row("known/consumer", keys=[consumer_key(tx.tenant, text), text])) is not None:
        return ConsumerName(row["key"], row["name"])
    if _SHORT_KEY.fullmatch(text) is not None:
        rows = tx.rows("known/consumers_by_prefix", prefix=text.lower(), limit=_MOST_CANDIDATES)
        if len(rows) > 1:
            raise AmbiguousError(
                f"Several consumers have keys that begin with {text!r}: give more of it.",
                candidates=[row["key"] for row in rows],
            )
        if rows:
            return ConsumerName(rows[0]["key"], rows[0]["name"])
    named = [row["name"] for row in tx.rows("known/consumer_names", limit=_MOST_NAMES)]
    spelled: dict[str, list[str]] = {}
    for name in named:
        spelled.setdefault(name.casefold(), []).append(name)
    near = difflib.get_close_matches(text.casefold(), spelled, n=5, cutoff=0.4)
    raise NotFoundError(
        f"No consumer is called {text!r}.", nearest=[name for each in near for name in spelled[each]][:5]
    )


def details_of(tx: Transaction, consumer: ConsumerName) -> ConsumerDetails:
    """Return the details of a resolved consumer."""
    declared = declared_together(tx, [consumer.key])
    stated = Declared() if declared is None else declared
    reads, total = _reads(tx, consumer.key)
    return ConsumerDetails(
        consumer=ConsumerName(consumer.key, consumer.name, stated.values.get("type")),
        withdrawn=declared is None,
        **{name: stated.values.get(name) for name in _STATED},
        owners=owners_of(stated.values),
        tags=tuple(AssetTag(*tag) for tag in stated.tags()),
        declared=declared,
        reads=reads,
        reads_total=total,
    )


def _reads(tx: Transaction, key: str) -> tuple[tuple[ConsumedDataset, ...], int]:
    """Datasets that a consumer reads, each once even if it has several names, and their number."""
    rows = tx.rows("known/datasets_of_consumer", key=key, most=MOST_DATASETS, most_columns=MOST_COLUMNS)
    if not rows:
        return (), 0
    identities = Identities.of(tx)
    identities.look_at(row["dataset"]["key"] for row in rows)
    grouped: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        grouped.setdefault(identities.shown(row["dataset"]["key"]), []).append(row)
    members = [{"key": shown, "keys": identities.members(shown)} for shown in grouped]
    writers = {row["key"]: row for row in tx.rows("known/writers", datasets=members, most=MOST_WRITERS)}
    assets = {shown: _asset(identities, shown, named) for shown, named in grouped.items()}
    checks = {each.dataset.key: each.checks for each in quality_of(tx, [asset for asset, _ in assets.values()])}
    owners = owners_by_key(tx, [row["dataset"] for row in rows])
    jobs = [(shown, row) for shown in grouped for row in writers[shown]["jobs"]]
    uses: dict[str, list[JobUse]] = defaultdict(list)
    for (shown, _), use in zip(jobs, job_uses(tx, [row for _, row in jobs]), strict=True):
        uses[shown].append(use)
    found = []
    for shown, named in grouped.items():
        asset, gone = assets[shown]
        written = tuple(uses[shown])
        columns = sorted({column for row in named for column in row["columns"]})
        # If the consumer reads the dataset as a whole under one name, it reads all columns.
        whole = any(not row["columns"] for row in named)
        found.append(
            ConsumedDataset(
                dataset=asset,
                gone=gone,
                columns=() if whole else tuple(columns[:MOST_COLUMNS]),
                columns_total=0 if whole else max(len(columns), *(row["columns_total"] for row in named)),
                owners=next((own for row in named if (own := owners[row["dataset"]["key"]])), ()),
                last_written=max((use.last_seen for use in written if use.last_seen), default=None),
                writers=written,
                writers_total=writers[shown]["total"],
                checks=checks.get(asset.key, ()),
            )
        )
    found.sort(key=lambda each: each.dataset.spelling)
    return tuple(found), rows[0]["total"] - (len(rows) - len(found))


def _asset(identities: Identities, shown: str, rows: list[Mapping[str, Any]]) -> tuple[Asset, bool]:
    """Dataset under its shown name, and whether it was dropped."""
    if (named := identities.named(shown)) is not None:
        return named.asset, named.dropped
    own = rows[0]["dataset"]
    return dataset_asset(own), bool(own.get("dropped"))
