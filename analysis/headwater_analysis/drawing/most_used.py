"""Most used datasets of the estate: datasets that feed most datasets and declared consumers in one hop.

The graph doesn't store numbers of uses, and reading the degree of two million datasets takes 20 s. But the key of a hop
is a hash. So the first `MOST_HOPS` in the index are a random sample of all hops, in which a dataset with more uses
begins more hops. The best `COUNTED` datasets of this sample are then counted exactly. Up to `MOST_HOPS` hops the answer
is exact. Beyond (`truncated`), the most used datasets are still found, but some datasets with nearly as many uses may
be missing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from headwater_analysis.dataset_status import DatasetStatus, status_of
from headwater_analysis.degrees import near_datasets
from headwater_analysis.drawing.labels import CountedDataset, counted, keys_of, labels_of
from headwater_analysis.identity import Identities
from headwater_analysis.paging import check_limit
from headwater_analysis.reader import Reader, Transaction

MOST_HOPS = 30_000
"""Maximum number of hops between datasets to sample."""
COUNTED = 400
"""Number of datasets whose direct datasets and consumers downstream are counted; more if the limit is greater."""


@dataclass(frozen=True, slots=True)
class UsedDataset(CountedDataset):
    """A dataset, and the number of its uses.

    Attributes:
        consumers_total: number of consumers that are declared to read it.
        status: its last run and the results of its latest checks.
    """

    consumers_total: int
    status: DatasetStatus


@dataclass(frozen=True, slots=True)
class MostUsed:
    """Most used datasets: by number of datasets downstream and declared consumers, then by key.

    Attributes:
        items: the datasets.
        total: number of datasets that feed another dataset or have a declared consumer; each name of a dataset counts.
        truncated: whether there are more hops than were sampled, so that `total` is too low.
    """

    items: tuple[UsedDataset, ...]
    total: int
    truncated: bool


def most_used(reader: Reader, *, limit: int = 20) -> MostUsed:
    """Return the most used datasets.

    Args:
        limit: maximum number of datasets.

    Raises:
        QuestionError: the limit isn't from 1 to 1,000.
    """
    check_limit(limit)

    def question(tx: Transaction) -> MostUsed:
        row = tx.one("drawing/used_by_datasets", most=MOST_HOPS)
        found = list(row["used"])
        if tx.consumers:
            found += tx.one("drawing/used_by_consumers")["used"]
        sampled, keys = Counter[int](), dict[int, str]()
        for node, count, key in found:
            sampled[node] += count
            keys[node] = key
        nodes = sorted(sampled, key=lambda node: (-sampled[node], keys[node]))[: max(COUNTED, 2 * limit)]
        identities = Identities.of(tx)
        identities.learn(nodes, datasets=True)
        shown = list(dict.fromkeys(map(identities.shown_node, nodes)))
        near = near_datasets(tx, shown)
        consumers: dict[int, set[str]] = {}
        if tx.consumers:
            for each in tx.rows("drawing/consumers", nodes=identities.expanded(shown)):
                consumers.setdefault(identities.shown_node(each["node"]), set()).update(each["consumers"])
        uses = {node: len(near[node].downstream) + len(consumers.get(node, ())) for node in shown}
        keys |= keys_of(tx, shown)
        used = sorted((node for node in shown if uses[node]), key=lambda node: (-uses[node], keys[node]))[:limit]
        labels = labels_of(tx, used)
        statuses = status_of(tx, {node: own.asset for node, own in labels.items()})
        items = (
            UsedDataset(
                **counted(own, near[node]),
                consumers_total=len(consumers.get(node, ())),
                status=statuses[node],
            )
            for node, own in labels.items()
        )
        return MostUsed(tuple(items), len(sampled), row["looked_at"] == MOST_HOPS)

    return reader.read(question)
