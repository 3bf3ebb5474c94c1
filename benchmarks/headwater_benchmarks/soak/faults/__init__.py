"""The classes of faults, each a function that makes it happen to a world and returns when it is over.

- `consumers`: killed, stopped, rebalanced, crashed at each step of the checkpoint;
- `kafka`: the broker and its topics;
- `neo4j`: the database, its disk and its locks;
- `links`: the way to either of them;
- `records`: what is on the topic.
"""

from __future__ import annotations

from headwater_benchmarks.soak.faults import consumers, kafka, links, neo4j, records
from headwater_benchmarks.soak.faults.fault import Fault, NotPossibleError, NoTraceError

FAULTS: tuple[Fault, ...] = (*consumers.FAULTS, *kafka.FAULTS, *neo4j.FAULTS, *links.FAULTS, *records.FAULTS)
"""All of them."""

__all__ = ["FAULTS", "Fault", "NoTraceError", "NotPossibleError"]
