"""Facts of a demo: the contents of Kafka, the checkpoints and Neo4j, gathered here and judged in `checks`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, TopicPartition

from headwater.demo.broker import DEPARTED, TOPICS, Broker
from headwater.demo.folder import DemoFolder
from headwater.demo.jobs import DemoJob
from headwater_graph.chains import Chain, check_chains
from headwater_graph.dump import dump
from headwater_graph.statement_files import load
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from neo4j import Driver


Range = tuple[int, int]
"""Half-open range of offsets."""

REPORT = "daily_report"
FIRST_QUERY = "enrich"

_READ_SECONDS = 20.0
_CERTAIN = (Certainty.EXACT.value, Certainty.INFERRED.value)


@dataclass(frozen=True, slots=True)
class DeadLetterSummary:
    """A record on the dead-letter topic.

    Attributes:
        source: Location of the original record, as `topic[partition]@offset`.
        size_bytes: Size of the value, which equals the value of the original record.
    """

    reason: str
    source: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts for the checks and the summary.

    Attributes:
        acknowledged: Records on the events topic.
        applied: Records whose effect is in the graph.
        dead_lettered: Records on the dead-letter topic.
        chains: Chains in the graph, by name of the query.
        committed_batches: Number of micro-batches that the checkpoint of each query has committed.
        departed_ends: End offset of each partition of flights.departed.
        consumed: Ranges of flights.departed that query 1's intervals consumed, by partition.
        runs: State of each run, by name of the run.
        untraceable_columns: Columns that can't be traced to flights.departed.
    """

    acknowledged: int
    applied: int
    dead_lettered: int
    dead_letters: tuple[DeadLetterSummary, ...]
    chains: Mapping[str, Chain]
    committed_batches: Mapping[str, int]
    departed_ends: Mapping[int, int]
    consumed: Mapping[int, Sequence[Range]]
    runs: Mapping[str, str]
    report_columns: tuple[str, ...]
    untraceable_columns: tuple[str, ...]
    nodes: Mapping[str, int]
    relationships: Mapping[str, int]


def gather(broker: Broker, driver: Driver, folder: DemoFolder, jobs: Sequence[DemoJob], group: str) -> Facts:
    """Gather the facts from Kafka, the checkpoints and Neo4j.

    Raises:
        KafkaException, BrokerUnavailableError: Kafka does not answer.
        neo4j.exceptions.Neo4jError, DriverError: Neo4j does not answer.
    """
    from headwater_consumers.materializer.accounting import account

    accounting = account(broker.client, TOPICS, group)
    columns = rows(driver, "report_columns", suffix=f"/{REPORT}")
    return Facts(
        acknowledged=accounting.acknowledged,
        applied=accounting.applied,
        dead_lettered=accounting.dead_lettered,
        dead_letters=dead_letters(broker),
        chains=_in_order(check_chains(driver), [job.name for job in jobs]),
        committed_batches={job.name: committed_batches(folder, job.name) for job in jobs if job.streaming},
        departed_ends=broker.ends(DEPARTED),
        consumed=consumed(consumed_ranges(dump(driver), FIRST_QUERY, DEPARTED)),
        runs={row["run"]: row["state"] for row in rows(driver, "runs")},
        report_columns=tuple(column["name"] for column in columns),
        untraceable_columns=_untraceable(driver, columns),
        nodes={row["label"]: row["count"] for row in rows(driver, "count_nodes")},
        relationships={row["type"]: row["count"] for row in rows(driver, "count_relationships")},
    )


def rows(driver: Driver, named: str, **parameters: Any) -> list[dict[str, Any]]:
    """Run the demo's statement `named`; return its rows."""
    text = load("headwater.demo", f"facts/{named}")
    with driver.session(database="neo4j", default_access_mode="READ") as session:
        return session.execute_read(lambda tx: [dict(record) for record in tx.run(text, parameters)])


def _in_order(chains: Sequence[Chain], names: Sequence[str]) -> dict[str, Chain]:
    """Sort by name in the order of the data flow; unexpected names come last."""
    rank = {name: number for number, name in enumerate(names)}
    return {
        chain.name: chain for chain in sorted(chains, key=lambda chain: (rank.get(chain.name, len(rank)), chain.name))
    }


def consumed_ranges(lines: Iterable[str], query: str, topic: str) -> list[dict[str, Any]]:
    """List the offset ranges of a topic that a query's intervals consumed, in the form of `consumed`.

    Args:
        lines: lines of a dump, where each node is followed by its outgoing relationships.
    """
    queries: set[str] = set()
    found: list[tuple[str, dict[str, Any]]] = []
    interval: dict[str, Any] = {}
    for line in map(json.loads, lines):
        properties = line["properties"]
        match line:
            case {"labels": ["Query"]} if properties.get("query_name") == query:
                queries.add(line["key"])
            case {"labels": ["Interval"]}:
                interval = line
            case {"type": "CONSUMED", "start": start} if start == interval.get("key"):
                if properties.get("topic") == topic and properties["certainty"] in _CERTAIN:
                    names = {"partitions": "partitions", "starts": "from", "ends": "to_exclusive"}
                    row = {name: properties.get(stored, []) for name, stored in names.items()}
                    found.append((interval["properties"]["query"], row))
    return [row for key, row in found if key in queries]


def consumed(intervals: Sequence[Mapping[str, Any]]) -> dict[int, list[Range]]:
    """Offset ranges by partition, from rows with the parallel lists `partitions`, `starts` and `ends`."""
    found: defaultdict[int, list[Range]] = defaultdict(list)
    for row in intervals:
        for partition, start, end in zip(row["partitions"], row["starts"], row["ends"], strict=True):
            found[partition].append((start, end))
    return found


