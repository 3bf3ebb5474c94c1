"""Kafka's offsets as Spark writes them, and the half-open ranges between two of them.

An offset is `{"topic": {"partition": next offset to read}}`: the last batch's end is the next batch's start.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_schemas.events import Certainty, KafkaRanges, OffsetRange

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

KafkaOffsets = dict[str, dict[int, int]]


@dataclass(frozen=True, slots=True)
class TopicRanges:
    """What one micro-batch read of one topic, and how sure that is."""

    ranges: KafkaRanges
    certainty: Certainty


def kafka_offsets(value: Any) -> KafkaOffsets | None:
    """Reads an offset.

    Returns:
        Next offsets by topic and partition; None where `value` is no Kafka offset.
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
    """The ranges read by a micro-batch, by topic.

    A partition that `end` has and `start` hasn't is new in this batch. Spark reads it from its earliest offset, which
    isn't in the progress: 0 is taken, and the topic's certainty is INFERRED. A partition that only `start` has is gone,
    and not listed. Where `end` is before `start` the topic was deleted and made anew: of what it holds by then Spark
    reads nothing (with `failOnDataLoss` it fails), and goes on from there. So the range is an empty one, INFERRED.

    Args:
        start: the progress's start; None in a query's first batch.
        end: the progress's end.
        first: where the source began, by its own log in the checkpoint: the truth for a first batch.
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
        # -1 and -2 stand for "latest" and "earliest" in options; a resolved offset never is.
        raise ValueError(f"offset {number}")
    return number


def is_of_pattern(description: str) -> bool:
    """Whether a source, by its description in a progress, subscribes to a pattern of topics."""
    return "[SubscribePattern[" in description


def topics_read(progress: Mapping[str, Any] | None) -> dict[int, Collection[str]]:
    """The topics of each Kafka source of a PySpark `StreamingQueryProgress`, by its index; None: there is none yet."""
    found: dict[int, Collection[str]] = {}
    for index, source in enumerate(progress["sources"] if progress else ()):
        if str(source["description"]).startswith("KafkaV2["):
            end = source["endOffset"]
            found[index] = tuple(json.loads(end) if isinstance(end, str) else end or ())
    return found
