"""Search for the micro-batches that read or wrote given offsets.

- A query's offsets grow from batch to batch. So a search finds the first batch that reaches an offset. The batches
  after it are read until one begins after the wanted offsets.
- Where offsets go back (`rewinds`), each piece of the query between two rewinds is searched separately.
- Batches that don't record their offsets are skipped. If no other batch has the wanted offsets, such a batch becomes a
  guess: it may have used the wanted offsets.
- Likewise, missing batch ids become a hole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from headwater_analysis.micro_batches import StoredMicroBatch, Stretch, stored_batches
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.batches import (
    Batch,
    Query,
    batches_of,
    before,
    listed,
    same_topic,
    stretches,
)
from headwater_analysis.trace.search import Row, Search, look_near, narrow, run
from headwater_analysis.trace.traced_parts import PartKind
from headwater_analysis.trace.uses import StoredUse
from headwater_graph.facts.model import RelType
from headwater_graph.facts.spans import Ranges, Spans, difference, intersection, union
from headwater_schemas.events import Certainty

FEW = 4
"""Number of batches to read first, from the one that a search found; one or two are mostly enough."""
STRETCH = 64
"""Number of batches to read next if `FEW` aren't enough."""
WINDOW = 16
"""Maximum number of batches that a probe of a second search reads to find one that records its offsets."""
MOST_SPANS = 16
"""Maximum number of offset ranges without a batch, per partition, for which guesses and holes are searched."""
MOST_BATCHES = 1_000
"""Maximum number of batches that a hop reads; of a longer range, it reads the first batches and the last batch."""


@dataclass(frozen=True, slots=True)
class WantedOffsets:
    """Offsets of a dataset that a query may have read (or written)."""

    query: Query
    dataset: str
    spans: Spans
    topic_id: str | None
    produced: bool


@dataclass(frozen=True, slots=True)
class OffsetHit:
    """A micro-batch that read (or wrote) wanted offsets, `spans`."""

    batch: Batch
    spans: Spans
    certainty: Certainty


@dataclass(frozen=True, slots=True)
class MissingBatches:
    """Consecutive missing batch ids; no known batch next to them has the wanted offsets.

    Attributes:
        first, last: first and last missing id.
        before: known batch before the missing ids; None: no batch comes before them.
        spans: wanted offsets that a missing batch may have read (or written).
    """

    first: int
    last: int
    before: Batch | None
    after: Batch
    spans: Spans


@dataclass(slots=True)
class Located:
    """Result of a search for wanted offsets, and its state.

    Attributes:
        hits: micro-batches that have wanted offsets, by batch id.
        guesses: micro-batches that don't record their offsets, and may have used the offsets in `left`, by batch id.
        holes: missing micro-batches that may have used the offsets in `left`, by batch id.
        left: wanted offsets that no hit has.
        recorded: whether any micro-batch of the query records its offsets of the dataset.
        met_unknown: whether the search read a micro-batch that doesn't record its offsets of the dataset.
        seen: micro-batches that were read, by their first id.
        earlier: for the first id of a micro-batch that was read: the micro-batch before it, where known.
        unreached: pairs of a piece (first and last batch id) and a partition in which no batch reaches a wanted offset.
        rewinds: first batch of each piece after the first piece.
        cut: whether a range of more than MOST_BATCHES was read only in part: its last batch is then a hit, and batches
            in between are left out.
    """

    want: WantedOffsets
    hits: list[OffsetHit] = field(default_factory=list)
    guesses: list[Batch] = field(default_factory=list)
    holes: list[MissingBatches] = field(default_factory=list)
    left: Spans = field(default_factory=dict)
    recorded: bool = False
    met_unknown: bool = False
    seen: dict[int, Batch] = field(default_factory=dict)
    earlier: dict[int, Batch] = field(default_factory=dict)
    unreached: set[tuple[tuple[int, int], int]] = field(default_factory=set)
    rewinds: tuple[int, ...] = ()
    cut: bool = False