def committed_batches(folder: DemoFolder, query: str) -> int:
    """Count the micro-batches that a query's checkpoint has committed, including those that Spark has cleaned away."""
    commits = folder.home / "checkpoints" / query / "commits"
    return max((int(entry.name) + 1 for entry in commits.glob("[0-9]*") if entry.name.isdecimal()), default=0)


def dead_letters(broker: Broker) -> tuple[DeadLetterSummary, ...]:
    """Read all records of the dead-letter topic.

    Raises:
        KafkaException: The broker does not answer.
        TimeoutError: Kafka answers, but doesn't return the expected records.
    """
    ends = {number: end for number, end in broker.ends(TOPICS.dead_letters).items() if end}
    wanted = sum(ends.values())
    found: list[DeadLetterSummary] = []
    if not wanted:
        return ()
    # librdkafka requires a group id. With `assign` and without commits, the broker never sees this id.
    consumer = Consumer({**broker.client, "group.id": "headwater-demo-look", "enable.auto.commit": False})
    try:
        consumer.assign([TopicPartition(TOPICS.dead_letters, number, 0) for number in ends])
        while len(found) < wanted:
            message = consumer.poll(_READ_SECONDS)
            if message is None:
                raise TimeoutError(f"{TOPICS.dead_letters} holds {wanted} records, of which {len(found)} could be read")
            if message.error() is None:
                found.append(_dead_letter(message.headers(), message.value()))
    finally:
        consumer.close()
    return tuple(found)


def _dead_letter(headers: Any, value: Any) -> DeadLetterSummary:
    texts = {name: text.decode(errors="replace") for name, text in headers or () if isinstance(text, bytes)}
    topic, partition, offset = (texts.get(f"__connect.errors.{part}", "?") for part in ("topic", "partition", "offset"))
    return DeadLetterSummary(texts.get("headwater.reason", "?"), f"{topic}[{partition}]@{offset}", len(value or b""))


def _untraceable(driver: Driver, columns: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    edges = rows(driver, "column_edges")
    graph = ColumnGraph(
        datasets={row["column"]: row["dataset"] for row in rows(driver, "columns")},
        derives=[(row["source"], row["target"]) for row in edges if row["derives"]],
        influences=[(row["source"], row["target"]) for row in edges if not row["derives"]],
    )
    names = {column["key"]: column["name"] for column in columns}
    origins = rows(driver, "topic", name=DEPARTED)
    lost = graph.untraceable(names, origins[0]["key"]) if origins else list(names)
    return tuple(names[key] for key in lost)


Edge = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ColumnGraph:
    """Column lineage, by node keys.

    The target of an edge is derived from the source (DERIVES), or influenced by the source (INFLUENCES). If the target
    is a dataset, this means each of its columns. If the source is a dataset, this means its rows, and so all sources of
    its columns.

    Attributes:
        derives: Pairs of source and target, each a column or a dataset: value dependencies.
        influences: Pairs of source and target: dependencies that decide which rows exist, or to which target they go.
    """

    datasets: Mapping[str, str]
    derives: Sequence[Edge]
    influences: Sequence[Edge] = ()

    def untraceable(self, columns: Iterable[str], origin: str) -> list[str]:
        """List the columns that can't be traced back to the dataset `origin`, in their order.

        A column is traced by its sources. A single filter influences every column of its output, so influence alone
        counts only for a column without any source in common with the origin, such as `rain` from the weather.
        """
        derived = self._reachable_from(origin, self.derives)
        influenced = self._reachable_from(origin, [*self.derives, *self.influences])
        written = {self._dataset(target) for _, target in (*self.derives, *self.influences)}

        def from_elsewhere(column: str) -> bool:
            # A root is from elsewhere only if no edge leads to its dataset: else the root is a column that lost its
            # source.
            roots = self._roots(column)
            return bool(roots) and not any(self._dataset(root) in {origin, *written} for root in roots)

        return [
            column
            for column in columns
            if column not in derived
            and not (column in influenced and from_elsewhere(column) and not self._shares_source(column, origin))
        ]

    def _shares_source(self, column: str, origin: str) -> bool:
        """Return True if the column shares a source with the origin, and so may have bypassed the origin."""
        upstream = {self._dataset(root) for own in self._columns()[origin] for root in self._roots(own)}
        return any(self._dataset(root) in upstream for root in self._roots(column))

    def _roots(self, column: str) -> set[str]:
        """List the ultimate sources of a column, over any number of steps; never the column itself."""
        sources = defaultdict(list)
        for source, target in self.derives:
            sources[target].append(source)
        found, roots, waiting = set(), set(), [column]
        while waiting:
            node = waiting.pop()
            if node in found:
                continue
            found.add(node)
            waiting += sources[node]
            if not sources[node]:
                roots.add(node)
        return roots - {column}

    def _reachable_from(self, origin: str, edges: Iterable[Edge]) -> set[str]:
        columns = self._columns()
        targets = defaultdict(list)
        for source, target in edges:
            targets[source].append(target)

        # Followed forwards from the origin: exactly the reached columns can be traced back to the origin.
        reached: set[str] = set()
        waiting = [origin, *columns[origin]]
        while waiting:
            node = waiting.pop()
            if node in reached:
                continue
            reached.add(node)
            waiting += targets[node]
            if node in self.datasets:
                # A target of this column's dataset as a whole is also a target of the column.
                waiting += targets[self.datasets[node]]
            else:
                waiting += columns[node]
        return reached

    def _columns(self) -> defaultdict[str, list[str]]:
        columns = defaultdict(list)
        for column, dataset in self.datasets.items():
            columns[dataset].append(column)
        return columns

    def _dataset(self, node: str) -> str:
        return self.datasets.get(node, node)
