"""Settings of describing a plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from headwater_producers.spark.plan.text import Literals

MAX_PATHS: Final = 100
"""Maximum number of paths in a position; the position's digest covers all paths."""


class ClusterIds(Protocol):
    """Lookup of Kafka clusters' ids."""

    def id_of(self, session: Any, servers: str, connection: Callable[[], Mapping[str, str]]) -> str | None:
        """Return the cluster's id; None if it isn't known. Never raises.

        Args:
            session: a `SparkSession`.
            servers: the brokers, as in the job's options.
            connection: connection settings by Kafka's own names.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """Settings of describing a plan.

    Attributes:
        max_plan_bytes: a plan whose JSON is larger isn't parsed; its lineage is incomplete, with that reason. 32 MiB is
            about 5,000 columns in 5 projections.
        kafka_cluster_names: cluster name by cluster id or by brokers, `*` for every other (`naming.declared_cluster`).
            Without a name the sorted bootstrap list names the cluster.
        kafka_clusters: looks up a cluster's id at its brokers; None: no lookup.
        max_paths: maximum number of file paths in a position; the digest covers all paths.
        max_files: with more files than this, a position has only their count and bytes.
        literals: True to show literals in expression texts. Dates and times are never shown, so that the same job of
            another day has the same lineage.
        numbers: True to show the numbers in literals. False for plans that are rebuilt with each micro-batch: the
            batch's number, or the minute, would make each a different plan.
        encoded: True if text and bytes of any dataset may be encodings of fields that no schema names, like a topic's
            key and value.
    """

    max_plan_bytes: int = 32 * 1024 * 1024
    kafka_cluster_names: dict[str, str] = field(default_factory=dict)
    kafka_clusters: ClusterIds | None = field(default=None, repr=False, compare=False)
    max_paths: int = MAX_PATHS
    max_files: int = 10_000
    literals: bool = True
    numbers: bool = True
    encoded: bool = False

    @property
    def literal_texts(self) -> Literals:
        """Display of literals in texts."""
        if not self.literals:
            return Literals.HIDDEN
        return Literals.SHOWN if self.numbers else Literals.NUMBERLESS
