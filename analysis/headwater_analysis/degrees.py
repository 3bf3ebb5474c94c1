"""Direct neighbours of datasets, under all names of each: datasets upstream and downstream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from headwater_analysis.identity import Identities
from headwater_analysis.reader import Transaction


@dataclass(slots=True)
class NearDatasets:
    """Direct neighbours of a dataset by Neo4j's id, the dataset itself left out.

    Attributes:
        upstream: datasets that feed it.
        downstream: datasets that it feeds.
    """

    upstream: set[int] = field(default_factory=set)
    downstream: set[int] = field(default_factory=set)


def near_datasets(tx: Transaction, nodes: Iterable[int], *, as_of: datetime | None = None) -> dict[int, NearDatasets]:
    """Direct neighbours of all these datasets, by two statements.

    Args:
        nodes: ids of shown datasets.
        as_of: count only hops that had been seen by this time; None: now.
    """
    found: dict[int, NearDatasets] = defaultdict(NearDatasets)
    if asked := list(dict.fromkeys(nodes)):
        for near, far, _ in dataset_hops(tx, asked, "upstream", as_of):
            found[near].upstream.add(far)
        for near, far, _ in dataset_hops(tx, asked, "downstream", as_of):
            found[near].downstream.add(far)
        for node, near_ in found.items():
            near_.upstream.discard(node)
            near_.downstream.discard(node)
    return found


def dataset_hops(
    tx: Transaction, nodes: Sequence[int], direction: str, as_of: datetime | None
) -> Iterator[tuple[int, int, int]]:
    """Hops from shown datasets, under all their names: ids of the dataset, of the reached dataset, and of the edge.

    Args:
        direction: `upstream` or `downstream`.
        as_of: only hops that had been seen by this time; None: now.
    """
    identities = Identities.of(tx)
    identities.learn(nodes, datasets=True)
    asked = identities.expanded(nodes)
    row = tx.one(f"lineage/datasets_{direction}", nodes=asked, jobs=None, as_of=as_of, since=None)
    for n, near, far in identities.hops(nodes, *row.values()):
        yield near, far, row["edges"][n]
