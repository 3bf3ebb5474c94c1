"""Consumers of what changes, is wrong or flows on: whom to notify."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from headwater_consumers.analysis.assets import Asset, column_asset, dataset_asset
from headwater_consumers.analysis.declared.ask import declared
from headwater_consumers.analysis.identity import Identities
from headwater_consumers.analysis.owners import OwnerName, owners_of
from headwater_consumers.analysis.reader import Transaction

MOST_READS: Final = 20


@dataclass(frozen=True, slots=True)
class ReadingConsumer:
    """A consumer that reads some of the assets asked about, as declared.

    Attributes:
        key: of the Consumer.
        name: of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX or TEAM, where declared.
        owners: who answers for it.
        on_call: channel of whoever mends it.
        contact: whom to write to.
        criticality: how much depends on it.
        notice_days: how long before a change its people have to know of it.
        freshness_seconds: how old its data may be.
        deadline: when its data has to be there.
        url: where people find it.
        reads: the assets asked about that it reads, by name; at most 20.
        reads_total: how many there are.
        sets: ids of the declaration sets that declare it.
    """

    key: str
    name: str
    type: str | None
    owners: tuple[OwnerName, ...]
    on_call: str | None
    contact: str | None
    criticality: str | None
    notice_days: int | None
    freshness_seconds: int | None
    deadline: str | None
    url: str | None
    reads: tuple[Asset, ...]
    reads_total: int
    sets: tuple[str, ...]


def consumers_of(tx: Transaction, nodes: Iterable[int]) -> tuple[ReadingConsumer, ...]:
    """The consumers of datasets and columns, by Neo4j's ids, in order of name, under whatever name they read these.

    A column is read by who names it, and by who reads its dataset and names no column of it.
    """
    if not tx.consumers:
        return ()
    identities, asked = Identities.of(tx), list(nodes)
    identities.learn(asked)
    return _consumers(tx, tx.rows("declared/consumers", nodes=sorted(identities.expanded(asked))))


def consumers_of_datasets(tx: Transaction, keys: Iterable[str]) -> tuple[ReadingConsumer, ...]:
    """The consumers of datasets, by key, in order of name, under whatever name they read these."""
    if not tx.consumers:
        return ()
    identities, asked = Identities.of(tx), sorted(keys)
    identities.look_at(asked)
    members = {member for key in asked for member in identities.members(key)}
    return _consumers(tx, tx.rows("declared/consumers_of_datasets", keys=sorted(members)))


def _consumers(tx: Transaction, rows: list[Any]) -> tuple[ReadingConsumer, ...]:
    known = declared(tx, [row["key"] for row in rows]) if rows else {}
    found = []
    for row in rows:
        about = known.get(row["key"])
        values = {} if about is None else about.values
        reads = sorted({_asset(read) for read in row["reads"]}, key=lambda asset: asset.spelling)
        found.append(
            ReadingConsumer(
                row["key"],
                row["name"],
                values.get("type"),
                owners_of(values),
                values.get("on_call"),
                values.get("contact"),
                values.get("criticality"),
                values.get("notice_days"),
                values.get("freshness_seconds"),
                values.get("deadline"),
                values.get("url"),
                tuple(reads[:MOST_READS]),
                len(reads),
                () if about is None else tuple(about.sets),
            )
        )
    return tuple(sorted(found, key=lambda consumer: (consumer.name, consumer.key)))


def _asset(read: Any) -> Asset:
    return dataset_asset(read["dataset"]) if read["column"] is None else column_asset(read["dataset"], read["column"])