def locate(tx: Transaction, wants: Sequence[WantedOffsets]) -> list[Located]:
    """Find the micro-batches for all wanted offsets, with as few round trips as for one search."""
    out = [Located(want, left=want.spans) for want in wants]
    if not wants:
        return out
    for located in out:
        located.rewinds = located.want.query.rewinds
    # Search all partitions at once, since mostly the same batches use all of them; then the rest, partition by
    # partition.
    _find(tx, [(located, piece, located.want.spans) for located in out for piece in located.want.query.pieces])
    second = [
        (located, piece, {partition: spans})
        for located in out
        for partition, spans in located.want.spans.items()
        if _needs_another_look(located, partition)
        for piece in located.want.query.pieces
    ]
    _find(tx, second, window=WINDOW)
    _guess(tx, [(located, piece) for located in out if located.left for piece in located.want.query.pieces])
    for located in out:
        located.hits.sort(key=lambda hit: hit.batch.first)
        located.guesses.sort(key=lambda batch: batch.first)
        located.holes.sort(key=lambda hole: hole.first)
    return out


Job = tuple[Located, tuple[int, int], Spans]
"""Search in one piece of a query: the result to fill, first and last batch id of the piece, and wanted offsets."""


def _needs_another_look(located: Located, partition: int) -> bool:
    """Return whether the first search may have missed a partition, due to other partitions or unrecorded batches."""
    several = len(located.want.spans) > 1
    if located.rewinds:
        return several or located.met_unknown
    return partition in located.left and (several or located.met_unknown)


def _find(tx: Transaction, jobs: Sequence[Job], window: int = 1) -> None:
    searches = [_search(located, piece, spans, _reaches) for located, piece, spans in jobs]
    _run(tx, [(located, search) for search, (located, _, _) in zip(searches, jobs, strict=True)], window)
    starts: list[tuple[Job, int, int]] = []
    for search, job in zip(searches, jobs, strict=True):
        job[0].met_unknown = job[0].met_unknown or search.met_unknown
        if search.found is not None:
            starts.append((job, search.found, job[1][1]))
        elif window > 1 or (len(job[2]) == 1 and not search.met_unknown):
            job[0].unreached.update((job[1], partition) for partition in job[2])
    # Mostly, one or two batches read an offset or the output of one batch: reading STRETCH at once would waste 60.
    for limit in (FEW, STRETCH):
        batches = stored_batches(
            tx, [Stretch(job[0].want.query.key, first, last) for job, first, last in starts], limit
        )
        ended = [
            _collect_until_past(job, each) or len(each) < limit
            for (job, _, _), each in zip(starts, batches, strict=True)
        ]
        starts = [start for start, end in zip(starts, ended, strict=True) if not end]
    _find_long(tx, starts, window)


def _find_long(tx: Transaction, jobs: Sequence[tuple[Job, int, int]], window: int) -> None:
    """Search also for the end of a range that has more batches than STRETCH."""
    if not jobs:
        return
    ends = [_search(job[0], (first, last), job[2], _is_past) for job, first, last in jobs]
    _run(tx, [(job[0], end) for end, (job, _, _) in zip(ends, jobs, strict=True)], window)
    until = [last if end.found is None else end.found - 1 for end, (_, _, last) in zip(ends, jobs, strict=True)]
    wanted = [(job[0].want.query.key, first, end) for (job, first, _), end in zip(jobs, until, strict=True)]
    for (job, _, _), batches, (query, _, end) in zip(jobs, stretches(tx, wanted, MOST_BATCHES), wanted, strict=True):
        _collect(job, batches)
        if len(batches) == MOST_BATCHES and batches[-1].last < end:
            job[0].cut = True
            _collect(job, before(tx, [(query, end + 1)])[0])


