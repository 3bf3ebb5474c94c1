"""Consecutive micro-batches as one, for a document that stands for all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from headwater_schemas.events import Certainty, DatasetUse, IntervalEntry, KafkaRanges, OffsetRange, Position


def joined(entries: Sequence[IntervalEntry]) -> IntervalEntry | None:
    """The micro-batches as one, by what standard facets say of it: uses with ranges and counts, the last time and plan.

    Args:
        entries: at least one, by batch id.

    Returns:
        None where offsets don't go on from one to the next, or where they used different datasets: there is no one
        range of them.
    """
    inputs, outputs = (_joined_uses([side(entry) for entry in entries]) for side in _SIDES)
    if inputs is None or outputs is None:
        return None
    return msgspec.structs.replace(entries[-1], inputs=inputs, outputs=outputs)


_SIDES: tuple[Callable[[IntervalEntry], tuple[DatasetUse, ...]], ...] = (
    lambda entry: entry.inputs,
    lambda entry: entry.outputs,
)


def _joined_uses(uses: Sequence[tuple[DatasetUse, ...]]) -> tuple[DatasetUse, ...] | None:
    if len({tuple(use.dataset for use in each) for each in uses}) > 1:
        return None
    found = [_joined_use(same) for same in zip(*uses, strict=True)]
    return None if None in found else tuple(use for use in found if use is not None)


def _joined_use(uses: Sequence[DatasetUse]) -> DatasetUse | None:
    last = uses[-1]
    position, certainty = last.position, last.certainty
    if any(use.position is not None and use.position.kafka is not None for use in uses):
        ranges = _joined_ranges([use.position.kafka for use in uses if use.position is not None and use.position.kafka])
        if ranges is None:
            return None
        position = Position(kafka=ranges)
    elif any(use.position != position for use in uses):
        position = None
    if position is None or any(use.certainty is not certainty for use in uses):
        certainty = Certainty.UNKNOWN
    return msgspec.structs.replace(
        last,
        position=position,
        certainty=certainty,
        rows=_sum([use.rows for use in uses]),
        bytes=_sum([use.bytes for use in uses]),
        files=_sum([use.files for use in uses]),
        inputs=last.inputs if all(use.inputs == last.inputs for use in uses) else None,
    )


def _joined_ranges(parts: Sequence[KafkaRanges]) -> KafkaRanges | None:
    if len({(part.topic, part.topic_id) for part in parts}) > 1:
        return None
    found: dict[int, OffsetRange] = {}
    for part in parts:
        for one in part.ranges:
            before = found.get(one.partition)
            if before is not None and before.to_exclusive != one.from_:
                return None
            start = one.from_ if before is None else before.from_
            found[one.partition] = OffsetRange(one.partition, start, one.to_exclusive)
    return msgspec.structs.replace(parts[0], ranges=tuple(found[partition] for partition in sorted(found)))


def _sum(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
