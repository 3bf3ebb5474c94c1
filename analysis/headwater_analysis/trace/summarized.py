"""Micro-batches that used a part, and that the graph no longer stores individually: from summaries or the archive.

A summary has only the offsets of a whole day, so a record may have gone into any part of that day's outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headwater_analysis.identity import Identities
from headwater_analysis.micro_batches import as_shown, conflicts, row
from headwater_analysis.moments import moment
from headwater_analysis.trace.batches import Query, before, read_batch, stretches
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import HopDraft, PartUse, PendingPart, overall
from headwater_analysis.trace.locate import Located
from headwater_analysis.trace.match import described, matched, narrowed
from headwater_analysis.trace.parts import join
from headwater_analysis.trace.retired import parts_of, retired_among
from headwater_analysis.trace.state import State, spread_forward, state_of
from headwater_analysis.trace.steps import given_by_all
from headwater_analysis.trace.traced_parts import Part, PartKind, RunBrief, Step, StepKind
from headwater_analysis.trace.uses import kafka_spans
from headwater_graph.facts.spans import Spans, difference, flat, intersection
from headwater_schemas.events import Certainty


@dataclass(frozen=True, slots=True)
class Summarized:
    """Micro-batches of a day that used a part.

    Attributes:
        summary: properties of the summary's node.
        run: properties of the summary's run, except its id.
        uses: type, key of the dataset, and properties of each use.
    """

    query: Query
    summary: Mapping[str, Any]
    run: Mapping[str, Any]
    uses: Sequence[tuple[str, str, Mapping[str, Any]]]
    part: Part
    pending: PendingPart


def summarized(context: Context, asked: Sequence[tuple[PendingPart, Located]]) -> list[Summarized]:
    """Find the summaries with wanted offsets, and remove these offsets from the offsets that are still to be found.

    Offsets that stored micro-batches used are searched, too: the query may have gone back and used them twice.
    """
    type_ = "PRODUCED" if context.backward else "CONSUMED"
    open_ = [(pending, located) for pending, located in asked if located.want.query.summarized]
    if not open_:
        return []
    wants = [
        {
            "n": n,
            "query": located.want.query.key,
            "dataset": name,
            "type": type_,
            "spans": [list(span) for span in flat(located.want.spans)],
        }
        for n, (_, located) in enumerate(open_)
        for name in context.datasets.keys_of(located.want.dataset)
    ]
    rows = context.tx.rows("trace/summaries", wants=wants, limit=context.limit)
    context.cut |= len(rows) >= context.limit
    out = []
    covered: dict[int, list[Spans]] = {}
    for found in {(each["n"], each["summary"]["key"]): each for each in rows}.values():
        pending, located = open_[found["n"]]
        for of_type, dataset, properties in found["uses"]:
            if (of_type, context.datasets.shown_key(dataset)) != (type_, located.want.dataset):
                continue
            if "from" not in properties:
                continue
            if spans := intersection(located.want.spans, kafka_spans(properties)):
                part = narrowed(pending.part, spans)
                out.append(
                    Summarized(located.want.query, found["summary"], found["run"] or {}, found["uses"], part, pending)
                )
                covered.setdefault(found["n"], []).append(spans)
    for n, spans_of_one in covered.items():
        located = open_[n][1]
        for spans in spans_of_one:
            located.left = difference(located.left, spans)
            located.holes = [
                replace(hole, spans=left) for hole in located.holes if (left := difference(hole.spans, spans))
            ]
        if not located.left:
            located.guesses = []
    return out


def taken_from_archive(context: Context, found: Sequence[Summarized]) -> tuple[list[PartUse], list[Summarized]]:
    """Read the summarized micro-batches from the archive; also return the summaries that the archive lacks."""
    archive = context.archive
    if archive is None:
        return [], list(found)
    verb = "wrote" if context.backward else "read"
    taken: list[PartUse] = []
    left = []
    for each in found:
        identities = Identities.of(context.tx)
        intervals = [as_shown(identities, one) for one in archive(each.query, each.summary)]
        batches = [read_batch(report) for one in intervals for report in (row(one), *conflicts(one))]
        hits = [
            PartUse(each.query, batch, match.part, match.certainty, "The batch is from the archive.", each.pending)
            for batch in batches
            for use in (batch.writes if context.backward else batch.reads)(each.part.dataset.key)
            if (match := matched(each.part, use, batch, verb=verb)) is not None
            and (match.certainty is not Certainty.UNKNOWN or use.kind is PartKind.OFFSETS)
        ]
        taken += hits
        if not hits:
            left.append(each)
    return list({(each.batch.key, each.pending.number): each for each in taken}.values()), left


def summary_draft(context: Context, found: Summarized) -> HopDraft:
    """Build the hop of a summary's micro-batches."""
    query, summary = found.query, found.summary
    began, ended = moment(summary.get("first_time")), moment(summary.get("last_time"))
    others, state, spread = _others(context, found)
    verb, derived = (
        ("wrote", "some part of their inputs went into it")
        if context.backward
        else ("read", "it went into some part of their outputs")
    )
    run_id = summary.get("run_id")
    runs = () if run_id is None else (RunBrief(run_id=run_id, **found.run),)
    why = (
        f"{summary['batches']:,} micro-batches of {summary.get('day') or 'an unknown day'} are summarized. One or "
        f"more of them {verb} {described(found.part)}; {derived}. The archive of the events topic has each "
        "micro-batch."
    )
    if state is not None and state.spreads:
        why += (
            f" {state.why} So "
            f"{'inputs of earlier' if context.backward else 'outputs of later'} micro-batches are included, too."
        )
    certainty = Certainty.UPPER_BOUND
    return HopDraft(
        key=(f"{query.key} summary {summary['key']}", summary["first_batch"], summary["last_batch"]),
        step=Step(
            kind=StepKind.SUMMARY,
            job=query.job,
            runs=runs,
            query_id=query.query_id,
            query_name=query.name,
            first_batch=summary["first_batch"],
            last_batch=summary["last_batch"],
            spread_first_batch=spread[0],
            spread_last_batch=spread[1],
            started_at=began,
            ended_at=ended,
            keeps_state=None if state is None else state.keeps,
        ),
        inputs=others if context.backward else (found.part,),
        outputs=(found.part,) if context.backward else others,
        certainty=certainty,
        overall=overall(certainty, [found.pending]),
        why=why,
        pendings=(found.pending,),
    )


def _others(context: Context, found: Summarized) -> tuple[tuple[Part, ...], State | None, tuple[int, int]]:
    """Outputs (backwards: inputs) of the micro-batches, the query's state, and the batches that the state reaches."""
    query, own = found.query, tuple(parts_of(context, found.summary, found.uses))
    first, last = found.summary["first_batch"], found.summary["last_batch"]
    [after] = stretches(context.tx, [(query.key, last + 1, query.last_batch)], 1)
    [known] = [after] if after else before(context.tx, [(query.key, first)])
    if not known:
        return join(own), None, (first, last)
    state = state_of(context.tx, query, known, context.horizon)
    if not state.spreads:
        return join(own), state, (first, last)
    if context.backward:
        # The summary has no watermark that could bound the state.
        spread = (query.first_batch, last)
    elif after:
        # The bound of the next known batch also holds for the summarized batches before it.
        spread = (first, spread_forward(context.tx, query.pieces, after[0], state).last)
    else:
        spread = (first, query.last_batch)
    gone = retired_among(context, query, *spread)
    others = given_by_all(context, query, frozenset({found.part.dataset.key}), *spread, gone)
    return join((*own, *others)), state, spread
