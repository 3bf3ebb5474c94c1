"""Which micro-batches read or wrote some offsets.

A query's offsets grow from batch to batch, so the first batch that reaches an offset is searched for; those after it
are looked at until they are past. Where offsets go back (`rewinds`) the query is searched in pieces. Batches that don't
say what they read or wrote are passed over; where they leave offsets to nobody else, they are named as those that may
have.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import PartKind
from headwater_consumers.analysis.trace.batches import Batch, Query
from headwater_consumers.analysis.trace.search import Search, run
from headwater_consumers.analysis.trace.spans import Spans, difference, intersection, union
from headwater_consumers.analysis.trace.stretch import before, listed, same_topic, stretches
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neo4j import Record

    from headwater_consumers.analysis.reader import Transaction

FEW = 4
"""Batches looked at from the first on; mostly one or two are enough."""
STRETCH = 64
"""Batches looked at where those few aren't enough."""
WINDOW = 16
"""Batches in a row that a second look asks, until one says something."""
MOST_BATCHES = 1_000
"""Batches that a hop looks at one by one; beyond them only the ends of a range are."""


@dataclass(frozen=True, slots=True)
class Want:
    """Offsets of a dataset that a query may have read (or written)."""

    query: Query
    dataset: str
    spans: Spans
    topic_id: str | None
    produced: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """A micro-batch that did, with the wanted offsets among its own."""

    batch: Batch
    spans: Spans
    certainty: Certainty


@dataclass(slots=True)
class Located:
    """What became of a Want.

    Attributes:
        want: it.
        hits: micro-batches, by batch.
        guesses: micro-batches that don't say, next to which offsets are missing; by batch.
        left: the wanted offsets that no hit has.
        says: whether any micro-batch of the query says what it read (or wrote) of the dataset.
        met_silence: whether some that was looked at doesn't.
        rewinds: first batches of the pieces after the first.
        cut: whether a range of more than MOST_BATCHES was only looked at in part: then its last batch is among the
            hits, and what is in between is not.
    """

    want: Want
    hits: list[Hit] = field(default_factory=list)
    guesses: list[Batch] = field(default_factory=list)
    left: Spans = field(default_factory=dict)
    says: bool = False
    met_silence: bool = False
    rewinds: tuple[int, ...] = ()
    cut: bool = False


def pieces(tx: Transaction, queries: Iterable[Query]) -> dict[str, list[tuple[int, int]]]:
    """The batch ids of each query, first and last of every piece within which offsets only grow; by the query's key."""
    by_key = {query.key: query for query in queries}
    starts: dict[str, list[int]] = defaultdict(list)
    for row in tx.rows("trace/rewinds", queries=sorted(by_key)):
        starts[row["query"]].append(row["batch"])
    out = {}
    for key, query in by_key.items():
        first = [query.first_batch, *sorted(starts[key])]
        out[key] = list(zip(first, [*(start - 1 for start in first[1:]), query.last_batch], strict=True))
    return out


def locate(tx: Transaction, wants: Sequence[Want]) -> list[Located]:
    """Find the micro-batches of every want, with as few round trips as for one."""
    out = [Located(want, left=want.spans) for want in wants]
    if not wants:
        return out
    parts = pieces(tx, [want.query for want in wants])
    for located in out:
        located.rewinds = tuple(first for first, _ in parts[located.want.query.key][1:])
    # All partitions at once: they mostly go together. What is left is looked for partition by partition.
    _find(tx, [(located, piece, located.want.spans) for located in out for piece in parts[located.want.query.key]])
    again = [
        (located, piece, {partition: spans})
        for located in out
        for partition, spans in located.want.spans.items()
        if _needs_another_look(located, partition)
        for piece in parts[located.want.query.key]
    ]
    _find(tx, again, window=WINDOW)
    _guess(tx, [(located, piece) for located in out if located.left for piece in parts[located.want.query.key]])
    for located in out:
        located.hits.sort(key=lambda hit: hit.batch.first)
        located.guesses.sort(key=lambda batch: batch.first)
    return out


Job = tuple[Located, tuple[int, int], Spans]


def _needs_another_look(located: Located, partition: int) -> bool:
    """Whether a partition may have been passed over because another one, or a silent batch, was looked at."""
    several = len(located.want.spans) > 1
    if located.rewinds:
        return several or located.met_silence
    return partition in located.left and (several or located.met_silence)


