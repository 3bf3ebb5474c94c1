"""Bad data of a scope in the graph: parts of datasets, and runs and micro-batches that wrote bad data themselves.

| part of a scope                | bad data                                                                        |
|--------------------------------|---------------------------------------------------------------------------------|
| offsets, files, partition, version | this data, as `trace` finds it                                              |
| a dataset in a processing time | output of runs and micro-batches of that time; for a topic: records that arrived |
| a dataset in an event time     | input of queries while their watermarks allowed records of that time            |
| a dataset                      | the whole dataset                                                               |
| a run                          | its output, and the output of the runs that it started                          |
| a job, a code version          | output of its runs                                                              |
| a query, micro-batches         | their output, and output of later micro-batches from their state                |
| since the last good run        | output since the last run or micro-batch that is known to be good               |
| a consumer                     | none: the graph records no data of consumers                                    |

If a part can't be determined exactly, the next larger known part counts; `certainty` and `why` state this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.blast.origin import batches_hop, run_origin
from headwater_analysis.errors import AmbiguousError, ArrivalsUnknownError, NotFoundError, QuestionError
from headwater_analysis.moments import EVER, moment
from headwater_analysis.runs.last_good_run import quality_turns
from headwater_analysis.runs.records import QualityTurn
from headwater_analysis.trace.batches import Query
from headwater_analysis.trace.by_time import batches_before, ends, first_after, running_at
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.parts import between, join, joined
from headwater_analysis.trace.prefetch import prefetch
from headwater_analysis.trace.search import Row, Search, run_by_time
from headwater_analysis.trace.starts import (
    Path,
    Times,
    VersionOf,
    partitions_of_topic,
    parts_at,
    parts_of_start,
)
from headwater_analysis.trace.state import reported_horizon, state_of
from headwater_analysis.trace.traced_parts import Hop, OffsetSpan, Part, PartKind, weakest
from headwater_graph import keys
from headwater_graph.facts.model import RelType
from headwater_schemas.events import Certainty, DatasetRef, IncidentClock, IncidentScope, JobRef
from headwater_schemas.identity import utc_text
from headwater_schemas.ranges import MOST_OFFSET, batches_text

MOST_RUNS: Final = 200
"""Maximum number of runs of a job for one part of a scope; the latest runs count."""
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
_AFTER: Final = timedelta(microseconds=1)
_BOTH: Final = (RelType.CONSUMED, RelType.PRODUCED)
_EVERYTHING: Final = "everything counts as bad"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Bad data of one part of a scope.

    Attributes:
        part: the part.
        parts: bad parts of datasets.
        hops: runs and micro-batches that wrote bad data themselves; `reach` numbers them later.
        certainty: as in `ResolvedPart`.
        why: the facts behind the certainty, as sentences.
    """

    part: IncidentScope
    parts: tuple[Part, ...] = ()
    hops: tuple[Hop, ...] = ()
    certainty: Certainty = Certainty.EXACT
    why: str = ""


def origin_of(context: Context, part: IncidentScope, *, now: datetime) -> Origin:
    """Find the bad data of one part.

    Args:
        context: context of the trace, forwards.
        now: end of a time span that has no end.

    Returns:
        The bad data. If the graph has no data of the part: certainty UNKNOWN, and the reason.
    """
    try:
        if part.dataset is not None:
            found = _of_dataset(context, part, part.dataset, now)
        elif part.run is not None:
            found = _of_runs(context, part, [part.run])
        elif part.job is not None:
            found = _of_job(context, part, part.job)
        elif part.query is not None:
            found = _of_query(context, part, part.query)
        else:
            return Origin(part=part, why="A consumer holds no data that the graph knows.")
    except (NotFoundError, AmbiguousError, QuestionError, ArrivalsUnknownError) as error:
        return Origin(part=part, certainty=Certainty.UNKNOWN, why=str(error))
    if not found.parts and not found.hops:
        why = f"{found.why} Nothing is known to have been written there.".lstrip()
        return replace(found, certainty=Certainty.UNKNOWN, why=why)
    return found