def _guess(tx: Transaction, jobs: Sequence[tuple[Located, tuple[int, int]]]) -> None:
    """Add guesses (batches that don't record their offsets) and holes (missing ids) for the offsets that are left.

    Such offsets lie between the first batch that reaches them and the last batch before it that records its offsets.
    """
    single: list[Job] = [
        (located, piece, {partition: [span]})
        for located, piece in jobs
        if located.recorded
        for partition in located.left
        for span in _left(located, partition)
    ]
    holes: list[tuple[Job, int, int, Batch | None]] = []
    for job, (end, batches, none_earlier) in zip(single, _neighbours(tx, single), strict=True):
        located, piece, _ = job
        known, following = {batch.first for batch in located.guesses}, end
        for batch in batches:
            if batch.last + 1 < following:
                holes.append((job, batch.last + 1, following - 1, batch))
            uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
            if batch.first < piece[0] or not uses or any(use.kind is not PartKind.UNKNOWN for use in uses):
                break
            if batch.first not in known:
                located.guesses.append(batch)
            following = batch.first
        else:
            if none_earlier and 0 < following <= located.want.query.last_batch:
                holes.append((job, 0, following - 1, None))
    _add_holes(tx, holes)


def _left(located: Located, partition: int) -> list[tuple[int, int]]:
    """Wanted ranges of a partition that no hit has, at most MOST_SPANS, split where a batch read an empty range."""
    points: set[int] = set()
    for batch in located.seen.values():
        uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
        for use in uses:
            start, end = listed(use.properties).get(partition, (0, 1))
            if start == end:
                points.add(start)
    out: list[tuple[int, int]] = []
    for start, end in located.left[partition]:
        out += pairwise([start, *sorted(point for point in points if start < point < end), end])
    return out[:MOST_SPANS]


Neighbours = tuple[int, list[Batch], bool]
"""Id of the first batch that reaches an offset; earlier batches, the latest first; whether these are all of them."""


def _neighbours(tx: Transaction, jobs: Sequence[Job]) -> list[Neighbours]:
    """Find the batches next to each job's range of offsets.

    Searches the graph only if the batches that were read already don't show these neighbours.
    """
    out: dict[int, Neighbours] = {}
    ends = {n: end for n, job in enumerate(jobs) if (end := _seen_end(job)) is not None}
    for n, end in ends.items():
        if _settled(jobs[n], around := (end, _seen_before(jobs[n][0], end), False)):
            out[n] = around
    ends = {n: end for n, end in ends.items() if n not in out}
    for limit in (1, STRETCH):
        asked = _before(tx, jobs, {n: end for n, end in ends.items() if n not in out}, limit)
        out |= {n: each for n, each in asked.items() if _settled(jobs[n], each)}
        if limit == STRETCH:
            out |= {n: each for n, each in asked.items() if each[0] > jobs[n][1][1]}
    searched = {n: _search(*job, _reaches) for n, job in enumerate(jobs) if n not in out}
    _run(tx, [(jobs[n][0], search) for n, search in searched.items()], WINDOW)
    ends = {n: jobs[n][1][1] + 1 if each.found is None else each.found for n, each in searched.items()}
    out |= _before(tx, jobs, ends, STRETCH)
    return [out[n] for n in range(len(jobs))]


def _seen_end(job: Job) -> int | None:
    """Id of the first batch read that reaches a range; the id after the piece if no batch does; None if unknown."""
    located, piece, spans = job
    [partition] = spans
    if (piece, partition) in located.unreached:
        return piece[1] + 1
    for first in sorted(located.seen):
        if piece[0] <= first <= piece[1] and _reaches_wanted(job, located.seen[first]):
            return first
    return None


def _seen_before(located: Located, end: int) -> list[Batch]:
    out: list[Batch] = []
    while len(out) < STRETCH and (earlier := located.earlier.get(end)) is not None:
        out.append(earlier)
        end = earlier.first
    return out


def _before(tx: Transaction, jobs: Sequence[Job], ends: dict[int, int], limit: int) -> dict[int, Neighbours]:
    keys = {n: (jobs[n][0].want.query.key, end) for n, end in ends.items()}
    wanted = sorted(set(keys.values()))
    earlier = dict(zip(wanted, before(tx, wanted, limit), strict=True))
    return {n: (ends[n], earlier[key], len(earlier[key]) < limit) for n, key in keys.items()}


