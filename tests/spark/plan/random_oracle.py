"""Random programs judged by their rows: each is planned once, and run on rows with one input column changed.

The lineage of a frame is what `explain_lineage` returns; of a write, in batch or of a stream, what the events have that
capture emits for it. Where an output changes with a column that isn't in it, an edge is missing; see `oracle`.

A frame's plan runs again for each change. A write happens once, and then its query runs again, if on the rows as they
are it gives what was written; for a stream, the query of the same program in batch. What is missing by it must be by
writes and streams, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, Final

from headwater_producers.spark import attach
from headwater_producers.spark.explain import LineageExplanation, LineageOutput, LineageSource, explain_lineage
from headwater_schemas.events import ColumnEdge, ColumnLineage, LineageEvent
from spark.plan.in_memory import Outputs, Tables, outputs_of_rows
from spark.plan.listener import executions
from spark.plan.oracle import Verdict, changes_of, missing_edges, unknown_changes
from spark.plan.perturbed_rows import Path, made, perturbed
from spark.plan.plan_again import PlanAgain, Tasks
from spark.plan.query_again import QueryAgain, query_again
from spark.plan.random_programs import names_of_program, random_program
from spark.plan.random_queries import TABLES
from spark.plan.random_writes import in_batch, random_stream, random_write
from spark.plan.row_files import RowFiles, outputs_in
from support.capture import FLUSH_SECONDS, RecordingSink

if TYPE_CHECKING:
    Change = tuple[str, Path]

Known = Callable[[LineageExplanation], LineageExplanation]
DEEPEST: Final = 2
"""Steps of a program below each other: two already make any two operators meet, and each more doubles the time."""
KINDS: Final[dict[str, Callable[[int, int], str]]] = {
    "frame": random_program,
    "write": random_write,
    "stream": random_stream,
}


def programs(kind: str, seeds: Iterable[int]) -> dict[int, str]:
    """The programs of a kind, by seed."""
    return {seed: KINDS[kind](seed, DEEPEST) for seed in seeds}


def judged_programs(
    files: RowFiles, kind: str, seeds: Iterable[int], known: Known = lambda lineage: lineage
) -> dict[int, Verdict]:
    """The verdict on each program, by seed; the rows are the seed's, too.

    Args:
        files: the tables, and the session that programs run in. Nothing else may be captured in its application.
        kind: of `KINDS`.
        seeds: of the programs.
        known: what of their lineage counts as known; default: all.
    """
    texts = programs(kind, seeds)
    tasks = Tasks(files.spark)
    if kind == "frame":
        return {seed: _judged_frame(files, tasks, seed, text, known) for seed, text in texts.items()}
    return _judged_writes(files, kind, tasks, texts, known)


def _judged_frame(files: RowFiles, tasks: Tasks, seed: int, text: str, known: Known) -> Verdict:
    verdict = Verdict()
    try:
        rows = rows_of(seed, text)
        files.write(rows)
        frame = names_of_program(files.spark, text)["result"]
        schema, plan = frame.schema, PlanAgain(frame, tasks)

        def run(changed: Tables) -> Outputs:
            files.write(changed)
            return outputs_of_rows(schema, plan.rows())

        _judge(verdict, known(explain_lineage(frame)), rows, run, _changing(seed))
    except Exception as error:  # noqa: BLE001 - whatever it is, the program can't be run on these rows
        verdict.skipped = _reason(error)
    return verdict


@dataclass(frozen=True, slots=True)
class Written:
    """A program that has written once, while it was captured.

    Attributes:
        write: writes again: `write(out, table, checkpoint)`.
        rows: that it was written with.
        out, table: where.
        before: what is there.
        query: gives the same; None where it doesn't.
    """

    write: Callable[[str, str, str], None]
    rows: Tables
    out: str
    table: str
    before: Outputs
    query: QueryAgain | None


def _judged_writes(
    files: RowFiles, kind: str, tasks: Tasks, texts: Mapping[int, str], known: Known
) -> dict[int, Verdict]:
    verdicts = {seed: Verdict() for seed in texts}
    sink, written = RecordingSink(), dict[int, Written]()
    # Captured once; what follows is of no interest to the events.
    with attach(files.spark, sink=sink, job_name="random", capture_drain_timeout_seconds=FLUSH_SECONDS) as capture:
        for seed, text in texts.items():
            try:
                written[seed] = (
                    first_batch_write(files, tasks, seed, text) if kind == "write" else first_write(files, seed, text)
                )
            except Exception as error:  # noqa: BLE001 - whatever it is, the program can't be run on these rows
                verdicts[seed].skipped = _reason(error)
        flushed = capture.flush(FLUSH_SECONDS)
        status = capture.status()
    if not flushed or status.failed or status.dropped:
        raise RuntimeError(f"capture is behind, or has failed: {status}")
    for first in written.values():
        # Not before capture has read what there is to read of them.
        files.drop(first.out, first.table)
    lineages = dict(_lineages(sink.events))
    for seed, first in written.items():
        lineage = lineages.get(first.out)
        if lineage is None or not lineage.complete:
            verdicts[seed].missing.add(f"no event with the lineage of {first.out}" if lineage is None else "incomplete")
            continue

        try:
            emitted = known(explained(lineage, first.out))
            query = first.query if kind == "write" else query_of_stream(files, tasks, seed, texts[seed], first)
            verdicts[seed] = _judged_write(files, emitted, replace(first, query=query), seed)
        except Exception as error:  # noqa: BLE001 - as above
            verdicts[seed].skipped = _reason(error)
    return verdicts


def _judged_write(files: RowFiles, emitted: LineageExplanation, first: Written, seed: int) -> Verdict:
    def written(changed: Tables) -> Outputs:
        files.write(changed)
        out, table = files.new_output()
        try:
            first.write(out, table, files.checkpoint(out))
            return outputs_in(out)
        finally:
            files.drop(out, table)

    if first.query is not None:
        query, verdict = first.query, Verdict()

        def queried(changed: Tables) -> Outputs:
            files.write(changed)
            return query.outputs()

        _judge(verdict, emitted, first.rows, queried, _changing(seed), first.before)
        if not verdict.missing:
            return verdict
    verdict = Verdict()
    _judge(verdict, emitted, first.rows, written, _changing(seed), first.before)
    return verdict


def first_write(files: RowFiles, seed: int, text: str) -> Written:
    """Runs a program that writes, on its seed's rows; no query is known yet."""
    rows = rows_of(seed, text)
    files.write(rows)
    write = names_of_program(files.spark, text)["write"]
    out, table = files.new_output()
    write(out, table, files.checkpoint(out))
    return Written(write, rows, out, table, outputs_in(out), None)