def _of_dataset(context: Context, part: IncidentScope, ref: DatasetRef, now: datetime) -> Origin:
    key = keys.dataset_key(context.tx.tenant, ref.namespace, ref.name)
    known = prefetch(context.tx, datasets=_names(context, key)).datasets
    if not known:
        return Origin(part=part, certainty=Certainty.UNKNOWN, why="The graph doesn't have this dataset.")
    found = _of_known(context, part, context.datasets[context.datasets.shown_key(key)], now)
    # A dataset node alone proves nothing: the incident's event creates it, too.
    if any(read or written for _, read, written in known):
        return found
    return replace(found, certainty=Certainty.UNKNOWN, why="No known job reads or writes this dataset.")


def _of_known(context: Context, part: IncidentScope, asset: Asset, now: datetime) -> Origin:
    if part.offsets is not None:
        spans = tuple(OffsetSpan(each.partition, each.from_, each.to_exclusive) for each in part.offsets)
        exact = Part(dataset=asset, kind=PartKind.OFFSETS, certainty=Certainty.EXACT, offsets=spans)
        return _parts(part, [exact])
    if part.files is not None:
        return _parts(part, _at_paths(context, part.files))
    if part.version is not None:
        versions = parts_of_start(context, VersionOf(asset.spelling, part.version))
        if part.partition is None:
            return _parts(part, versions)
        return _parts(part, (replace(each, partitions=(part.partition,)) for each in versions))
    if part.partition is not None:
        return _parts(part, _at_paths(context, [f"{asset.spelling}/{part.partition}"]))
    if part.since_last_good:
        since, why = _last_good(context, asset)
        written = _written(context, part, asset, since, now)
        bound = Certainty.EXACT if since is not None else Certainty.UPPER_BOUND
        return replace(written, certainty=weakest(written.certainty, bound), why=why)
    if part.clock is IncidentClock.EVENT:
        return _in_event_time(context, part, asset)
    if part.since is not None or part.until is not None:
        return _written(context, part, asset, part.since, part.until or now)
    return _whole(context, part, asset)


def _names(context: Context, key: str) -> list[str]:
    """Keys of a dataset under all its names."""
    context.datasets.unknown([key])
    return context.datasets.keys_of(key)


def _parts(part: IncidentScope, found: Iterable[Part], why: str = "") -> Origin:
    parts = join(found)
    return Origin(part=part, parts=parts, certainty=weakest(*(each.certainty for each in parts)), why=why)


def _writers(context: Context) -> Context:
    """Copy of the context for a trace backwards, which finds the writers of a dataset."""
    return replace(context, backward=True, notes={}, _users={}, _of_runs={})


def _at_paths(context: Context, paths: Iterable[str]) -> list[Part]:
    """Find the files at these paths (or in these partitions) that runs list as written or as read."""
    found: dict[Part, None] = {}
    files: dict[str, tuple[Part, set[str]]] = {}
    for path in paths:
        starts = [each for side in (_writers(context), context) for each in parts_of_start(side, Path(path))]
        known = [each for each in starts if each.kind is not PartKind.UNKNOWN]
        for each in known or starts[-1:]:
            if each.kind is PartKind.FILES:
                files.setdefault(each.dataset.key, (each, set()))[1].update(each.files)
            else:
                found[each] = None
    listed = (replace(each, files=tuple(sorted(names)), file_count=len(names)) for each, names in files.values())
    return [*found, *listed]


def _whole(context: Context, part: IncidentScope, asset: Asset) -> Origin:
    partitions, recorded = partitions_of_topic(context, asset, *_BOTH)
    whole = Part(dataset=asset, kind=PartKind.UNKNOWN, certainty=Certainty.UPPER_BOUND)
    if not partitions:
        return _parts(part, [whole], "The whole dataset counts as bad, whenever it was written.")
    spans = tuple(OffsetSpan(each, 0, MOST_OFFSET) for each in partitions)
    known = Part(dataset=asset, kind=PartKind.OFFSETS, certainty=Certainty.EXACT, offsets=spans)
    if recorded:
        return _parts(part, [known])
    why = "Some writes to the topic don't record their offsets, so it may have further partitions, which are bad, too."
    return _parts(part, [known, whole], why)


