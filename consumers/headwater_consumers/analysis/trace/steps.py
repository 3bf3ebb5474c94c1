"""Micro-batches that used a part ⇒ hops: what else they took in or gave out, with what their query's state adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import Part, weakest
from headwater_consumers.analysis.trace.locate import MOST_BATCHES
from headwater_consumers.analysis.trace.match import described
from headwater_consumers.analysis.trace.parts import between, join, joined
from headwater_consumers.analysis.trace.state import Spread, State, spread_backward, spread_forward, state_of
from headwater_consumers.analysis.trace.stretch import before, stretches
from headwater_consumers.analysis.trace.taken import Draft, Taken, groups, micro_batches, overall
from headwater_consumers.analysis.trace.uses import part_of
from headwater_consumers.graph.keys import run_key
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater_consumers.analysis.trace.batches import Batch
    from headwater_consumers.analysis.trace.context import Context


def group_drafts(context: Context, taken: Sequence[Taken]) -> list[Draft]:
    """The hops that these micro-batches are."""
    return [_draft(context, group) for group in groups(taken)]


def _draft(context: Context, group: Sequence[Taken]) -> Draft:
    query = group[0].query
    batches = list({each.batch.key: each.batch for each in group}.values())
    used = join(each.part for each in group)
    sentences = [_said(context, batches, used)]
    certainty = weakest(*(each.certainty for each in group))
    spread: Spread | None = None
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
            spread = spread_forward(context.tx, context.pieces(query), batches[-1], state)
        if (spread.first, spread.last) != (batches[0].first, batches[-1].last):
            certainty = weakest(certainty, Certainty.UPPER_BOUND)
        sentences.append(spread.why)
    sentences += dict.fromkeys(each.why for each in group)
    first = min(batches[0].first, spread.first) if spread else batches[0].first
    last = max(batches[-1].last, spread.last) if spread else batches[-1].last
    given = _given(context, batches, first, last, spread=spread is not None)
    pendings = tuple(dict.fromkeys(each.pending for each in group))
    return Draft(
        key=(batches[0].key if batches[0].conflict else query.key, batches[0].first, batches[-1].last),
        step=micro_batches(query, batches, count=len(batches), keeps=state.keeps, spread=(first, last)),
        inputs=given if context.backward else used,
        outputs=used if context.backward else given,
        certainty=certainty,
        overall=overall(certainty, pendings),
        why=" ".join(sentence for sentence in sentences if sentence),
        pendings=pendings,
    )


def _said(context: Context, batches: Sequence[Batch], used: Sequence[Part]) -> str:
    verb = "wrote" if context.backward else "read"
    which = f"Batch {batches[0].first}" if len(batches) == 1 else f"Batches {batches[0].first} to {batches[-1].last}"
    return f"{which} {verb} {', '.join(described(part) for part in used)}."


def _given(context: Context, batches: Sequence[Batch], first: int, last: int, *, spread: bool) -> tuple[Part, ...]:
    backward, query = context.backward, batches[0].query
    if not spread:
        return join((*_of(context, batches), *_at_rest(context, batches)))
    [all_of_them] = stretches(context.tx, [(query, first, last)], MOST_BATCHES)
    if len(all_of_them) < MOST_BATCHES or all_of_them[-1].last >= last:
        return join((*_of(context, all_of_them), *_at_rest(context, all_of_them)))
    [final] = before(context.tx, [(query, last + 1)])
    found = between(all_of_them[0], final[-1], produced=not backward, datasets=context.datasets)
    return join((*found, *_at_rest(context, [all_of_them[0], *final])))


def _of(context: Context, batches: Sequence[Batch]) -> tuple[Part, ...]:
    uses = [(b, use) for b in batches for use in (b.reads() if context.backward else b.writes())]
    return joined(uses, context.datasets)


def _at_rest(context: Context, batches: Sequence[Batch]) -> list[Part]:
    """Backwards: what the starts of the query read besides its streams, tables that are joined in."""
    keys = {run_key(b.properties["tenant"], b.run.run_id) for b in batches if b.run is not None}
    if not context.backward or not keys:
        return []
    streams = {use.dataset for batch in batches for use in batch.reads()}
    until = batches[-1].ended_at or batches[-1].started_at
    out = []
    for run in context.runs(keys):
        uses = [use for use in run.reads() if use.dataset not in streams]
        context.datasets.know(use.dataset for use in uses)
        out += [part_of(use, context.datasets[use.dataset], until=until) for use in uses]
    return out