def first_batch_write(files: RowFiles, tasks: Tasks, seed: int, text: str) -> Written:
    """Runs a program that writes in batch, on its seed's rows.

    Args:
        files: the tables.
        tasks: run its query again.
        seed: of the rows.
        text: the program.
    """
    with executions(files.spark) as found:
        first = first_write(files, seed, text)
    query = query_again(files.spark, found, tasks)
    if query is not None and not same_outputs(first.before, query.outputs()):
        query = None
    return replace(first, query=query)


def query_of_stream(files: RowFiles, tasks: Tasks, seed: int, text: str, stream: Written) -> QueryAgain | None:
    """The query of the same program in batch, if it gives what the stream has written."""
    try:
        batch = first_batch_write(files, tasks, seed, in_batch(text))
    except Exception:  # noqa: BLE001 - whatever it is, a stream alone can do it
        return None
    files.drop(batch.out, batch.table)
    return batch.query if same_outputs(stream.before, batch.before) else None


def same_outputs(one: Outputs, other: Outputs) -> bool:
    """True when both have the same values; without rows there may be no files, and so no columns."""
    return all(one.get(name, []) == other.get(name, []) for name in one | other)


def rows_of(seed: int, text: str) -> Tables:
    """Rows of the tables that a program names."""
    random = Random(seed)
    return {table: made(table, random) for table in TABLES if re.search(rf"{table}\b", text)}


def _changing(seed: int) -> Random:
    """Random generator that changes rows: not the rows' own, which would draw the same values again."""
    return Random(f"changes {seed}")


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"


def _judge(
    verdict: Verdict,
    emitted: LineageExplanation,
    rows: Tables,
    run: Callable[[Tables], Outputs],
    random: Random,
    before: Outputs | None = None,
) -> None:
    """Compares what a run makes of these rows with what it makes of changed ones."""

    def after(some: Iterable[Change]) -> Outputs:
        changed = dict(rows)
        for table, path in some:
            changed[table] = perturbed(changed[table], table, path, random)
        return run(changed)

    before = before if before is not None else after(())
    changes = changes_of(rows)
    unknown = unknown_changes(emitted, before, changes)
    verdict.comparisons += sum(len(outputs) * len(some) for some, outputs in unknown.items())
    missing = set(missing_edges(unknown, before, after))
    if missing:
        again = after(())
        steady = [name for name in before if before[name] == again.get(name)]
        missing = set(missing_edges(unknown_changes(emitted, steady, changes), before, after))
    verdict.missing |= missing


def _lineages(events: Iterable[LineageEvent]) -> Iterator[tuple[str, ColumnLineage]]:
    """The lineage of each dataset written, by its name."""
    plans = {event.plan_event.digest: event.plan_event.lineage for event in events if event.plan_event}
    for event in events:
        uses: list[Any] = [event.run_event] if event.run_event else []
        uses += event.interval_event.entries if event.interval_event else ()
        for use in uses:
            if use.plan_digest in plans:
                yield from ((output.dataset.name, plans[use.plan_digest]) for output in use.outputs)


def explained(lineage: ColumnLineage, out: str) -> LineageExplanation:
    """An event's lineage of one dataset, in the form of `explain_lineage`."""
    outputs: dict[str, list[LineageSource]] = {}
    influences = []
    for edge in lineage.edges:
        if lineage.datasets[edge.output].name == out:
            source = _source(lineage, edge)
            if edge.output_field is None:
                influences.append(source)
            else:
                outputs.setdefault(edge.output_field, []).append(source)
    return LineageExplanation(
        outputs=tuple(LineageOutput(path=path, sources=tuple(sources)) for path, sources in outputs.items()),
        influences=tuple(influences),
        complete=lineage.complete,
        incomplete_reason=lineage.incomplete_reason,
    )


def _source(lineage: ColumnLineage, edge: ColumnEdge) -> LineageSource:
    dataset = None if edge.input is None else lineage.datasets[edge.input]
    return LineageSource(
        namespace=dataset.namespace if dataset else None,
        name=dataset.name if dataset else None,
        path=edge.input_field,
        type=edge.type,
        subtype=edge.subtype,
        kind=edge.kind,
        masking=edge.masking,
    )