def _written(context: Context, part: IncidentScope, asset: Asset, since: datetime | None, until: datetime) -> Origin:
    """Find the data that was written to a dataset in a processing time.

    Kafka knows all records that arrived in a topic, also records of unknown writers. If Kafka can't be asked, the
    output of known runs and micro-batches of this time counts; if none wrote the topic, the records that were read in
    this time.
    """
    begin = since or _BEGINNING
    is_topic, sentences = bool(partitions_of_topic(context, asset, *_BOTH)[0]), []
    if is_topic:
        try:
            arrived = parts_of_start(context, Times(asset.spelling, None, begin, until))
            return _parts(part, arrived, "Records that arrived in Kafka in this time span.")
        except ArrivalsUnknownError as error:
            sentences.append(str(error))
    writers = _writers(context)
    found = parts_at(writers, asset, None, begin, until)
    context.cut |= writers.cut
    if not is_topic or found:
        bounded = [_within(each, begin, until) for each in found]
        if bounded != found:
            sentences.append(
                "The time of a write within a run or micro-batch isn't known, so all output of the runs and "
                "micro-batches of this time span counts."
            )
        if is_topic:
            sentences.append(
                "Only records of known runs and micro-batches count: records of other writers are missing."
            )
            bounded = [_inferred(each) for each in bounded]
        return _parts(part, bounded, " ".join(sentences))
    read = map(_inferred, parts_at(context, asset, None, begin, until))
    return _parts(part, read, " ".join([*sentences, "Instead, the records that were read in this time span count."]))


def _inferred(part: Part) -> Part:
    return replace(part, certainty=weakest(part.certainty, Certainty.INFERRED))


def _within(part: Part, begin: datetime, until: datetime) -> Part:
    """Mark a written part as an upper bound, unless all of its writers ran within the time span."""
    is_in = part.since is not None and part.until is not None and begin <= part.since and part.until <= until
    return part if is_in else replace(part, certainty=weakest(part.certainty, Certainty.UPPER_BOUND))


def _in_event_time(context: Context, part: IncidentScope, asset: Asset) -> Origin:
    """Find the records that queries read while their watermarks still allowed records of an event time."""
    names = context.datasets.keys_of(asset.key)
    used = context.queries_of(names)
    queries = {each.key: each for name in names for each in used[name]}.values()
    if not queries:
        whole = _whole(context, part, asset)
        why = "No streaming query reads the dataset, so it isn't known which part has records of this event time."
        return replace(whole, certainty=weakest(whole.certainty, Certainty.UPPER_BOUND), why=why)
    shown = context.datasets.shown_key(asset.key)
    parts: list[Part] = []
    sentences: list[str] = []
    # Queries with state drop late records; every other reader uses them.
    drops_late = not any(map(context.is_of_runs, names)) and all(_keeps_state(context, query) for query in queries)
    for query in queries:
        until = part.until if drops_late else None
        first, last, why = _batches_of_event_time(context, query, part.since, until)
        sentences.append(why)
        if first > last:
            continue
        batches, complete = ends(context, query, first, last)
        if complete:
            uses = [(batch, use) for batch in batches for use in batch.reads(shown)]
            read = joined(uses, context.datasets)
        else:
            read = between(context.tx, query, batches[0], batches[-1], produced=False, datasets=context.datasets)
        parts += [each for each in read if each.dataset.key == shown]
    # Only the time of reading is known. The records were written earlier, and other readers may have read them before.
    bounded = [replace(each, since=None, certainty=weakest(each.certainty, Certainty.UPPER_BOUND)) for each in parts]
    return _parts(part, bounded, " ".join(dict.fromkeys(sentences)))


