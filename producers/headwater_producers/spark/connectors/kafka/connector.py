"""Apache Kafka: what each question about topics is answered with.

What a streaming sink wrote isn't in any log that can be read: see `sink_offsets.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark.connectors.answer import RangeRead, Scanned
from headwater_producers.spark.connectors.connector import Connector
from headwater_producers.spark.connectors.kafka.offsets import kafka_offsets, kafka_ranges
from headwater_producers.spark.connectors.kafka.topics import read_topics, write_continuously, write_topics
from headwater_producers.spark.connectors.rdd import made_of
from headwater_producers.spark.jvm.scala import class_name, items, private
from headwater_producers.spark.plan.description import SourceKind
from headwater_schemas.events import KafkaRanges, OffsetRange, Position

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater_producers.spark.connectors.question import JvmCommand, JvmLeaf, JvmScan, SourceOffsets
    from headwater_producers.spark.plan.leaves import Leaf
    from headwater_producers.spark.plan.written import Written

# A topic of more partitions isn't worth so many round trips: its position stays unknown.
_MAX_RANGES: Final = 1_000
_V1: Final = "KafkaRelation"
_WRITE: Final = "KafkaStreamingWrite"
_SCAN: Final = "KafkaScan"


class Kafka(Connector):
    """Topics."""

    classes = frozenset({_V1, _WRITE, _SCAN, "KafkaSourceProvider", "KafkaTable"})

    def read(self, leaf: JvmLeaf) -> Leaf | None:
        options = private(leaf.subject, "sourceOptions") if class_name(leaf.subject) == _V1 else leaf.options
        return read_topics(leaf, options)

    def write(self, command: JvmCommand) -> Written | None:
        return write_continuously(command) if class_name(command.subject) == _WRITE else write_topics(command)

    def scanned(self, scan: JvmScan) -> Scanned | None:
        if class_name(scan.subject) == _SCAN:
            return Scanned(positions=_positions(items(scan.node.inputPartitions())))
        # Of a reader without V2, which is Spark's default: the offsets are those of the RDD that it was planned as.
        sources = list(made_of(scan.node.rdd(), "KafkaSourceRDD"))
        return Scanned(positions=_positions(sources[0].partitions()) if len(sources) == 1 else {})

    def read_range(self, source: SourceOffsets) -> tuple[RangeRead, ...] | None:
        # By the plan: a source of one's own may have offsets of the same shape.
        end = kafka_offsets(source.end) if source.kind is SourceKind.KAFKA else None
        if end is None:
            return None
        read = kafka_ranges(kafka_offsets(source.start), end, source.first)
        return tuple(
            RangeRead(position=Position(kafka=found.ranges), certainty=found.certainty, dataset=topic)
            for topic, found in sorted(read.items())
        )


def _positions(partitions: Iterable[Any]) -> Mapping[str, Position]:
    read: dict[str, list[OffsetRange]] = {}
    for number, partition in enumerate(partitions):
        if number >= _MAX_RANGES:
            return {}
        offsets = partition.offsetRange()
        topic = offsets.topicPartition()
        found = OffsetRange(int(topic.partition()), int(offsets.fromOffset()), int(offsets.untilOffset()))
        read.setdefault(str(topic.topic()), []).append(found)
    # "earliest" and "latest" are negative, and become numbers only in the tasks: then nothing is known here.
    return {
        topic: Position(kafka=KafkaRanges(topic, _joined(ranges)))
        for topic, ranges in read.items()
        if all(min(each.from_, each.to_exclusive) >= 0 for each in ranges)
    }


def _joined(ranges: list[OffsetRange]) -> tuple[OffsetRange, ...]:
    """One range a partition: `minPartitions` reads a partition in several pieces, next to each other."""
    whole: dict[int, OffsetRange] = {}
    for each in sorted(ranges):
        first = whole.get(each.partition, each)
        whole[each.partition] = OffsetRange(each.partition, first.from_, each.to_exclusive)
    return tuple(whole.values())
