"""Micro-batches that used a part ⇒ hops: their other inputs or outputs, extended by their query's state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater_analysis.assets import Asset
from headwater_analysis.trace.batches import Batch, Query, Run, listed
from headwater_analysis.trace.by_time import ends
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import (
    HopDraft,
    PartUse,
    PossibleUse,
    certainly_used,
    groups,
    micro_batches,
    overall,
)
from headwater_analysis.trace.locate import MOST_BATCHES, MissingBatches
from headwater_analysis.trace.match import described
from headwater_analysis.trace.parts import between, given, join, possible
from headwater_analysis.trace.plans import WritingPlan, asked_of_drops, dropping
from headwater_analysis.trace.retired import NONE, Retired, retired_among
from headwater_analysis.trace.state import (
    State,
    StateSpread,
    plans_to_ask,
    spread_backward,
    spread_forward,
    state_of,
)
from headwater_analysis.trace.traced_parts import Part, PartKind, Step, StepKind, offsets, weakest
from headwater_analysis.trace.uses import StoredUse, part_of, sources_of, union_of_known
from headwater_graph.facts.spans import Spans, intersection, union
from headwater_graph.keys import run_key
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import batches_text


def group_drafts(context: Context, taken: Sequence[PartUse]) -> list[HopDraft]:
    """Build the hops of these micro-batches."""
    found = groups(taken)
    plans = plans_to_ask(
        (group[0].query, [each.batch for each in group]) for group in found if not group[0].batch.conflict
    )
    prefetch_others(context, [([each.batch for each in group], group[0].query.job) for group in found], plans)
    certain = [{} if group[0].batch.conflict else certainly_used(group) for group in found]
    return [_draft(context, group, _other_users(context, n, found, certain)) for n, group in enumerate(found)]


def prefetch_others(
    context: Context, used: Sequence[tuple[Sequence[Batch | Run], Asset | None]], plans: Sequence[WritingPlan] = ()
) -> None:
    """Look up in one statement the data that the hops of runs or micro-batches, and the hops after them, need.

    Args:
        used: runs, or micro-batches of a query, with their job.
        plans: further plans to look up.
    """
    others = [
        use for steps, _ in used for step in steps for use in (step.reads() if context.backward else step.writes())
    ]
    drops = () if context.backward else (plan for steps, job in used for plan in asked_of_drops(job, steps))
    wants = ((use.dataset, use.spans) for use in others if use.kind is PartKind.OFFSETS)
    context.prefetch({use.dataset for use in others}, wants, [*plans, *drops])


def _other_users(
    context: Context,
    n: int,
    found: Sequence[Sequence[PartUse]],
    certain: Sequence[Mapping[tuple[str, str | None], Spans]],
) -> list[str]:
    """Sentences on other groups of the query's micro-batches that certainly used some of the same offsets."""
    group, verb, out = found[n], "wrote" if context.backward else "read", []
    for other, used_by_other in zip(found, certain, strict=True):
        if other is group or other[0].query != group[0].query:
            continue
        for topic in certain[n].keys() & used_by_other.keys():
            if not (same := intersection(certain[n][topic], used_by_other[topic])):
                continue
            batches = batches_text(other[0].batch.first, other[-1].batch.last).capitalize()
            run = other[0].batch.run
            of_run = "" if run is None else f" of run {run.run_id}"
            what = described(replace(group[0].part, offsets=offsets(same)))
            out.append(f"{batches}{of_run} {verb} {what}, too.")
    return out


def missing_draft(context: Context, missing: PossibleUse) -> HopDraft:
    """Build the hop of micro-batches that the graph lacks."""
    query, hole = missing.query, missing.hole
    state = state_of(context.tx, query, [hole.after, *filter(None, [hole.before])], context.horizon)
    spread: StateSpread | None = None
    first, last, gone = hole.first, hole.last, NONE
    others = missing_parts(context, hole)
    sentences = [_missing_sentence(context, missing), state.why if state.spreads else ""]
    if state.spreads and not context.backward:
        # The bound of the next known batch also holds for the missing batches before it.
        spread = spread_forward(context.tx, query.pieces, hole.after, state)
        last = spread.last
        used = [(hole.after, frozenset({missing.part.dataset.key}))]
        gone = retired_among(context, query, hole.after.first, last)
        others = join((*others, *_other_parts(context, query, used, hole.after.first, last, spread=True, gone=gone)))
    elif state.spreads and hole.before is not None:
        spread = spread_backward(context.tx, query, hole.before, state)
        first = spread.first
        used = [(hole.before, frozenset({missing.part.dataset.key}))]
        gone = retired_among(context, query, first, hole.before.last)
        others = join((*others, *_other_parts(context, query, used, first, hole.before.last, spread=True, gone=gone)))
    if spread is not None:
        sentences += [spread.why, gone.why]
    certainty = Certainty.UPPER_BOUND
    return HopDraft(
        key=(f"{query.key} missing", hole.first, hole.last),
        step=Step(
            kind=StepKind.MISSING,
            job=query.job,
            runs=(),
            query_id=query.query_id,
            query_name=query.name,
            first_batch=hole.first,
            last_batch=hole.last,
            spread_first_batch=first,
            spread_last_batch=last,
            keeps_state=state.keeps,
        ),
        inputs=others if context.backward else (missing.part,),
        outputs=(missing.part,) if context.backward else others,
        certainty=certainty,
        overall=overall(certainty, [missing.pending]),
        why=" ".join(sentence for sentence in sentences if sentence),
        pendings=(missing.pending,),
    )


