"""Drafts of hops, before they are numbered, and the runs or micro-batches behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from headwater_analysis.trace.batches import Batch, Query, Run
from headwater_analysis.trace.locate import MissingBatches
from headwater_analysis.trace.parts import join
from headwater_analysis.trace.traced_parts import Hop, Part, RunBrief, Step, StepKind, spans_of, surest, weakest
from headwater_graph.facts.spans import Spans, flat, intersection, union
from headwater_schemas.events import Certainty

# Maximum distance between neighbouring batch ids of one step. The micro-batches in between used no wanted offset.
_NEAR = 16
_MOST_RUNS = 10
BY_TIME = " by time"
"""Suffix of a draft's key if its micro-batches are bounded only by time."""
_CERTAIN = (Certainty.EXACT, Certainty.INFERRED)


@dataclass(frozen=True, slots=True)
class PendingPart:
    """A part from which the trace continues.

    Attributes:
        name: key of the dataset under one of its names; the graph stores uses under each name.
        after: number of the hop that wrote the part (backwards: read it); 0 at the trace's start.
        overall: weakest certainty on the path, the part's own included.
    """

    number: int
    name: str
    part: Part
    after: int
    overall: Certainty


@dataclass(frozen=True, slots=True)
class PartUse:
    """A micro-batch that used a part.

    Attributes:
        why: reason, a sentence.
        piece: number of the piece of the query's batches; offsets go back between two pieces.
    """

    query: Query
    batch: Batch
    part: Part
    certainty: Certainty
    why: str
    pending: PendingPart
    piece: int = 0


@dataclass(frozen=True, slots=True)
class PossibleUse:
    """Missing micro-batches of a query, one of which may have used a part.

    Attributes:
        hole: the missing batch ids, and the known micro-batches before and after them.
        part: possible overlap with the wanted part.
    """

    query: Query
    hole: MissingBatches
    part: Part
    pending: PendingPart


@dataclass(frozen=True, slots=True)
class HopDraft:
    """A hop without its number.

    Attributes:
        key: identity of the step: a text with the key of the query or run, first and last batch id (0 for a run).
        pendings: parts that led to the step.
    """

    key: tuple[str, int, int]
    step: Step
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]
    certainty: Certainty
    overall: Certainty
    why: str
    pendings: tuple[PendingPart, ...]

    def numbered(self, number: int, depth: int) -> Hop:
        """Build the hop with its number and depth."""
        return Hop(
            number=number,
            depth=depth,
            after=tuple(sorted({pending.after for pending in self.pendings if pending.after})),
            step=self.step,
            inputs=self.inputs,
            outputs=self.outputs,
            certainty=self.certainty,
            overall=self.overall,
            why=self.why,
        )


def groups(taken: Iterable[PartUse]) -> list[list[PartUse]]:
    """Group uses by query, run and nearby batches; each conflict is its own group.

    Offsets that were used twice are in two groups, one for each micro-batch.
    """
    out: list[list[PartUse]] = []
    ordered = sorted(taken, key=lambda each: (each.query.key, each.batch.conflict, each.batch.first, each.batch.key))
    for each in ordered:
        last = out[-1][-1] if out else None
        if last is not None and (last.batch.key == each.batch.key or _is_next(last, each)):
            out[-1].append(each)
        else:
            out.append([each])
    return out


def _is_next(one: PartUse, other: PartUse) -> bool:
    return (
        one.query.key == other.query.key
        and not one.batch.conflict
        and not other.batch.conflict
        and one.piece == other.piece
        and one.batch.run == other.batch.run
        and other.batch.first - one.batch.last <= _NEAR
        and not _used_again(one, other)
    )


def _used_again(one: PartUse, other: PartUse) -> bool:
    """Return whether both certainly used common offsets. Overlapping upper bounds don't prove this."""
    by_one, by_other = certainly_used([one]), certainly_used([other])
    return any(intersection(by_one[topic], by_other[topic]) for topic in by_one.keys() & by_other.keys())


def certainly_used(taken: Iterable[PartUse]) -> dict[tuple[str, str | None], Spans]:
    """Offsets that some micro-batches certainly used, by the topic's key and incarnation."""
    out: dict[tuple[str, str | None], list[tuple[int, int, int]]] = defaultdict(list)
    for each in taken:
        if each.certainty in _CERTAIN:
            key = each.part.dataset.key
            ids = {use.topic_id for use in each.batch.uses if use.dataset == key}
            out[key, next(iter(ids)) if len(ids) == 1 else None] += flat(spans_of(each.part.offsets))
    return {topic: union(ranges) for topic, ranges in out.items()}


def micro_batches(
    query: Query,
    batches: Sequence[Batch],
    *,
    count: int | None,
    keeps: bool | None,
    spread: tuple[int, int] | None = None,
) -> Step:
    """Build the step of some micro-batches of one query.

    Args:
        batches: at least one, in order of batch ids.
        count: number of batches that used the part.
        keeps: whether the query keeps state.
        spread: first and last batch to which the query's state carries the part; None: the first and last of `batches`.
    """
    first, last = batches[0].first, batches[-1].last
    return Step(
        kind=StepKind.CONFLICT if batches[0].conflict else StepKind.MICRO_BATCHES,
        job=query.job,
        runs=_runs(batches)[:_MOST_RUNS],
        query_id=query.query_id,
        query_name=query.name,
        first_batch=first,
        last_batch=last,
        batches=count,
        spread_first_batch=spread[0] if spread else first,
        spread_last_batch=spread[1] if spread else last,
        started_at=batches[0].started_at,
        ended_at=batches[-1].ended_at or batches[-1].started_at,
        keeps_state=keeps,
    )


def _runs(batches: Sequence[Batch]) -> tuple[RunBrief, ...]:
    """Runs in which the micro-batches were observed, each with its first and last micro-batch."""
    by_run: dict[RunBrief, list[Batch]] = {}
    for batch in batches:
        if batch.run is not None:
            by_run.setdefault(batch.run, []).append(batch)
    return tuple(replace(run, first_batch=own[0].first, last_batch=own[-1].last) for run, own in by_run.items())


def run_step(run: Run) -> Step:
    """Build the step of a batch run."""
    return Step(kind=StepKind.RUN, job=run.job, runs=(run.brief,), started_at=run.started_at, ended_at=run.ended_at)


def merged(drafts: Iterable[HopDraft]) -> list[HopDraft]:
    """Merge drafts of the same step, which was reached on several paths."""
    out: dict[tuple[str, int, int], HopDraft] = {}
    for draft in drafts:
        old = out.get(draft.key)
        if old is None:
            out[draft.key] = draft
            continue
        surer = old if weakest(old.overall, draft.overall) == draft.overall else draft
        out[draft.key] = replace(
            surer,
            # Each path lists everything that the step used of a dataset, so equal parts count only once.
            inputs=join(dict.fromkeys((*old.inputs, *draft.inputs))),
            outputs=join(dict.fromkeys((*old.outputs, *draft.outputs))),
            pendings=tuple(dict.fromkeys((*old.pendings, *draft.pendings))),
        )
    return list(out.values())


def overall(certainty: Certainty, pendings: Iterable[PendingPart]) -> Certainty:
    """Weakest certainty on the path. If several paths lead to the step, the best of their certainties."""
    return surest(weakest(certainty, pending.overall) for pending in pendings)
