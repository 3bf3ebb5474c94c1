"""Contestants of the capture benchmark."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from headwater.stack import ensure_jars, java_runtime
from headwater_benchmarks.capture.feed import create_topics

Kind = Literal["without", "headwater", "openlineage"]

WITHOUT = "without"
HEADWATER = "headwater"
ONE_BY_ONE = "headwater, one by one"
OPENLINEAGE = "openlineage"


@dataclass(frozen=True, slots=True)
class Contestant:
    """One way to run the same jobs.

    Attributes:
        name: for the report.
        kind: what captures, if anything.
        settings: of Headwater's capture, as variables.
    """

    name: str
    kind: Kind
    settings: Mapping[str, str] = field(default_factory=dict)


CONTESTANTS = (
    Contestant(WITHOUT, "without"),
    Contestant(HEADWATER, "headwater"),
    Contestant(ONE_BY_ONE, "headwater", {"HEADWATER_COALESCE_MAX_BATCHES": "1"}),
    Contestant(OPENLINEAGE, "openlineage"),
)


@dataclass(frozen=True, slots=True)
class Place:
    """Folder, topics and broker of one contestant.

    Attributes:
        number: of the contestant.
        folder: its own.
        bootstrap_servers: the broker, everybody's.
    """

    number: int
    folder: Path
    bootstrap_servers: str

    @property
    def source(self) -> str:
        """The topic its query reads."""
        return f"bench.{self.number}.in"

    @property
    def target(self) -> str:
        """The topic its query writes."""
        return f"bench.{self.number}.out"

    @property
    def topic_prefix(self) -> str:
        """Prefix of its lineage topics' names."""
        return f"bench{self.number}"

    @property
    def openlineage_file(self) -> Path:
        """File that OpenLineage's agent writes its events to."""
        return self.folder / "openlineage.jsonl"

    def prepare(self) -> None:
        """Makes folder and topics."""
        self.folder.mkdir(parents=True, exist_ok=True)
        create_topics(self.bootstrap_servers, [self.source, self.target])


def environment(contestant: Contestant, place: Place, inherited: Mapping[str, str], heap_mb: int) -> dict[str, str]:
    """The driver's environment: Java, Spark's properties, capture's settings; nothing of the caller's own for these."""
    kept = {name: value for name, value in inherited.items() if not name.startswith(_NOT_INHERITED)}
    cache = {name: inherited[name] for name in ("HEADWATER_CACHE_DIR",) if name in inherited}
    capture = {
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": place.bootstrap_servers,
        "HEADWATER_TOPIC_PREFIX": place.topic_prefix,
        "HEADWATER_OUTBOX_PATH": str(place.folder / "outbox"),
        **contestant.settings,
    }
    return {
        **kept,
        **cache,
        **java_runtime().environment(),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": shlex.join([*_submit(contestant, place, heap_mb), "pyspark-shell"]),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(place.folder / "local"),
        **(capture if contestant.kind == "headwater" else {}),
    }


_NOT_INHERITED = ("SPARK_", "PYSPARK_", "HADOOP_", "HEADWATER_", "OPENLINEAGE_")


def _submit(contestant: Contestant, place: Place, heap_mb: int) -> list[str]:
    jars = ensure_jars("spark") + (ensure_jars("openlineage") if contestant.kind == "openlineage" else [])
    properties = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        # Idle while others are measured.
        "spark.sql.streaming.pollingDelay": "250ms",
        "spark.sql.streaming.numRecentProgressUpdates": "100000",
    }
    if contestant.kind == "openlineage":
        properties |= {
            "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
            "spark.openlineage.transport.type": "file",
            "spark.openlineage.transport.location": str(place.openlineage_file),
            "spark.openlineage.namespace": "bench",
        }
    options = ["--master", "local[2]", "--driver-memory", f"{heap_mb}m", "--jars", ",".join(map(str, jars))]
    return options + [part for name, value in properties.items() for part in ("--conf", f"{name}={value}")]