def _find(tx: Transaction, jobs: Sequence[Job], window: int = 1) -> None:
    searches = [_search(located, piece, spans, _reaches) for located, piece, spans in jobs]
    _run(tx, [(located, search) for search, (located, _, _) in zip(searches, jobs, strict=True)], window)
    starts: list[tuple[Job, int, int]] = []
    for search, job in zip(searches, jobs, strict=True):
        job[0].met_silence = job[0].met_silence or search.met_silence
        if search.found is not None:
            starts.append((job, search.found, job[1][1]))
    # A record, or what one batch wrote, was mostly read by one batch or two: STRETCH at once reads 60 in vain.
    for limit in (FEW, STRETCH):
        found = stretches(tx, [(job[0].want.query.key, first, last) for job, first, last in starts], limit)
        ended = [
            _collect(start[0], batches) or len(batches) < limit for start, batches in zip(starts, found, strict=True)
        ]
        starts = [start for start, end in zip(starts, ended, strict=True) if not end]
    _find_long(tx, starts, window)


def _find_long(tx: Transaction, jobs: Sequence[tuple[Job, int, int]], window: int) -> None:
    """A range of more batches than STRETCH: search for its end too."""
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
    """Batches that say nothing, just before the first that reaches what is left: they may have read or written it."""
    single: list[Job] = [
        (located, piece, {partition: spans})
        for located, piece in jobs
        if located.says and located.met_silence
        for partition, spans in located.left.items()
    ]
    after = [_search(located, piece, spans, _reaches) for located, piece, spans in single]
    _run(tx, list(zip((job[0] for job in single), after, strict=True)), WINDOW)
    ends = [
        piece[1] + 1 if search.found is None else search.found
        for (_, piece, _), search in zip(single, after, strict=True)
    ]
    wanted = [(located.want.query.key, end) for (located, _, _), end in zip(single, ends, strict=True)]
    for (located, piece, _), batches in zip(single, before(tx, wanted, STRETCH), strict=True):
        known = {batch.first for batch in located.guesses}
        for batch in batches:
            uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
            if batch.first < piece[0] or not uses or any(use.kind is not PartKind.UNKNOWN for use in uses):
                break
            if batch.first not in known:
                located.guesses.append(batch)


_COLUMNS = ("position", "topic_id", "partitions", "from", "to_exclusive", "format", "from_version", "to_version")
Test = Callable[[dict[int, tuple[int, int]], Spans], bool]


def _search(located: Located, piece: tuple[int, int], spans: Spans, test: Test) -> Search:
    want = located.want

    def reached(row: Record) -> bool | None:
        said = []
        for use in row["uses"]:
            position = dict(zip(_COLUMNS, use, strict=True))
            ranges = listed(position)
            located.says = located.says or bool(ranges)
            if same_topic(want.topic_id, position["topic_id"]) and ranges.keys() & spans.keys():
                said.append(test(ranges, spans))
        if not said:
            return None
        # Two sources may read one topic at their own pace: the first to reach, the last to be past.
        return all(said) if test is _is_past else any(said)

    return Search(want.query.key, *piece, reached, want.dataset)


def _reaches(ranges: dict[int, tuple[int, int]], spans: Spans) -> bool:
    """Whether a range ends behind the first wanted offset, of any partition."""
    return any(ranges[partition][1] > wanted[0][0] for partition, wanted in spans.items() if partition in ranges)


def _is_past(ranges: dict[int, tuple[int, int]], spans: Spans) -> bool:
    """Whether every listed range begins behind the last wanted offset."""
    return all(ranges[partition][0] >= wanted[-1][1] for partition, wanted in spans.items() if partition in ranges)


def _collect(job: Job, batches: Iterable[Batch]) -> bool:
    """Take the batches that have some of the wanted offsets; whether a later one was seen that is past them all."""
    located, _, spans = job
    known = {(hit.batch.first): at for at, hit in enumerate(located.hits)}
    for batch in batches:
        ranges: dict[int, tuple[int, int]] = {}
        taken: list[tuple[Spans, Certainty]] = []
        uses = batch.writes(located.want.dataset) if located.want.produced else batch.reads(located.want.dataset)
        for use in uses:
            if not same_topic(located.want.topic_id, use.topic_id):
                continue
            ranges |= listed(use.properties)
            if both := intersection(use.spans, spans):
                taken.append((both, use.certainty))
        for both, certainty in taken:
            located.left = difference(located.left, both)
            if batch.first in known:
                old = located.hits[known[batch.first]]
                located.hits[known[batch.first]] = Hit(batch, _join(old.spans, both), old.certainty)
            else:
                known[batch.first] = len(located.hits)
                located.hits.append(Hit(batch, both, certainty))
        if not taken and ranges.keys() & spans.keys() and _is_past(ranges, spans):
            return True
    return False


def _join(one: Spans, other: Spans) -> Spans:
    return union([(p, a, b) for spans in (one, other) for p, pieces_ in spans.items() for a, b in pieces_])


def _run(tx: Transaction, searches: Sequence[tuple[Located, Search]], window: int) -> None:
    for produced, statement in ((False, "trace/probe_consumed"), (True, "trace/probe_produced")):
        of_kind = [search for located, search in searches if located.want.produced is produced]
        run(tx, statement, of_kind, window=window)
