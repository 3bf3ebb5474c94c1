"""Declared consumers to notify about changed, wrong or passed-on data."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from headwater_analysis.assets import Asset, dataset_or_column
from headwater_analysis.criticality import criticality_rank
from headwater_analysis.declared.stored_declarations import declared
from headwater_analysis.identity import Identities
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.reader import Transaction

MOST_READS: Final = 20


@dataclass(frozen=True, slots=True)
class ReadingConsumer:
    """A consumer that is declared to read some of the requested assets.

    Attributes:
        key: key of the Consumer node.
        name: name of the consumer.
        type: DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX or TEAM, where declared.
        owners: owners of the consumer.
        on_call: channel of the people on call.
        contact: address for questions.
        criticality: declared criticality.
        notice_days: days of notice that its people need before a change.
        freshness_seconds: maximum age of its data, in seconds.
        deadline: time of day by which it needs its data.
        url: address of the consumer.
        reads: names of the requested assets that it reads; at most 20.
        reads_total: number of requested assets that it reads.
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
    """Consumers of datasets and columns, given as Neo4j's ids, in the order in which to notify them.

    Any name of a dataset counts.

    A column is read by consumers that name it, and by consumers that read its dataset without naming any column.
    """
    if not tx.consumers:
        return ()
    identities, asked = Identities.of(tx), list(nodes)
    identities.learn(asked)
    return _consumers(tx, tx.rows("declared/consumers", nodes=sorted(identities.expanded(asked))))


def consumers_of_datasets(tx: Transaction, keys: Iterable[str]) -> tuple[ReadingConsumer, ...]:
    """Consumers of datasets, given as keys, in the order in which to notify them. Any name of a dataset counts."""
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
        assets = {dataset_or_column(read["dataset"], read["column"]) for read in row["reads"]}
        reads = sorted(assets, key=lambda asset: asset.spelling)
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
    return tuple(sorted(found, key=_urgency))


def _urgency(consumer: ReadingConsumer) -> tuple[int, float, str, str]:
    """Sort key: the most critical first, then the shortest notice, then the name; unknown values come last."""
    notice = math.inf if consumer.notice_days is None else consumer.notice_days
    return -criticality_rank(consumer.criticality), notice, consumer.name, consumer.key
