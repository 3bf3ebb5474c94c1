"""First bad run or micro-batch for each dataset or job in which bad data began, and the last good one before it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from headwater_analysis.assets import Asset
from headwater_analysis.incidents.answers import BadSince, WritingStep
from headwater_analysis.incidents.origins import Origin
from headwater_analysis.micro_batches import at_batches, row
from headwater_analysis.moments import EVER
from headwater_analysis.trace.batches import Batch, before, read_batch, read_run
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.follow import follow
from headwater_analysis.trace.parts import is_empty
from headwater_analysis.trace.traced_parts import Hop, Part, PartKind, RunBrief, Step, StepKind
from headwater_graph.keys import query_key
from headwater_schemas.events import Certainty, IncidentScope

LOOKED_BACK_BATCHES: Final = 50
"""Number of micro-batches before the first bad one to search for a good one."""
LOOKED_BACK_RUNS: Final = 200
"""Number of the job's complete runs before the first bad one to search for a good one."""


@dataclass(slots=True)
class _Search:
    """Search for the first bad and the last good step of a dataset or job.

    Attributes:
        of: the dataset or job, as in `BadSince`.
        dataset: key of the dataset; None: all datasets that the job wrote.
        first: first bad step, a hop of the trace; None: not known.
        why: remarks, as sentences.
        bad, good: first bad and last good step, for the answer.
    """

    of: Asset
    dataset: str | None
    first: Hop | None
    why: list[str]
    bad: WritingStep | None = None
    good: WritingStep | None = None


def bad_since(context: Context, origins: Sequence[Origin], hops: Sequence[Hop], *, limit: int) -> tuple[BadSince, ...]:
    """Find the first bad steps, and the last good steps before them.

    Args:
        context: context of the trace, forwards.
        origins: bad data of each part of the scope.
        hops: steps that bad data passed through; none of them counts as good.
        limit: maximum number of steps that wrote bad parts.
    """
    searches = [*_of_datasets(context, origins, limit), *_of_jobs(origins)]
    bad = [*hops, *(search.first for search in searches if search.first is not None)]
    _look_up_batches(context, searches, _ranges(bad))
    _look_up_runs(context, searches, sorted({run.run_id for hop in bad for run in hop.step.runs if _is_run(hop.step)}))
    return tuple(
        BadSince(
            of=search.of,
            first_bad=search.bad,
            last_good=search.good,
            certainty=Certainty.UNKNOWN if search.first is None else search.first.certainty,
            why=" ".join([*search.why, *_compared(search)]),
        )
        for search in searches
    )


def _is_run(step: Step) -> bool:
    return step.kind is StepKind.RUN


def _is_whole(part: IncidentScope) -> bool:
    """Return whether a part of the scope is a whole dataset, so that every step that wrote the dataset is bad."""
    times = part.since is not None or part.until is not None or bool(part.since_last_good)
    return not times and (part.offsets, part.files, part.version, part.partition) == (None, None, None, None)


def _of_datasets(context: Context, origins: Iterable[Origin], limit: int) -> list[_Search]:
    unknown: dict[str, str] = {}
    parts: dict[str, dict[Part, None]] = {}
    for origin in origins:
        for part in map(context.datasets.shown, origin.parts):
            if is_empty(part):
                continue
            parts.setdefault(part.dataset.key, {})[part] = None
            if _is_whole(origin.part):
                unknown[part.dataset.key] = "The whole dataset counts as bad, so the first bad run isn't known."
            elif part.kind is PartKind.UNKNOWN and part.since is None:
                unknown[part.dataset.key] = "The bad part of the dataset isn't known, and neither is the first bad run."
    followed = [part for key, some in parts.items() if key not in unknown for part in some]
    writers = Context(context.tx, context.datasets, backward=True, horizon=None, limit=limit)
    found = follow(writers, followed, depth=1, limit=limit).hops if followed else ()
    searches = []
    for key, some in parts.items():
        of = context.datasets[key]
        if key in unknown:
            searches.append(_Search(of, key, None, [unknown[key]]))
            continue
        first, why = _first([hop for hop in found if any(_may_be_of(hop, key, part) for part in some)])
        if first is None:
            why = ["No known run or micro-batch wrote the bad data."]
        if writers.cut:
            why.append("A limit was reached: an earlier run or micro-batch may have written bad data.")
        searches.append(_Search(of, key, first, why))
    return searches


def _may_be_of(hop: Hop, dataset: str, part: Part) -> bool:
    """Return whether a step wrote the dataset, and may have written the part: it didn't begin before `part.since`."""
    began = hop.step.started_at
    is_early = part.since is not None and began is not None and began < part.since
    return not is_early and any(written.dataset.key == dataset for written in hop.outputs)


def _of_jobs(origins: Iterable[Origin]) -> list[_Search]:
    by_job: dict[str, tuple[Asset, dict[Hop, None]]] = {}
    for origin in origins:
        for hop in origin.hops:
            if (job := hop.step.job) is not None:
                by_job.setdefault(job.key, (job, {}))[1][hop] = None
    searches = []
    for job, hops in by_job.values():
        first, why = _first(list(hops))
        searches.append(_Search(job, None, first, why))
    return searches