def _batches_of_event_time(
    context: Context, query: Query, since: datetime | None, until: datetime | None
) -> tuple[int, int, str]:
    """Find the micro-batches that may have used records of an event time.

    A record with an event time of `since` or later raises the watermark to at least `since` minus the watermark's
    delay, so earlier micro-batches, with a lower watermark, had no such record. A query with state uses a record until
    the watermark has passed the end of the record's window. This end is at most `until` plus the horizon of the state;
    later micro-batches use no such record. The horizon is only known if one watermark, or the greatest of several,
    holds for all inputs.

    Returns:
        First and last micro-batch, both inclusive (first > last: none), and a sentence on how they were found.
    """
    name = query.name or query.query_id
    first, last = query.first_batch, query.last_batch
    last_batch = context.last_batch(query)
    horizon = reported_horizon(context.tx, query)
    pieces = query.pieces
    if len(pieces) > 1 or last_batch is None or last_batch.time("watermark_before") is None:
        why = "has no watermark" if len(pieces) == 1 else "went back to earlier offsets"
        return first, last, f"{name} {why}: all input of the query counts."
    bounds = []
    if since is not None and horizon is not None:
        first = _first_reaching(context, query, since - horizon)
        bounds.append(f"from batch {first} on")
    if until is not None and horizon is not None and _keeps_state(context, query):
        # A window accepts late records until the watermark has passed the window's end.
        search = Search(query.key, first, last, _reached(until + horizon), by="watermark_before")
        run_by_time(context.tx, [search])
        if search.found is not None and not search.met_unknown:
            last = search.found
            bounds.append(f"up to batch {last}")
    if not bounds:
        return first, last, f"The watermark of {name} doesn't narrow this down: all input of the query counts."
    return first, last, f"By the watermark of {name}, records of that event time were read {', '.join(bounds)}."


def _first_reaching(context: Context, query: Query, time: datetime) -> int:
    """Find a query's first micro-batch whose watermark may have reached a time; one after the last if none has."""
    search = Search(query.key, query.first_batch, query.last_batch, _reached(time), by="watermark_after")
    run_by_time(context.tx, [search])
    first = query.last_batch + 1 if search.found is None else search.found
    if search.met_unknown:
        # The watermark of a reconciled micro-batch isn't known: it may have reached the time, too.
        for batch in batches_before(context, query, first):
            if (mark := batch.time("watermark_after")) is not None and mark < time:
                break
            first = batch.first
    return first


def _keeps_state(context: Context, query: Query) -> bool:
    last = context.last_batch(query)
    return last is not None and bool(state_of(context.tx, query, [last]).keeps)


def _reached(time: datetime) -> Callable[[Row], bool | None]:
    def reached(row: Row) -> bool | None:
        found = moment(row["time"])
        return None if found is None else found >= time

    return reached


def _last_good(context: Context, of: Asset) -> tuple[datetime | None, str]:
    """Return the time right after the last good run or micro-batch, by assertions (None: unknown); and a sentence."""
    turns = [turn for turn in quality_turns(context.tx, of) if turn.first_bad_run or turn.first_bad]
    times: list[datetime] = []
    for turn in turns:
        good = _end_of(turn)
        if good is None:
            return None, f"No run or micro-batch before the first failed assertion is known to be good: {_EVERYTHING}."
        times.append(good)
    if times:
        end = min(times)
        # A microsecond later, because the good run or micro-batch itself isn't bad.
        return end + _AFTER, f"The last run or micro-batch that is known to be good ended at {utc_text(end)}."
    why = "No assertion failed after the last good run or micro-batch, so the first bad one isn't known"
    return None, f"{why}: {_EVERYTHING}."


def _end_of(turn: QualityTurn) -> datetime | None:
    """End of the last good micro-batch or run; its start if the end isn't known."""
    if (batch := turn.last_good) is not None and batch.processing_time is not None:
        return batch.processing_time + timedelta(milliseconds=batch.duration_ms or 0)
    if (run := turn.last_good_run) is not None:
        return run.ended_at or run.began
    return None


def _of_runs(context: Context, part: IncidentScope, run_ids: Sequence[str]) -> Origin:
    hops: list[Hop] = []
    sentences: list[str] = []
    for run_id in run_ids:
        try:
            hops += run_origin(context, run_id)
        except AmbiguousError:
            hops += _children(context, run_id)
        except NotFoundError as error:
            sentences.append(str(error))
    if part.run is not None and (part.since is not None or part.until is not None):
        sentences.append("The whole run counts, not only the given time span.")
    certainty = weakest(*(hop.certainty for hop in hops))
    return Origin(part=part, hops=tuple(hops), certainty=certainty, why=" ".join(sentences))


def _children(context: Context, run_id: str) -> list[Hop]:
    """Hops of the runs that a run started, and that wrote something."""
    hops: list[Hop] = []
    rows = context.tx.rows("incidents/children", key=keys.run_key(context.tx.tenant, run_id), limit=MOST_RUNS + 1)
    context.cut |= len(rows) > MOST_RUNS
    for row in rows[:MOST_RUNS]:
        try:
            hops += run_origin(context, row["run_id"])
        except (NotFoundError, AmbiguousError):
            continue  # this run wrote nothing itself
    return hops


