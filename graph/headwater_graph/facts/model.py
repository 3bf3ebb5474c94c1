"""Labels and relationship types of the graph: closed lists, so that no text of an event becomes a label or type.

Lines of a dump have these labels. In the database each label begins with `PREFIX`, so Headwater can share a database
with other applications. The database has no node for an interval or a conflict: segments store them
(`graph.segments`), and their relationships begin at the segment.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

PREFIX = "Hw"
"""Prefix of the labels of Headwater's nodes: `Job` is `HwJob` in the database."""


class Label(StrEnum):
    """Every label of a dump's lines. A node has exactly one."""

    JOB = "Job"
    DATASET = "Dataset"
    ALIAS = "Alias"
    COLUMN = "Column"
    VERSION = "Version"
    SCHEMA_VERSION = "SchemaVersion"
    QUERY = "Query"
    RUN = "Run"
    PLAN = "Plan"
    INTERVAL = "Interval"
    CONFLICT = "Conflict"
    RETENTION = "Retention"
    SUMMARY = "Summary"
    CONSUMER = "Consumer"
    DECLARATION = "Declaration"
    DECLARATION_SET = "DeclarationSet"
    INCIDENT = "Incident"


IN_SEGMENTS = frozenset({Label.INTERVAL, Label.CONFLICT})
"""Labels that no node in the database has."""
BY_QUERY = IN_SEGMENTS | {Label.SUMMARY}
"""Labels of a dump's lines that are made query by query."""
SEGMENT = "Segment"
STORED_LABELS: frozenset[str] = frozenset(
    PREFIX + label for label in {*(label.value for label in Label if label not in IN_SEGMENTS), SEGMENT}
)
"""Every label that nodes in the database have."""


class RelType(StrEnum):
    """Every relationship type of a dump's lines. `docs/graph.md` describes each."""

    CHILD_OF = "CHILD_OF"
    CONCERNS = "CONCERNS"
    CONFLICTS_WITH = "CONFLICTS_WITH"
    CONSUMED = "CONSUMED"
    CONSUMES = "CONSUMES"
    DECLARES = "DECLARES"
    DERIVES = "DERIVES"
    DROPPED = "DROPPED"
    FEEDS = "FEEDS"
    GENERATES = "GENERATES"
    GOES_INTO = "GOES_INTO"
    HAS_COLUMN = "HAS_COLUMN"
    INFLUENCES = "INFLUENCES"
    IN_QUERY = "IN_QUERY"
    IN_RUN = "IN_RUN"
    IN_SET = "IN_SET"
    KNOWN_AS = "KNOWN_AS"
    NEXT = "NEXT"
    OF = "OF"
    PRODUCED = "PRODUCED"
    REACHED = "REACHED"
    READ = "READ"
    READS = "READS"
    RENAMED_TO = "RENAMED_TO"
    USED = "USED"
    WRITES = "WRITES"
    WROTE = "WROTE"


class UseKey(NamedTuple):
    """Use (CONSUMED or PRODUCED) of a dataset by a run or micro-batch; `ordinal` counts the dataset's uses from 0."""

    type: RelType
    dataset: str
    ordinal: int


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
"""Types that allow several relationships between two nodes: each relationship has a unique `key`."""