def _first(hops: Sequence[Hop]) -> tuple[Hop | None, list[str]]:
    """Return the earliest of the steps, and remarks. Steps of one query are compared by batch id, others by time."""
    sure = [hop for hop in hops if hop.certainty is not Certainty.UNKNOWN]
    asked = sure or list(hops)
    if not asked:
        return None, []
    remarks = []
    queries = {hop.step.query_id for hop in asked}
    if len(queries) == 1 and None not in queries:
        first = min(asked, key=lambda hop: -1 if hop.step.first_batch is None else hop.step.first_batch)
    else:
        timed = [hop for hop in asked if hop.step.started_at is not None]
        first = min(timed, key=lambda hop: hop.step.started_at or EVER, default=asked[0])
        if len(timed) < len(asked):
            remarks.append("The times of some bad runs aren't known: one of them may be the first.")
    if sure and len(sure) < len(hops):
        remarks.append("Other runs or micro-batches may have written bad data, too, and earlier.")
    return first, remarks


def _ranges(hops: Iterable[Hop]) -> dict[str, list[tuple[int, int]]]:
    """For each query id: ranges of bad micro-batches, both ends inclusive."""
    found: dict[str, list[tuple[int, int]]] = {}
    for hop in hops:
        step = hop.step
        if step.query_id is not None and step.first_batch is not None and step.last_batch is not None:
            found.setdefault(step.query_id, []).append((step.first_batch, step.last_batch))
    return found


def _look_up_batches(context: Context, searches: Sequence[_Search], bad: Mapping[str, list[tuple[int, int]]]) -> None:
    """Look up first bad micro-batches, and the last good micro-batches before them."""
    asked = []
    for search in searches:
        step = None if search.first is None else search.first.step
        if step is not None and step.query_id is not None and step.first_batch is not None:
            asked.append((search, step, query_key(context.tx.tenant, step.query_id), step.first_batch))
    if not asked:
        return
    first = {
        (batch.query, batch.first): batch
        for interval in at_batches(context.tx, dict.fromkeys((key, number) for _, _, key, number in asked))
        for batch in [read_batch(row(interval))]
    }
    earlier = before(context.tx, [(key, number) for _, _, key, number in asked], LOOKED_BACK_BATCHES)
    for (search, step, key, number), batches in zip(asked, earlier, strict=True):
        known = first.get((key, number))
        search.bad = _unread(step, number) if known is None else _of_batch(step, known)
        if known is None:
            search.why.append(f"Nothing more is known of batch {number}.")
        ranges = bad.get(step.query_id or "", [])
        good = next((each for each in batches if _is_good(context, each, search.dataset, ranges)), None)
        if good is not None:
            search.good = _of_batch(step, good)
        elif len(batches) == LOOKED_BACK_BATCHES:
            search.why.append(
                f"None of the {LOOKED_BACK_BATCHES} micro-batches before the first bad one is known to be good."
            )
        else:
            search.why.append("No micro-batch before the first bad one is known to be good.")


def _is_good(context: Context, batch: Batch, dataset: str | None, bad: Iterable[tuple[int, int]]) -> bool:
    if any(first <= batch.first <= last for first, last in bad) or False in batch.properties.get("quality_passed", ()):
        return False
    return any(dataset in (None, context.datasets.shown_key(use.dataset)) for use in batch.writes())


def _unread(step: Step, number: int) -> WritingStep:
    return WritingStep(
        job=step.job,
        run_id=step.runs[0].run_id if len(step.runs) == 1 else None,
        query_id=step.query_id,
        query_name=step.query_name,
        batch_id=number,
    )


def _of_batch(step: Step, batch: Batch) -> WritingStep:
    run = batch.run
    return replace(
        _unread(step, batch.first),
        run_id=None if run is None else run.run_id,
        at=batch.started_at,
        code_version=None if run is None else run.code_version,
        config_version=None if run is None else run.config_version,
    )


def _look_up_runs(context: Context, searches: Sequence[_Search], bad: Sequence[str]) -> None:
    """Look up the last good batch runs before first bad runs."""
    wants: list[dict[str, Any]] = []
    by_number: dict[int, _Search] = {}
    for n, search in enumerate(searches):
        step = None if search.first is None else search.first.step
        if step is None or not _is_run(step):
            continue
        search.bad = _of_run(step.job, step.runs[0], step.started_at)
        by_number[n] = search
        if step.job is None or step.started_at is None:
            search.why.append("The start of the first bad run isn't known, and neither is the run before it.")
            continue
        names = None if search.dataset is None else context.datasets.keys_of(search.dataset)
        wants.append({"n": n, "job": step.job.key, "before": step.started_at, "datasets": names})
    rows = context.tx.rows("incidents/earlier_runs", wants=wants, bad=bad, most=LOOKED_BACK_RUNS) if wants else []
    found = {each["n"]: each for each in rows}
    for want in wants:
        search = by_number[want["n"]]
        if (each := found.get(want["n"])) is None:
            search.why.append(
                f"None of the job's last {LOOKED_BACK_RUNS} complete runs before the first bad one is known to be good."
            )
            continue
        run = read_run(each)
        search.good = _of_run(run.job, run.brief, run.started_at)


def _of_run(job: Asset | None, run: RunBrief, at: datetime | None) -> WritingStep:
    return WritingStep(
        job=job,
        run_id=run.run_id,
        at=at,
        state=run.state,
        code_version=run.code_version,
        config_version=run.config_version,
    )


def _compared(search: _Search) -> list[str]:
    """Sentence about the code versions of the first bad and the last good step."""
    if search.bad is None or search.good is None:
        return []
    now, then = search.bad.code_version, search.good.code_version
    if now is None or then is None:
        return ["It isn't known whether the code changed in between."]
    return (
        ["The code version is the same as before."] if now == then else [f"Since code version {now}; before it {then}."]
    )