def _missing_sentence(context: Context, missing: PossibleUse) -> str:
    verb, done = ("wrote", "written") if context.backward else ("read", "read")
    query, hole = missing.query, missing.hole
    several = hole.last > hole.first
    which = f"micro-{batches_text(hole.first, hole.last)}"
    around = " and ".join(
        f"batch {batch.first if batch is hole.after else batch.last}"
        + (f" (run {batch.run.run_id})" if batch.run is not None else "")
        for batch in (hole.before, hole.after)
        if batch is not None
    )
    where = f"between {around}" if hole.before is not None else f"before {around}, the first known one"
    return (
        f"No known micro-batch of {query.name or query.query_id} {verb} {described(missing.part)}. The graph lacks "
        f"{which} {where}: {'one of these' if several else 'it'} may have {done} this part."
    )


def missing_parts(context: Context, hole: MissingBatches) -> tuple[Part, ...]:
    """Possible outputs (backwards: inputs) of missing batches, by the known batches before and after them.

    Offsets of a topic are bounded, since batches use them in order. A dataset without offsets gives an unknown part
    with bounds of time.
    """
    sides: list[dict[str, StoredUse]] = []
    for batch in (hole.before, hole.after):
        uses = () if batch is None else batch.reads() if context.backward else batch.writes()
        sides.append({use.dataset: use for use in uses})
    earlier, later = sides
    context.datasets.know(earlier.keys() | later.keys())
    since = None if hole.before is None else hole.before.started_at
    until = hole.after.ended_at or hole.after.started_at
    out: list[Part] = []
    for key in sorted(earlier.keys() | later.keys()):
        spans = _between(earlier.get(key), later.get(key))
        common: dict[str, Any] = {"dataset": context.datasets[key], "since": since, "until": until}
        if spans is None:
            out.append(Part(kind=PartKind.UNKNOWN, certainty=Certainty.UNKNOWN, **common))
        elif spans:
            part = Part(kind=PartKind.OFFSETS, certainty=Certainty.UPPER_BOUND, **common)
            out.append(replace(part, topic_id=later[key].topic_id, offsets=offsets(spans)))
    return tuple(out)


def _between(earlier: StoredUse | None, later: StoredUse | None) -> Spans | None:
    """Offsets between two uses of a topic, and the offsets of a use that is only an upper bound; None if unknown."""
    if earlier is None or later is None or {earlier.kind, later.kind} != {PartKind.OFFSETS}:
        return None
    ends, starts = listed(earlier.properties), listed(later.properties)
    if earlier.topic_id != later.topic_id or ends.keys() != starts.keys():
        return None
    exact = (Certainty.EXACT, Certainty.INFERRED)
    lows = {partition: span[1 if earlier.certainty in exact else 0] for partition, span in ends.items()}
    highs = {partition: span[0 if later.certainty in exact else 1] for partition, span in starts.items()}
    if any(lows[partition] > highs[partition] for partition in lows):
        return None
    return union((partition, lows[partition], highs[partition]) for partition in lows)


