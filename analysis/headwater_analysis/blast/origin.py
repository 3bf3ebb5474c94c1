"""Start of a blast radius: a run, or micro-batches, as hops of depth 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.reader import Transaction
from headwater_analysis.runs.run_names import MOST_CANDIDATES, id_prefixes, resolve_run
from headwater_analysis.trace.batches import Batch, Query, Run, read_run, stretches
from headwater_analysis.trace.by_time import batches_before, ends, first_after
from headwater_analysis.trace.context import Context
from headwater_analysis.trace.drafts import micro_batches, run_step
from headwater_analysis.trace.locate import STRETCH, holes_among
from headwater_analysis.trace.parts import between, join, joined
from headwater_analysis.trace.retired import retired_among
from headwater_analysis.trace.state import NO_STATE, State, spread_forward, state_of
from headwater_analysis.trace.steps import missing_parts
from headwater_analysis.trace.traced_parts import Hop, Step, StepKind, weakest
from headwater_graph.keys import query_key
from headwater_schemas.events import Certainty
from headwater_schemas.ranges import batches_text, range_text


@dataclass(frozen=True, slots=True)
class BadRun:
    """A run by its id: a batch run, or one start of a streaming query with all its micro-batches."""

    run_id: str


@dataclass(frozen=True, slots=True)
class BadBatches:
    """Inclusive range of micro-batches of a streaming query, given by its id, a prefix of the id, or its name."""

    query: str
    first: int
    last: int


def run_origin(context: Context, run_id: str) -> list[Hop]:
    """Hops of a run: one, and for a start of a streaming query up to two more, of batches that may belong to it.

    Raises:
        NotFoundError: there is no such run, or it wrote nothing.
        AmbiguousError: the run wrote nothing itself, but started runs; the error lists the last five.
    """
    row = context.tx.row("blast/run", key=resolve_run(context.tx, run_id).key)
    if row is None:
        raise NotFoundError(f"No run has the id {run_id!r}.")
    run = read_run(row)
    if row["query"] is not None:
        return _streaming(context, run, row["query"])
    outputs = joined([(run, use) for use in run.writes()], context.datasets)
    if not outputs and row["children_total"]:
        raise AmbiguousError(
            f"The run {run_id!r} wrote nothing itself, but started {row['children_total']:,} runs.",
            candidates=row["children"],
        )
    if not outputs:
        raise NotFoundError(f"The run {run_id!r} wrote nothing that is known.")
    return [
        Hop(
            number=1,
            depth=0,
            after=(),
            step=run_step(run),
            inputs=(),
            outputs=outputs,
            certainty=Certainty.EXACT,
            overall=Certainty.EXACT,
            why="The run itself.",
        )
    ]


def _streaming(context: Context, run: Run, key: str) -> list[Hop]:
    query = context.queries([key]).get(key)
    if query is None:
        raise NotFoundError(f"No micro-batch of the run {run.brief.run_id!r} is known.")
    hops = [
        replace(batches_hop(context, query, first, last, why, certainty=certainty), number=number)
        for number, (first, last, certainty, why) in enumerate(_batches_of_run(context, query, run), 1)
    ]
    if not hops:
        raise NotFoundError(f"No micro-batch of the run {run.brief.run_id!r} is known.")
    return hops


def _batches_of_run(context: Context, query: Query, run: Run) -> list[tuple[int, int, Certainty, str]]:
    """Ranges of micro-batches of a start of a query: first and last batch id, certainty, and a sentence.

    Reconciled micro-batches have no run. Those next to the observed ones of a run may belong to it.
    """
    first, last = run.properties.get("first_batch"), run.properties.get("last_batch")
    if run.started_at is not None:
        # First micro-batch since the start of the run: earlier micro-batches belong to an earlier start of the query.
        [begun] = first_after(context, [(query, run.started_at)], inclusive=True)
        first = min(each for each in (first, begun, query.last_batch + 1) if each is not None)
    if first is None:
        earliest, first, last, until = query.first_batch, query.last_batch + 1, query.last_batch, query.last_batch
    else:
        last = first - 1 if last is None else last
        earliest = _without_run_before(context, query, first, run.started_at)
        until = _without_run_after(context, query, last)
    if run.ended_at is not None:
        [beyond] = first_after(context, [(query, run.ended_at)])
        until = until if beyond is None else min(until, max(last, beyond - 1))
    ranges = [(earliest, first - 1), (last + 1, until)] if first <= last else [(earliest, until)]
    found = [
        (a, b, Certainty.UPPER_BOUND, f"The run of the micro-{batches_text(a, b)} isn't recorded; it may be this one.")
        for a, b in ranges
        if a <= b
    ]
    if first <= last:
        found.append((first, last, Certainty.EXACT, f"The micro-{batches_text(first, last)} of the run."))
    return sorted(found)


def _without_run_before(context: Context, query: Query, first: int, started_at: datetime | None) -> int:
    """First of the micro-batches directly before `first` that have no run, and may have begun since `started_at`."""
    for batch in batches_before(context, query, first):
        begun = batch.started_at
        if batch.run is not None or (begun is not None and started_at is not None and begun < started_at):
            break
        first = batch.first
    return first


def _without_run_after(context: Context, query: Query, last: int) -> int:
    """Last of the micro-batches directly after `last` that have no run; `last` itself if none follows."""
    while True:
        [following] = stretches(context.tx, [(query.key, last + 1, query.last_batch)], STRETCH)
        for batch in following:
            if batch.run is not None:
                return last
            last = batch.last
        if len(following) < STRETCH:
            return last


def batches_origin(context: Context, bad: BadBatches) -> Hop:
    """Hop of the micro-batches of a range.

    Raises:
        NotFoundError: there is no such query, or none of these batches is known.
        AmbiguousError: several queries have this name, or ids with this prefix.
        QuestionError: the first id is negative, or the last id is less than the first.
    """
    if not 0 <= bad.first <= bad.last:
        raise QuestionError(
            "The range of batches is invalid: its first id must be 0 or more, and its last id must not be less than "
            "its first.",
            field="batches",
        )
    key = query_key(context.tx.tenant, bad.query)
    found = context.queries([key]) or context.queries(_queries_like(context.tx, bad.query))
    if not found:
        raise NotFoundError(f"No streaming query with micro-batches has the id or name {bad.query!r}.")
    [query] = found.values()
    first, last = max(bad.first, query.first_batch), min(bad.last, query.last_batch)
    if first > last:
        raise NotFoundError(
            f"None of these micro-batches of {query.name or query.query_id} is known; the graph has its "
            f"{batches_text(query.first_batch, query.last_batch)}."
        )
    return batches_hop(context, query, first, last, f"The micro-{batches_text(first, last)} themselves.")


def queries_called(tx: Transaction, text: str) -> Sequence[Mapping[str, Any]]:
    """Key and id of the streaming query with this id, else with this name, as the only row; empty: there is none.

    Raises:
        AmbiguousError: several queries have this name.
    """
    rows = tx.rows("blast/queries_by_name", name=text)
    # An id names one query, even if another query has it as its name.
    rows = [row for row in rows if row["query_id"] == text] or rows
    if len(rows) > 1:
        raise AmbiguousError(
            f"{len(rows)} streaming queries are called {text!r}: name one by its id.",
            candidates=[row["query_id"] for row in rows],
        )
    return rows


def _queries_like(tx: Transaction, text: str) -> list[str]:
    """Key of the query with this id or name, else of the only query whose id has this prefix. Empty: there is none."""
    rows = queries_called(tx, text) or tx.rows(
        "blast/queries_by_prefix", prefixes=id_prefixes(text), limit=MOST_CANDIDATES
    )
    if len(rows) > 1:
        raise AmbiguousError(
            f"Several streaming queries have ids that begin with {text!r}: give more of it.",
            candidates=[row["query_id"] for row in rows],
        )
    return [row["key"] for row in rows]


def batches_hop(
    context: Context, query: Query, first: int, last: int, why: str, *, certainty: Certainty = Certainty.EXACT
) -> Hop:
    """Merge micro-batches, and later micro-batches to which the query's state carries their records, into one hop.

    Args:
        context: context of the trace.
        query: query of the micro-batches.
        first, last: first and last batch id, both inclusive.
        why: why the micro-batches count, a sentence.
        certainty: certainty that the micro-batches count.
    """
    batches, complete = ends(context, query, first, last)
    asked = gone = retired_among(context, query, first, last)
    if not batches and not asked.batches:
        raise NotFoundError(f"{query.name or query.query_id}: none of the micro-{batches_text(first, last)} is known.")
    # If none of these batches is known, the state of the next known batch counts.
    known = batches or stretches(context.tx, [(query.key, last + 1, query.last_batch)], 1)[0]
    state = state_of(context.tx, query, known, context.horizon) if known else NO_STATE
    certainty = weakest(certainty, state.certainty)
    until, sentences = batches[-1].last if batches else last, [why, state.why]
    if state.spreads:
        spread = spread_forward(context.tx, query.pieces, known[-1], state)
        sentences.append(spread.why)
        if spread.last > until:
            certainty, until = weakest(certainty, Certainty.UPPER_BOUND), spread.last
            gone = retired_among(context, query, first, until)
    if gone.batches:
        certainty = weakest(certainty, Certainty.UPPER_BOUND)
        sentences.append(gone.why)
    whole = bool(batches) and until <= batches[-1].last
    given, all_of_them = (batches, complete) if whole else ends(context, query, first, until)
    if all_of_them:
        outputs = joined([(batch, use) for batch in given for use in batch.writes()], context.datasets)
    else:
        outputs = between(context.tx, query, given[0], given[-1], produced=True, datasets=context.datasets)
    outputs = join((*outputs, *gone.parts))
    if complete and (holes := holes_among(context.tx, query, batches, first, last, asked.batches)):
        outputs = join((*outputs, *(part for hole in holes for part in missing_parts(context, hole))))
        certainty = weakest(certainty, Certainty.UPPER_BOUND)
        ids = ", ".join(range_text(hole.first, hole.last + 1) for hole in holes)
        sentences.append(
            f"The graph has no record of batch {ids}: everything between the outputs of the known batches before and "
            "after it counts as its output."
        )
    return Hop(
        number=1,
        depth=0,
        after=(),
        step=_step(query, batches, (first, last), state, until, complete=complete and not gone.batches),
        inputs=(),
        outputs=outputs,
        certainty=certainty,
        overall=certainty,
        why=" ".join(sentences),
    )


def _step(
    query: Query, batches: Sequence[Batch], asked: tuple[int, int], state: State, until: int, *, complete: bool
) -> Step:
    """Build the step of micro-batches; its kind is SUMMARY if the graph has only summaries of these micro-batches."""
    if batches:
        count = len(batches) if complete else None
        return micro_batches(query, batches, count=count, keeps=state.keeps, spread=(batches[0].first, until))
    first, last = asked
    return Step(
        kind=StepKind.SUMMARY,
        job=query.job,
        runs=(),
        query_id=query.query_id,
        query_name=query.name,
        first_batch=first,
        last_batch=last,
        spread_first_batch=first,
        spread_last_batch=until,
        keeps_state=state.keeps,
    )
