"""Batch runs that used a part: those of the jobs that use its dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.analysis.trace.answer import PartKind
from headwater_consumers.analysis.trace.batches import Run, read_run
from headwater_consumers.analysis.trace.match import Match, matched
from headwater_consumers.analysis.trace.parts import given
from headwater_consumers.analysis.trace.taken import Draft, Pending, overall, run_step
from headwater_schemas.events import Certainty

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater_consumers.analysis.trace.context import Context

_ORDER = (Certainty.EXACT, Certainty.INFERRED, Certainty.UPPER_BOUND, Certainty.UNKNOWN)


def run_drafts(context: Context, pendings: Sequence[Pending]) -> list[Draft]:
    """A hop for each run that used, or may have used, one of these parts."""
    wants = [
        {"n": n, "dataset": p.part.dataset.key, "since": p.part.since, "until": p.part.until}
        for n, p in enumerate(pendings)
    ]
    name = "trace/writing_runs" if context.backward else "trace/reading_runs"
    found: dict[int, dict[str, Run]] = {n: {} for n in range(len(pendings))}
    for row in context.tx.rows(name, wants=wants, limit=context.limit):
        run = read_run(row)
        found[row["n"]].setdefault(run.key, run)
    drafts = []
    for n, pending in enumerate(pendings):
        if len(found[n]) >= context.limit:
            context.cut = True
        matches = [(run, match) for run in found[n].values() if (match := _best(context, pending, run)) is not None]
        for run, match in _not_replaced(context, pending, matches):
            drafts.append(_draft(context, pending, run, match))
    return drafts


def _best(context: Context, pending: Pending, run: Run) -> Match | None:
    verb = "wrote" if context.backward else "read"
    uses = (run.writes if context.backward else run.reads)(pending.part.dataset.key)
    matches = [match for use in uses if (match := matched(pending.part, use, run, verb=verb)) is not None]
    return min(matches, key=lambda match: _ORDER.index(match.certainty), default=None)


def _not_replaced(
    context: Context, pending: Pending, matches: Sequence[tuple[Run, Match]]
) -> Iterable[tuple[Run, Match]]:
    """Backwards, of runs that may have written an unknown part, none before the last that replaced everything."""
    if not context.backward or pending.part.kind is PartKind.OFFSETS:
        return matches
    out = []
    for run, match in matches:  # the latest first
        out.append((run, match))
        if any(use.replaces for use in run.writes(pending.part.dataset.key)):
            break
    return out


def _draft(context: Context, pending: Pending, run: Run, match: Match) -> Draft:
    used = [(run, frozenset({pending.part.dataset.key}))]
    others = given(used, context.datasets, backward=context.backward)
    return Draft(
        key=(f"{run.key} run", 0, 0),
        step=run_step(run),
        inputs=others if context.backward else (match.part,),
        outputs=(match.part,) if context.backward else others,
        certainty=match.certainty,
        overall=overall(match.certainty, [pending]),
        why=match.why,
        pendings=(pending,),
    )
