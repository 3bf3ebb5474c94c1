"""Direct neighbours of datasets, under all names of each: datasets upstream and downstream."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
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
    asked, identities = list(dict.fromkeys(nodes)), Identities.of(tx)
    if not asked:
        return found
    identities.learn(asked, datasets=True)
    given = {"nodes": identities.expanded(asked), "jobs": None, "as_of": as_of, "since": None}
    for near, far in _hops(identities, asked, tx.one("lineage/datasets_upstream", **given).values()):
        found[near].upstream.add(far)
    for near, far in _hops(identities, asked, tx.one("lineage/datasets_downstream", **given).values()):
        found[near].downstream.add(far)
    return found


def _hops(identities: Identities, asked: list[int], lists: list[list[int]]) -> Iterable[tuple[int, int]]:
    return ((near, far) for _, near, far in identities.hops(asked, *lists) if near != far)