def _draft(context: Context, group: Sequence[PartUse], other_users: Sequence[str]) -> HopDraft:
    query = group[0].query
    batches = list({each.batch.key: each.batch for each in group}.values())
    used = join(each.part for each in group)
    sentences = [_use_sentence(context, batches, used)]
    certainty = weakest(*(each.certainty for each in group))
    spread: StateSpread | None = None
    if batches[0].conflict:
        state = State(keeps=None, spreads=False, certainty=Certainty.EXACT, why="")
    else:
        state = state_of(context.tx, query, batches, context.horizon)
        sentences.append(state.why)
        certainty = weakest(certainty, state.certainty)
    if state.spreads:
        if context.backward:
            spread = spread_backward(context.tx, query, batches[0], state)
        else:
            spread = spread_forward(context.tx, query.pieces, batches[-1], state)
        if (spread.first, spread.last) != (batches[0].first, batches[-1].last):
            certainty = weakest(certainty, Certainty.UPPER_BOUND)
        sentences.append(spread.why)
    first = min(batches[0].first, spread.first) if spread else batches[0].first
    last = max(batches[-1].last, spread.last) if spread else batches[-1].last
    gone = retired_among(context, query, first, last) if spread else NONE
    sentences += [gone.why, *dict.fromkeys(each.why for each in group), *other_users]
    keys: dict[str, set[str]] = {}
    for each in group:
        keys.setdefault(each.batch.key, set()).add(each.part.dataset.key)
    by_batch = [(batch, frozenset(keys[batch.key])) for batch in batches]
    others = _other_parts(context, query, by_batch, first, last, spread=spread is not None, gone=gone)
    others, dropped = without_drops(context, query.job, batches, others)
    sentences.append(dropped)
    pendings = tuple(dict.fromkeys(each.pending for each in group))
    return HopDraft(
        key=(batches[0].key if batches[0].conflict else query.key, batches[0].first, batches[-1].last),
        step=micro_batches(query, batches, count=len(batches), keeps=state.keeps, spread=(first, last)),
        inputs=others if context.backward else used,
        outputs=used if context.backward else others,
        certainty=certainty,
        overall=overall(certainty, pendings),
        why=" ".join(sentence for sentence in sentences if sentence),
        pendings=pendings,
    )


def without_drops(
    context: Context, job: Asset | None, used: Collection[Batch | Run], others: tuple[Part, ...]
) -> tuple[tuple[Part, ...], str]:
    """Mark outputs as only possibly derived from the inputs if the plan may drop records; also return a sentence."""
    if context.backward:
        return others, ""
    datasets, why = dropping(context.tx, job, used)
    return tuple(possible(part) if part.dataset.key in datasets else part for part in others), why


def _use_sentence(context: Context, batches: Sequence[Batch], used: Sequence[Part]) -> str:
    verb = "wrote" if context.backward else "read"
    which = batches_text(batches[0].first, batches[-1].last).capitalize()
    return f"{which} {verb} {', '.join(described(part) for part in used)}."


def _other_parts(
    context: Context,
    query: Query,
    used: Sequence[tuple[Batch, frozenset[str]]],
    first: int,
    last: int,
    *,
    spread: bool,
    gone: Retired = NONE,
) -> tuple[Part, ...]:
    """Outputs (backwards: inputs) of batches.

    Args:
        used: batches, and keys of the datasets whose parts they used.
        first: first batch id.
        last: last batch id, included.
        spread: whether all batches from `first` to `last` may have contributed, through the state.
        gone: micro-batches from `first` to `last` that the graph no longer stores individually.
    """
    if not spread:
        return join((*given(used, context.datasets, backward=context.backward), *_static_inputs(context, used)))
    datasets = frozenset[str]().union(*(keys for _, keys in used))
    return given_by_all(context, query, datasets, first, last, gone)


def given_by_all(
    context: Context, query: Query, used: frozenset[str], first: int, last: int, gone: Retired
) -> tuple[Part, ...]:
    """Outputs (backwards: inputs) of all batches of a query from `first` to `last`.

    Args:
        used: keys of the datasets whose parts some batches used.
        first: first batch id.
        last: last batch id, included.
        gone: micro-batches from `first` to `last` that the graph no longer stores individually.
    """
    batches, complete = ends(context, query, first, last, MOST_BATCHES)
    kept = [(batch, used) for batch in batches]
    if complete:
        others = given(kept, context.datasets, backward=context.backward)
    else:
        others = between(
            context.tx, query, batches[0], batches[-1], produced=not context.backward, datasets=context.datasets
        )
    return join((*others, *_static_inputs(context, kept), *gone.parts))


def _static_inputs(context: Context, used: Sequence[tuple[Batch, frozenset[str]]]) -> list[Part]:
    """Inputs of the query's starts other than its streams, such as static tables of a join. Forwards: none."""
    batches = [batch for batch, _ in used]
    keys = {run_key(b.properties["tenant"], b.run.run_id) for b in batches if b.run is not None}
    if not context.backward or not keys:
        return []
    streams = {use.dataset for batch in batches for use in batch.reads()}
    until = batches[-1].ended_at or batches[-1].started_at
    listed = union_of_known([sources_of(batch.uses, written) for batch, written in used])
    out = []
    for run in context.runs(keys):
        static = ((context.datasets.shown_key(use.dataset), use) for use in run.reads())
        uses = [use for key, use in static if key not in streams and (listed is None or key in listed)]
        context.datasets.know(use.dataset for use in uses)
        out += [part_of(use, context.datasets[use.dataset], until=until) for use in uses]
    return out
