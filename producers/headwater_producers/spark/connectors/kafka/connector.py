"""Kafka connector: topics, and offsets in Spark's format.

An offset is `{"topic": {"partition": next offset to read}}`: the last batch's end is the next batch's start. A source's
first offset is in a checkpoint's `sources/<i>/0`, after a zero byte for compatibility with old versions of Spark. Spark
logs no offsets of a streaming sink: see `observed_topics.py`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from headwater_producers.spark.common.errors import UnknownOriginError
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.connector_answers import RangeRead, Scanned
from headwater_producers.spark.connectors.connector_questions import (
    CheckpointSource,
    JvmCommand,
    JvmLeaf,
    JvmScan,
    SourceOffsets,
)
from headwater_producers.spark.connectors.kafka.topics import read_topics, write_continuously, write_topics
from headwater_producers.spark.connectors.rdd import made_of
from headwater_producers.spark.jvm.files import TextFolder
from headwater_producers.spark.jvm.scala import class_name, items, private
from headwater_producers.spark.plan.description import PlanInput, SourceKind
from headwater_producers.spark.plan.leaves import Leaf
from headwater_producers.spark.plan.written import WrittenOutputs
from headwater_schemas.events import Certainty, DatasetRef, KafkaRanges, OffsetRange, Position

# A topic with more partitions would take too many round trips: its position stays unknown.
_MAX_RANGES: Final = 1_000
_V1: Final = "KafkaRelation"
_WRITE: Final = "KafkaStreamingWrite"
_SCAN: Final = "KafkaScan"
_CLUSTER: Final = "kafka://"


class Kafka(Connector):
    """Connector of Kafka topics."""

    classes = frozenset({_V1, _WRITE, _SCAN, "KafkaSourceProvider", "KafkaTable"})
    # The plan decides: a user's own source may have offsets of the same shape.
    kinds = frozenset({SourceKind.KAFKA})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        options = private(leaf.subject, "sourceOptions") if class_name(leaf.subject) == _V1 else leaf.options
        return read_topics(leaf, options)

    def write(self, command: JvmCommand) -> WrittenOutputs | None:
        return write_continuously(command) if class_name(command.subject) == _WRITE else write_topics(command)

    def scanned(self, scan: JvmScan) -> Scanned | None:
        if class_name(scan.subject) == _SCAN:
            return _scanned(items(scan.node.inputPartitions()))
        # A reader of the V1 API, Spark's default: its RDD has the offsets.
        sources = list(made_of(scan.node.rdd(), "KafkaSourceRDD"))
        return _scanned(sources[0].partitions()) if len(sources) == 1 else Scanned()

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        end = kafka_offsets(source.end)
        if end is None:
            return None
        folder = source.folder if source.start is None else None
        first = first_offsets(folder, end) if folder is not None else None
        read = kafka_ranges(kafka_offsets(source.start), end, first)
        return tuple(
            RangeRead(
                position=Position(kafka=found.ranges),
                certainty=found.certainty,
                dataset=topic,
                # Transaction markers and compaction leave holes.
                most_rows=sum(part.to_exclusive - part.from_ for part in found.ranges.ranges),
            )
            for topic, found in sorted(read.items())
        )

    def subscribed(self, offset: Any, folder: TextFolder | None) -> frozenset[str] | None:
        offsets = [offset] if folder is None else [folder.logged_json("0"), offset]
        known = [topics for each in offsets if (topics := kafka_offsets(each)) is not None]
        return frozenset(topic for topics in known for topic in topics) if known else None

    def origin(self, source: CheckpointSource) -> tuple[PlanInput, ...] | None:
        topics = kafka_offsets(source.end) if _may_be_kafka(source.known, source.given) else None
        if not topics:
            return None
        read = (_topic(topic, source) for topic in sorted(topics))
        return tuple(PlanInput(dataset=each, kind=SourceKind.KAFKA, source_index=source.index) for each in read)


def _scanned(partitions: Iterable[Any]) -> Scanned:
    read: dict[str, list[OffsetRange]] = {}
    for number, partition in enumerate(partitions):
        if number >= _MAX_RANGES:
            return Scanned()
        offsets = partition.offsetRange()
        topic = offsets.topicPartition()
        found = OffsetRange(int(topic.partition()), int(offsets.fromOffset()), int(offsets.untilOffset()))
        read.setdefault(str(topic.topic()), []).append(found)
    # "earliest" and "latest" are negative numbers that only the tasks resolve: the offsets are then unknown here.
    positions = {
        topic: Position(kafka=KafkaRanges(topic, _joined(ranges)))
        for topic, ranges in read.items()
        if all(min(each.from_, each.to_exclusive) >= 0 for each in ranges)
    }
    return Scanned(positions=positions, names=frozenset(read))


def _joined(ranges: list[OffsetRange]) -> tuple[OffsetRange, ...]:
    """Join adjacent ranges of a partition: `minPartitions` reads a partition in several pieces."""
    whole: dict[int, OffsetRange] = {}
    for each in sorted(ranges):
        first = whole.get(each.partition, each)
        whole[each.partition] = OffsetRange(each.partition, first.from_, each.to_exclusive)
    return tuple(whole.values())


KafkaOffsets = dict[str, dict[int, int]]


@dataclass(frozen=True, slots=True)
class TopicRanges:
    """Offset ranges of one topic that one micro-batch read, with their certainty."""

    ranges: KafkaRanges
    certainty: Certainty


def kafka_offsets(value: Any) -> KafkaOffsets | None:
    """Parse an offset of Spark's Kafka source.

    Returns:
        Next offsets by topic and partition; None if `value` isn't a Kafka offset.
    """
    if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
        return None
    try:
        return {
            topic: {int(partition): _offset(offset) for partition, offset in parts.items()}
            for topic, parts in value.items()
        }
    except (TypeError, ValueError):
        return None


def kafka_ranges(
    start: KafkaOffsets | None, end: KafkaOffsets, first: Mapping[str, Mapping[int, int]] | None = None
) -> dict[str, TopicRanges]:
    """Return the ranges that a micro-batch read, by topic.

    A partition that `end` has and `start` hasn't is new in this batch. Spark reads a new partition from its earliest
    offset, which isn't in the progress: 0 is assumed, and the topic's certainty is INFERRED. A partition that only
    `start` has is gone and isn't listed. If `end` is before `start`, the topic was deleted and recreated: Spark skips
    the new topic's records up to `end` (with `failOnDataLoss` it fails). So the range is empty, INFERRED.

    Args:
        start: the progress's start; None in a query's first batch.
        first: first offsets in the source's log in the checkpoint, used for a first batch.
    """
    begin: Mapping[str, Mapping[int, int]] = start if start is not None else (first or {})
    out: dict[str, TopicRanges] = {}
    for topic, parts in end.items():
        known = begin.get(topic, {})
        certainty = Certainty.EXACT if all(partition in known for partition in parts) else Certainty.INFERRED
        ranges = tuple(
            OffsetRange(partition, min(from_, to), to)
            for partition, to in sorted(parts.items())
            for from_ in (known.get(partition, 0),)
        )
        if any(known.get(partition, 0) > to for partition, to in parts.items()):
            certainty = Certainty.INFERRED
        out[topic] = TopicRanges(KafkaRanges(topic, ranges), certainty)
    return out


def _offset(value: Any) -> int:
    number = int(value)
    if number < 0:
        # In options, -1 means "latest" and -2 "earliest"; a resolved offset is never negative.
        raise ValueError(f"offset {number}")
    return number


def first_offsets(log: TextFolder, end: KafkaOffsets) -> KafkaOffsets | None:
    """Read a source's first offsets from its log in the checkpoint.

    None if they can't lead to `end`: the log then belongs to another source.
    """
    first = kafka_offsets(log.logged_json("0"))
    return first if first is not None and _can_lead_to(first, end) else None


def _can_lead_to(first: KafkaOffsets, end: KafkaOffsets) -> bool:
    return all(
        topic in end and partition in end[topic] and offset <= end[topic][partition]
        for topic, parts in first.items()
        for partition, offset in parts.items()
    )


def is_of_pattern(description: str) -> bool:
    """Return True if a source, by its description in a progress, subscribes to a pattern of topics."""
    return "[SubscribePattern[" in description


def topics_read(progress: Mapping[str, Any] | None) -> dict[int, Collection[str]]:
    """Return the topics of each Kafka source, by its index in a progress (Spark's JSON); None: no progress yet."""
    found: dict[int, Collection[str]] = {}
    for index, source in enumerate(progress["sources"] if progress else ()):
        if str(source["description"]).startswith("KafkaV2["):
            end = source.get("endOffset")
            found[index] = tuple(json.loads(end) if isinstance(end, str) else end or ())
    return found


def _may_be_kafka(known: Sequence[DatasetRef], given: str | None) -> bool:
    """Return True if a source may be Kafka's: a user's own source may have offsets of the same shape."""
    if given is not None:
        return given.startswith(_CLUSTER)
    return not known or any(each.namespace.startswith(_CLUSTER) for each in known)


def _topic(topic: str, source: CheckpointSource) -> DatasetRef:
    """Return a topic on the cluster that is stated or known."""
    if source.given is not None:
        return DatasetRef(source.given.rstrip("/"), topic)
    on_kafka = [each for each in source.known if each.namespace.startswith(_CLUSTER)]
    # A topic that matched the pattern later is on the same cluster as the other topics.
    clusters = {each.namespace for each in on_kafka if each.name == topic} or {each.namespace for each in on_kafka}
    if len(clusters) != 1:
        among = [DatasetRef(each, topic) for each in sorted(clusters)]
        raise UnknownOriginError(source.index, f"Kafka, topic {topic}", among)
    return DatasetRef(clusters.pop(), topic)
