"""Facts for reprocessing of streaming queries: micro-batches, their input for Spark, the checkpoint, and the state."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from headwater_analysis.incidents.planning.planned import EarlierInput, KafkaRange, QueryReplay, ReplayedBatches
from headwater_analysis.trace.batches import Query, before, stretches
from headwater_analysis.trace.by_time import ends
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import between, joined
from headwater_analysis.trace.state import spread_backward, state_of
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind
from headwater_graph.keys import query_key


def query_replay(context: Context, hops: Iterable[Hop]) -> QueryReplay | None:
    """Find the facts for reprocessing micro-batches of one query; None: none of the micro-batches is known.

    Args:
        context: context of the trace.
        hops: hops of one query whose output is bad.
    """
    known = [hop.step for hop in hops if hop.step.query_id is not None]
    key = query_key(context.tx.tenant, known[0].query_id or "") if known else ""
    query = context.queries([key]).get(key)
    ranges = [(step.first_batch, step.last_spread) for step in known]
    bad = batch_ranges((first, last) for first, last in ranges if first is not None and last is not None)
    if query is None or not bad:
        return None
    stored = context.tx.row("incidents/checkpoints", queries=[key])
    first = bad[0][0]
    return QueryReplay(
        query_id=query.query_id,
        query_name=query.name,
        checkpoint=None if stored is None else stored["location"],
        restart_after=first - 1 if first > 0 else None,
        newest_batch=query.last_batch,
        batches=tuple(
            ReplayedBatches(first_batch=first, last_batch=last, inputs=read, kafka=kafka_ranges(read))
            for first, last in bad
            for read in [_read(context, query, first, last)]
        ),
        earlier=_earlier(context, query, first),
    )


def batch_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges of batch ids (both ends inclusive) that overlap or follow one another; ascending."""
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = out[-1][0], max(last, out[-1][1])
        else:
            out.append((first, last))
    return out


def _read(context: Context, query: Query, first: int, last: int) -> tuple[Part, ...]:
    """All input of the micro-batches from `first` to `last`, both inclusive.

    With many micro-batches only the two outermost are read, and the result is an upper bound.
    """
    batches, complete = ends(context, query, first, last)
    if not batches:
        return ()
    if complete:
        return joined([(batch, use) for batch in batches for use in batch.reads()], context.datasets)
    return between(context.tx, query, batches[0], batches[-1], produced=False, datasets=context.datasets)


def kafka_ranges(parts: Sequence[Part]) -> tuple[KafkaRange, ...]:
    """Options with which Spark's Kafka source reads these parts, one item per cluster.

    Empty if any part isn't a range of offsets. Spark reads one range of each partition: from the first to the last
    offset of the parts.
    """
    if not all(part.kind is PartKind.OFFSETS for part in parts):
        return ()
    bounds: dict[str, dict[str, dict[int, tuple[int, int]]]] = defaultdict(lambda: defaultdict(dict))
    for part in parts:
        of_topic = bounds[part.dataset.namespace][part.dataset.name]
        for span in part.offsets:
            start, end = of_topic.get(span.partition, (span.start, span.end))
            of_topic[span.partition] = min(start, span.start), max(end, span.end)
    return tuple(_options(cluster, topics) for cluster, topics in sorted(bounds.items()))


def _options(cluster: str, topics: Mapping[str, Mapping[int, tuple[int, int]]]) -> KafkaRange:
    named = {topic: dict(sorted(partitions.items())) for topic, partitions in sorted(topics.items()) if partitions}
    return KafkaRange(
        cluster=cluster,
        assign=json.dumps({topic: list(partitions) for topic, partitions in named.items()}),
        starting_offsets=json.dumps({topic: {p: a for p, (a, _) in each.items()} for topic, each in named.items()}),
        ending_offsets=json.dumps({topic: {p: b for p, (_, b) in each.items()} for topic, each in named.items()}),
    )


def _earlier(context: Context, query: Query, first: int) -> EarlierInput | None:
    """Find earlier input that the output of micro-batch `first` may depend on through state; None: no state is kept."""
    [found] = stretches(context.tx, [(query.key, first, query.last_batch)], 1)
    if not found:
        return None
    batch = found[0]
    state = state_of(context.tx, query, [batch])
    if not state.spreads:
        return None
    spread = spread_backward(context.tx, query, batch, state)
    [previous] = before(context.tx, [(query.key, batch.first)])
    # Windows that this batch output ended after the previous batch's watermark.
    mark = previous[-1].time("watermark_before") if previous else None
    begin = spread.first if spread.bounded else None
    read = () if begin is None or begin >= first else _read(context, query, begin, first - 1)
    return EarlierInput(
        first_batch=begin,
        kafka=kafka_ranges(read) if read else (),
        event_time=None if mark is None or state.horizon is None else mark - state.horizon,
        why=f"{state.why} {spread.why}",
    )