def _of_job(context: Context, part: IncidentScope, ref: JobRef) -> Origin:
    key = keys.job_key(context.tx.tenant, ref.namespace, ref.name)
    row = context.tx.row("incidents/job", key=key)
    if row is None:
        return Origin(part=part, certainty=Certainty.UNKNOWN, why="The graph doesn't have this job.")
    since, why = part.since, ""
    if part.since_last_good:
        since, why = _last_good(context, job_asset(row["job"]))
    rows = context.tx.rows(
        "incidents/runs_of_job",
        key=key,
        code_version=part.code_version,
        # Without a code version, micro-batches of unknown runs count, too: they are looked up by query below.
        batch_runs=part.code_version is None,
        since=since or _BEGINNING,
        until=part.until or EVER,
        limit=MOST_RUNS + 1,
    )
    if len(rows) > MOST_RUNS:
        context.cut = True
        why = f"{why} The job has more than {MOST_RUNS} such runs: the latest of them count.".lstrip()
    found = _of_runs(context, part, [row["run_id"] for row in rows[:MOST_RUNS]])
    hops = [*found.hops]
    if part.code_version is None:
        stored = context.tx.rows("runs/queries_of_job", of=key)
        for query in context.queries(row["key"] for row in stored).values():
            first, last = _batches_of_time(context, query, query.first_batch, query.last_batch, since, part.until)
            if first <= last:
                hops.append(
                    batches_hop(context, query, first, last, f"The micro-{batches_text(first, last)} of the job.")
                )
    certainty = weakest(*(hop.certainty for hop in hops))
    return replace(found, hops=tuple(hops), certainty=certainty, why=" ".join(filter(None, (why, found.why))))


def _of_query(context: Context, part: IncidentScope, query_id: str) -> Origin:
    key = keys.query_key(context.tx.tenant, query_id)
    query = context.queries([key]).get(key)
    if query is None:
        return Origin(part=part, certainty=Certainty.UNKNOWN, why="No micro-batch of this query is known.")
    first = max(part.from_batch or 0, query.first_batch)
    last = query.last_batch if part.to_batch is None else min(part.to_batch, query.last_batch)
    sentences: list[str] = []
    if part.since_last_good:
        good = _last_good_batch(context, query)
        sentences.append("No micro-batch is known to be good: all of them count as bad." if good is None else "")
        first = first if good is None else max(first, good + 1)
    if part.clock is IncidentClock.EVENT:
        begin, end, why = _batches_of_event_time(context, query, part.since, part.until)
        first, last = max(first, begin), min(last, end)
        sentences.append(why)
    elif part.since is not None or part.until is not None:
        first, last = _batches_of_time(context, query, first, last, part.since, part.until)
    if first > last:
        why = (
            "No known micro-batch belongs to this part; the graph has "
            f"{batches_text(query.first_batch, query.last_batch)} of the query."
        )
        return Origin(part=part, certainty=Certainty.UNKNOWN, why=why)
    hop = batches_hop(context, query, first, last, f"The micro-{batches_text(first, last)} themselves.")
    certainty = hop.certainty if not any(sentences) else weakest(hop.certainty, Certainty.UPPER_BOUND)
    return Origin(part=part, hops=(hop,), certainty=certainty, why=" ".join(filter(None, sentences)))


def _last_good_batch(context: Context, query: Query) -> int | None:
    if query.job is None:
        return None
    for turn in quality_turns(context.tx, query.job):
        if turn.query_id == query.query_id and turn.last_good is not None:
            return turn.last_good.batch_id
    return None


def _batches_of_time(
    context: Context, query: Query, first: int, last: int, since: datetime | None, until: datetime | None
) -> tuple[int, int]:
    """Find the first and last micro-batch that may have run in a time span; first > last: none."""
    if since is not None:
        [after] = first_after(context, [(query, since)])
        first = max(first, running_at(context, query, after, since))
    if until is not None:
        [beyond] = first_after(context, [(query, until)], inclusive=True)
        last = last if beyond is None else min(last, beyond - 1)
    return first, last