def _settled(job: Job, around: Neighbours) -> bool:
    """Return whether these batches prove that no earlier batch than the found one reaches the range."""
    _, batches, none_earlier = around
    for batch in batches:
        if batch.first < job[1][0]:
            return True
        if (reaches := _reaches_wanted(job, batch)) is not None:
            return not reaches
    return none_earlier


def _reaches_wanted(job: Job, batch: Batch) -> bool | None:
    """Return whether a batch reaches the wanted offsets; None if the batch doesn't record offsets."""
    located, _, spans = job
    uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
    ranges = [listed(use.properties) for use in uses if same_topic(located.want.topic_id, use.topic_id)]
    reached_each = [_reaches(each, spans) for each in ranges if _has_any(each, spans)]
    return any(reached_each) if reached_each else None


def _add_holes(tx: Transaction, holes: Sequence[tuple[Job, int, int, Batch | None]]) -> None:
    """Add each hole to its result, with the batch after the hole and the wanted offsets in it."""
    beyond = stretches(tx, [(job[0].want.query.key, last + 1, last + 1) for job, _, last, _ in holes], 1)
    for (job, first, last, earlier), later in zip(holes, beyond, strict=True):
        located, _, spans = job
        if not later:
            continue
        for at, hole in enumerate(located.holes):
            if (hole.first, hole.last) == (first, last):
                located.holes[at] = MissingBatches(first, last, earlier, later[0], _join(hole.spans, spans))
                break
        else:
            located.holes.append(MissingBatches(first, last, earlier, later[0], spans))


def holes_among(
    tx: Transaction, query: Query, batches: Sequence[Batch], first: int, last: int, retired: Ranges
) -> list[MissingBatches]:
    """Find the holes of a query among its batch ids from `first` to `last`.

    Args:
        query: the query; `first` and `last` lie within its first and last known batch.
        batches: all known batches from `first` to `last`, in order.
        first: first batch id.
        last: last batch id, included.
        retired: batch ids whose micro-batches the graph no longer stores individually; these are no holes.
    """
    known = sorted([*((batch.first, batch.last) for batch in batches), *((start, end - 1) for start, end in retired)])
    bounds = [(first - 1, first - 1), *known, (last + 1, last + 1)]
    missing = [(a[1] + 1, b[0] - 1) for a, b in pairwise(bounds) if a[1] + 1 < b[0]]
    earlier = before(tx, [(query.key, start) for start, _ in missing])
    later = stretches(tx, [(query.key, end + 1, query.last_batch) for _, end in missing], 1)
    return [
        MissingBatches(start, end, next(iter(one), None), other[0], {})
        for (start, end), one, other in zip(missing, earlier, later, strict=True)
        if other
    ]


Test = Callable[[Mapping[int, tuple[int, int]], Spans], bool]
"""Condition on a batch's offset ranges (by partition) and the wanted offsets."""


def _search(located: Located, piece: tuple[int, int], spans: Spans, test: Test) -> Search:
    want = located.want

    def reached(row: Row) -> bool | None:
        reached_each = []
        for position in row["uses"]:
            ranges = listed(position)
            located.recorded = located.recorded or bool(ranges)
            if same_topic(want.topic_id, position.get("topic_id")) and _has_any(ranges, spans):
                reached_each.append(test(ranges, spans))
        if not reached_each:
            return None
        # Two sources may read one topic at different speeds. A batch reaches an offset if one source does, and is past
        # the offset if all sources are.
        return all(reached_each) if test is _is_past else any(reached_each)

    near = None
    if test is _reaches and spans:
        partition = min(spans)
        near = partition, spans[partition][0][0]
    return Search(want.query.key, *piece, reached, want.dataset, near=near)


def _has_any(ranges: Mapping[int, tuple[int, int]], spans: Spans) -> bool:
    """Return whether any wanted partition is listed."""
    return any(partition in ranges for partition in spans)


