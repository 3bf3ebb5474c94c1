"""Batched look-up for the next hops: a statement takes a millisecond or two, whatever its size.

Results go to caches:

- datasets, queries and plans: caches of the caller;
- whole segments: cache of `micro_batches.load`;
- offsets within segments: guides of searches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from headwater_analysis.identity import Identities
from headwater_analysis.micro_batches import keep
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.search import Guide, add_guide
from headwater_graph.facts.model import RelType
from headwater_graph.facts.spans import Spans
from headwater_graph.segments import segment

KEEP_STATE: Final = frozenset({"AGGREGATE", "GROUP_DEPENDENCY", "WINDOW_DEPENDENCY", "JOIN_DEPENDENCY"})
"""Steps of plans that keep state."""
DROP_RECORDS: Final = {"FILTER_DEPENDENCY": "filter", "JOIN_DEPENDENCY": "join"}
"""Steps of plans that may drop a record, and their names in sentences."""
_MOST_LOOKED_AT: Final = 32
"""Maximum number of a query's segments to read whole. If there are more, they are searched instead."""
_MOST_SEGMENTS: Final = 64
_MOST_OFFSETS: Final = 16


class Prefetched(NamedTuple):
    """Result of a batched look-up.

    Attributes:
        datasets: of each dataset its properties, whether anything reads it, and whether anything writes it.
        plans: of each known plan its index among the asked plans, whether it is complete, and its steps that keep state
            or may drop records.
        users: of each dataset its key, whether batch runs read it (backwards: write it), and the queries that do.
    """

    datasets: Sequence[tuple[Mapping[str, Any], bool, bool]]
    plans: Sequence[tuple[int, bool | None, Sequence[str]]]
    users: Sequence[tuple[str, bool, Sequence[Mapping[str, Any]]]]


def prefetch(
    tx: Transaction,
    *,
    datasets: Iterable[str] = (),
    plans: Iterable[tuple[str, Iterable[str]]] = (),
    users: Iterable[str] = (),
    wants: Iterable[tuple[str, Spans]] = (),
    backward: bool = False,
) -> Prefetched:
    """Look up datasets, plans and users in one statement.

    Args:
        datasets: keys of the datasets to look up.
        plans: keys of plans, and keys of the datasets that they write.
        users: keys of the datasets whose readers (backwards: writers) are wanted.
        wants: offsets that will be searched for in micro-batches: key of the dataset, and spans.
    """
    used, identities = RelType.PRODUCED if backward else RelType.CONSUMED, Identities.of(tx)
    row = tx.one(
        "trace/prefetch",
        datasets=list(datasets),
        plans=[
            {"n": n, "key": key, "datasets": [name for each in written for name in identities.members(each)]}
            for n, (key, written) in enumerate(plans)
        ],
        users=list(users),
        wants=_wants(wants),
        kinds=sorted(KEEP_STATE | DROP_RECORDS.keys()),
        type="WRITES" if backward else "READS",
        used=used.value,
        size=segment.SIZE,
        blocks=segment.BLOCKS,
        most_batches=_MOST_LOOKED_AT * segment.SIZE,
        most_segments=_MOST_SEGMENTS,
    )
    for properties, dataset, partition, first, end, begins in row["segments"]:
        keep(tx, properties)
        guide = Guide(properties["start"], partition, first, end, begins)
        add_guide(tx, properties["query"], identities.shown(dataset), used.value, guide)
    return Prefetched(row["datasets"], row["plans"], row["users"])


def _wants(wants: Iterable[tuple[str, Spans]]) -> list[dict[str, Any]]:
    """Wanted offsets in one partition of each dataset: mostly the same micro-batches use all partitions."""
    offsets: dict[tuple[str, int], set[int]] = defaultdict(set)
    for dataset, spans in wants:
        if spans:
            partition = min(spans)
            offsets[dataset, partition].add(spans[partition][0][0])
    return [
        {"dataset": dataset, "partition": partition, "offsets": sorted(found)[:_MOST_OFFSETS]}
        for (dataset, partition), found in offsets.items()
    ]
