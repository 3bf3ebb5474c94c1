"""Labels and relationship types of the graph: closed lists, so that no text of an event ever becomes one."""

from __future__ import annotations

from enum import StrEnum


class Label(StrEnum):
    """Every label. A node has exactly one."""

    JOB = "Job"
    DATASET = "Dataset"
    ALIAS = "Alias"
    COLUMN = "Column"
    VERSION = "Version"
    QUERY = "Query"
    RUN = "Run"
    PLAN = "Plan"
    INTERVAL = "Interval"
    CONFLICT = "Conflict"


class RelType(StrEnum):
    """Every relationship type. `docs/graph.md` describes each."""

    CHILD_OF = "CHILD_OF"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    CONSUMED = "CONSUMED"
    DERIVES = "DERIVES"
    FEEDS = "FEEDS"
    GENERATES = "GENERATES"
    HAS_COLUMN = "HAS_COLUMN"
    INFLUENCES = "INFLUENCES"
    IN_QUERY = "IN_QUERY"
    IN_RUN = "IN_RUN"
    KNOWN_AS = "KNOWN_AS"
    NEXT = "NEXT"
    OF = "OF"
    PRODUCED = "PRODUCED"
    READ = "READ"
    READS = "READS"
    RENAMED_TO = "RENAMED_TO"
    USED = "USED"
    WRITES = "WRITES"
    WROTE = "WROTE"


KEYED = frozenset(
    {
        RelType.CONSUMED,
        RelType.DERIVES,
        RelType.FEEDS,
        RelType.GENERATES,
        RelType.INFLUENCES,
        RelType.PRODUCED,
    }
)
"""Types of which two nodes may have several: they carry a `key` of their own, under a uniqueness constraint."""