def _reaches(ranges: Mapping[int, tuple[int, int]], spans: Spans) -> bool:
    """Return whether the range of any partition ends after the partition's first wanted offset."""
    return any(ranges[partition][1] > wanted[0][0] for partition, wanted in spans.items() if partition in ranges)


def _is_past(ranges: Mapping[int, tuple[int, int]], spans: Spans) -> bool:
    """Return whether every listed range begins after its partition's last wanted offset."""
    return all(ranges[partition][0] >= wanted[-1][1] for partition, wanted in spans.items() if partition in ranges)


def _collect(job: Job, batches: Sequence[Batch]) -> bool:
    """Add consecutive batches with wanted offsets to the hits; return True once a batch is past all these offsets."""
    located, _, spans = job
    located.seen |= {batch.first: batch for batch in batches}
    located.earlier |= {later.first: earlier for earlier, later in pairwise(batches)}
    known = {(hit.batch.first): at for at, hit in enumerate(located.hits)}
    for batch in batches:
        uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
        taken = [
            (both, use.certainty)
            for use in uses
            if same_topic(located.want.topic_id, use.topic_id) and (both := intersection(use.spans, spans))
        ]
        for both, certainty in taken:
            located.left = difference(located.left, both)
            if batch.first in known:
                old = located.hits[known[batch.first]]
                located.hits[known[batch.first]] = OffsetHit(batch, _join(old.spans, both), old.certainty)
            else:
                known[batch.first] = len(located.hits)
                located.hits.append(OffsetHit(batch, both, certainty))
        if not taken and _all_past(job, uses):
            return True
    return False


def _all_past(job: Job, uses: Sequence[StoredUse]) -> bool:
    """Return whether all offsets of the dataset that a batch used are after the wanted offsets."""
    located, _, spans = job
    ranges: dict[int, tuple[int, int]] = {}
    for use in uses:
        if same_topic(located.want.topic_id, use.topic_id):
            ranges |= listed(use.properties)
    return _has_any(ranges, spans) and _is_past(ranges, spans)


def _collect_until_past(job: Job, batches: Sequence[StoredMicroBatch]) -> bool:
    """Collect hits like `_collect`. The batch past all wanted offsets is decoded only if some of these are left."""
    earlier, past = _up_to_past(job, batches)
    if _collect(job, batches_of(earlier)):
        return True
    if past and job[0].left:
        _collect(job, batches_of((*earlier[-1:], *past)))
    return bool(past)


def _up_to_past(
    job: Job, batches: Sequence[StoredMicroBatch]
) -> tuple[Sequence[StoredMicroBatch], Sequence[StoredMicroBatch]]:
    """Split off the first batch that is past all wanted offsets; later batches needn't be decoded."""
    located, _, spans = job
    want = located.want
    type_ = RelType.PRODUCED if want.produced else RelType.CONSUMED
    for n, batch in enumerate(batches, 1):
        ranges = [
            listed(position)
            for position in batch.positions(type_, want.dataset)
            if same_topic(want.topic_id, position.get("topic_id"))
        ]
        ranges = [each for each in ranges if _has_any(each, spans)]
        if ranges and all(_is_past(each, spans) for each in ranges):
            return batches[: n - 1], batches[n - 1 : n]
    return batches, ()


def _join(one: Spans, other: Spans) -> Spans:
    return union([(p, a, b) for spans in (one, other) for p, pieces_ in spans.items() for a, b in pieces_])


def _run(tx: Transaction, searches: Sequence[tuple[Located, Search]], window: int) -> None:
    for type_ in (RelType.CONSUMED, RelType.PRODUCED):

        def read(search: Search, batch: StoredMicroBatch, type_: RelType = type_) -> Row:
            return {"batch": batch.batch_id, "uses": batch.positions(type_, search.dataset)}

        of_kind = [search for located, search in searches if located.want.produced is (type_ is RelType.PRODUCED)]
        if window == 1:
            look_near(tx, of_kind, type_.value, read)
        narrow(tx, of_kind, type_.value)
        run(tx, of_kind, read, window=window)
