"""Expected content of the graph, folded from the topic up to the consumer group's committed offsets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from headwater_consumers.kafka.offsets import OffsetReader
from headwater_consumers.kafka.records import FetchedRecord, Partition
from headwater_consumers.kafka.topic_reader import records_to_end
from headwater_consumers.materializer.dead_letters.inspection import named
from headwater_consumers.materializer.dead_letters.letter import REPLAYED_FROM, RecordCoordinates
from headwater_consumers.materializer.dead_letters.topic import letters as stored_letters
from headwater_consumers.materializer.future import as_counted
from headwater_consumers.materializer.limits import FUTURE_MAX_SECONDS
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.fold.builder import Builder
from headwater_graph.fold.fold import fold_event
from headwater_graph.fold.rejection import reject_decoded
from headwater_schemas.codec import Decoder
from headwater_schemas.errors import DecodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.kafka.client import quiet
from headwater_schemas.topics import TopicNames

_REQUEST_SECONDS = 10.0


@dataclass(slots=True)
class Truth:
    """Expected state of the graph, folded again from the records that the group has committed.

    Attributes:
        delta: base facts of all committed events that weren't dead-lettered.
        dead_lettered: number of records left out because they are on the dead-letter topic.
        good_letters: dead letters, as `topic[partition]@offset (reason)`, whose event can now be read and folded, but
            wasn't replayed. Their events are missing in the graph and could be applied.
        left_out: unreadable offsets, as `topic[partition]@offset to offset: why`, with or without a dead letter. It is
            unknown if their events belong in the graph.
        unaccounted: records, as `topic[partition]@offset`, that can't be applied and have no dead letter: lost.
        committed: offset up to which the topic was read, by partition.
    """

    delta: GraphDelta
    events: int = 0
    dead_lettered: int = 0
    good_letters: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unaccounted: list[str] = field(default_factory=list)
    committed: dict[Partition, int] = field(default_factory=dict)


def committed_offsets(client: Mapping[str, Any], topic: str, group: str) -> dict[Partition, int]:
    """Return the group's committed offset of each partition; 0 if no offset is committed.

    Raises:
        KafkaException: the brokers don't answer in time or refuse.
    """
    positions = OffsetReader(client, group=group).positions(topic, timeout_seconds=_REQUEST_SECONDS)
    return {position.partition: position.committed or 0 for position in positions}


def truth(
    client: Mapping[str, Any],
    topics: TopicNames,
    group: str,
    decoder: Decoder,
    *,
    read: Callable[[], None],
    future_max_seconds: float = FUTURE_MAX_SECONDS,
) -> Truth:
    """Fold the events topic. Only the graph's base facts are in memory, not the events.

    Args:
        client: librdkafka settings with the bootstrap servers and the credentials.
        topics: names of the events topic and of the dead-letter topic.
        group: consumer group whose committed offsets limit the fold.
        read: called once for each record.
        future_max_seconds: the consumers' setting of this name.

    Raises:
        KafkaException, BrokerUnavailableError: the brokers don't answer or refuse.
        TransientError: a schema can't be looked up now.
    """
    client = quiet(client)
    # Read before the letters: a letter is acknowledged before its offset is committed, so no letter can be missing.
    committed = committed_offsets(client, topics.events, group)
    letters = {
        (letter.source.partition, offset): letter.reason
        for letter in stored_letters(client, topics.dead_letters)
        if letter.source is not None
        for offset in range(letter.source.offset, min(letter.source.end, committed.get(letter.source.partition, 0)))
    }
    builder = Builder()
    found = Truth(builder.delta, committed=committed)
    good: dict[str, str] = {}
    replayed: set[str] = set()
    for record in records_to_end(client, topics.events):
        replayed.update(_text(value) for name, value in record.headers if name == REPLAYED_FROM)
        if record.offset >= committed.get(record.partition, 0):
            continue
        read()
        if record.unread is not None:
            offsets = range(record.offset, min(record.end, committed[record.partition]))
            with_letter = sum((record.partition, offset) in letters for offset in offsets)
            found.dead_lettered += with_letter
            found.left_out.append(f"{record}: {record.unread.why}")
            if with_letter < len(offsets):
                found.unaccounted.append(str(record))
            continue
        source = RecordCoordinates(record.partition, record.offset, record.end)
        event = _readable(record, decoder)
        if (reason := letters.get((record.partition, record.offset))) is not None:
            found.dead_lettered += 1
            if event is not None and _folds(event):
                good[named(source)] = f"{record} ({reason})"
        elif event is None:
            found.unaccounted.append(str(record))
        else:
            fold_event(builder, as_counted(event, record.timestamp_ms, future_max_seconds))
            found.events += 1
    found.good_letters = [text for name, text in good.items() if name not in replayed]
    return found


def _readable(record: FetchedRecord, decoder: Decoder) -> LineageEvent | None:
    """Decode a record; return its event if a consumer would apply it."""
    try:
        event = decoder.decode(record.value)
    except DecodeError:
        return None
    return event if reject_decoded(event) is None else None


def _folds(event: LineageEvent) -> bool:
    try:
        fold_event(Builder(), event)
    except Exception:  # noqa: BLE001 - then its letter FOLD_FAILED is correct
        return False
    return True


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
