"""`headwater bench …`: what it costs to capture, to carry, to materialize and to ask."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.console import JsonOption, console
from headwater.errors import InputError
from headwater.stack.paths import cache_dir
from headwater_benchmarks.capture.run import Options as CaptureOptions
from headwater_benchmarks.capture.run import run as run_capture
from headwater_benchmarks.capture.show import view as view_capture
from headwater_benchmarks.estate.sizes import FULL, QUICK, Sizes
from headwater_benchmarks.figures import ROUNDS
from headwater_benchmarks.ingest.options import FULL as INGEST_FULL
from headwater_benchmarks.ingest.options import QUICK as INGEST_QUICK
from headwater_benchmarks.ingest.run import run as run_ingest
from headwater_benchmarks.ingest.show import view as view_ingest
from headwater_benchmarks.intake.run import FULL as INTAKE_FULL
from headwater_benchmarks.intake.run import QUICK as INTAKE_QUICK
from headwater_benchmarks.intake.run import Options as IntakeOptions
from headwater_benchmarks.intake.run import run as run_intake
from headwater_benchmarks.intake.show import view as view_intake
from headwater_benchmarks.intervals.one_query import YEAR
from headwater_benchmarks.intervals.one_query import Options as IntervalsOptions
from headwater_benchmarks.intervals.run import run as run_intervals
from headwater_benchmarks.intervals.show import view as view_intervals
from headwater_benchmarks.query.run import Options, run
from headwater_benchmarks.query.show import view
from headwater_benchmarks.report import save

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(help="Benchmarks: figures beside a baseline of the same run. They report, they don't judge.")
app.callback()(lambda: None)

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report, JSON, to this file too.")]
SeedOption = Annotated[int, typer.Option(help="Of everything that is drawn.")]
_ROUNDS_HELP = "Interleaved rounds; a figure is the median of them."
RoundsOption = Annotated[int, typer.Option(min=ROUNDS, help=_ROUNDS_HELP)]


@app.command()
def query(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="The sizes that the goals are about: 100,000 datasets, 1,000,000 columns, 180,000 micro-batches, "
            "3,200,000 relationships. Takes 2 GB of disk, kept in the cache; 5 minutes to make, once.",
        ),
    ] = False,
    datasets: Annotated[int | None, typer.Option(min=1_000, help="Default: 5,000.", show_default=False)] = None,
    columns: Annotated[int | None, typer.Option(min=2_000, help="Default: 50,000.", show_default=False)] = None,
    intervals: Annotated[
        int | None, typer.Option(min=1_000, help="Micro-batches. Default: 20,000.", show_default=False)
    ] = None,
    rounds: RoundsOption = ROUNDS,
    questions: Annotated[int, typer.Option(min=1, max=100, help="Of each kind, in each round.")] = 20,
    seed: SeedOption = 1,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one question or statement.")] = 30.0,
    heap_mb: Annotated[int, typer.Option(min=512, help="Heap of Neo4j.")] = 1_024,
    page_cache_mb: Annotated[int, typer.Option(min=64, help="Page cache of Neo4j.")] = 2_048,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Lineage, traces and impact on a made-up company's graph, beside one hand-written statement for each.

    The default sizes are for a quick look, and made in a minute; the goals are about --full.
    """
    wanted = {"datasets": datasets, "columns": columns, "intervals": intervals}
    chosen = {name: value for name, value in wanted.items() if value is not None}
    sizes = Sizes(**{**(FULL if full else QUICK), **chosen}, seed=seed)
    document = run(Options(sizes, rounds, questions, timeout, heap_mb, page_cache_mb, cache_dir() / "bench"))
    _finish(document, output, view(document))


@app.command()
def capture(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool, typer.Option("--full", help="The sizes that the goals are about: 15 rounds of 20 micro-batches.")
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(min=ROUNDS, help="Interleaved rounds. Default: 5.", show_default=False)
    ] = None,
    micro_batches: Annotated[
        int | None, typer.Option(min=2, help="In each round. Default: 10.", show_default=False)
    ] = None,
    records: Annotated[int, typer.Option(min=4, help="In each micro-batch.")] = 200,
    rows: Annotated[int, typer.Option(min=1, help="That the batch job writes.")] = 20_000,
    columns: Annotated[int, typer.Option(min=8, help="Of the batch job.")] = 300,
    writes: Annotated[int, typer.Option(min=1, help="Of the batch job, in each round.")] = 2,
    plan_columns: Annotated[int, typer.Option(min=8, help="Of the large plan.")] = 1_000,
    warm_up: Annotated[int, typer.Option(min=0, help="Rounds before the first; they don't count.")] = 2,
    seed: SeedOption = 1,
    heap_mb: Annotated[int, typer.Option(min=512, help="Heap of each Spark driver.")] = 1_024,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure the cost of capture in a Spark driver, and what it sends, against OpenLineage's agent and no capture.

    A Kafka-to-Kafka query and a wide batch job, in four Spark drivers that take turns.
    """
    document = run_capture(
        CaptureOptions(
            rounds=rounds or (15 if full else 5),
            micro_batches=micro_batches or (20 if full else 10),
            records=records,
            rows=rows,
            columns=columns,
            writes=writes,
            plan_columns=plan_columns,
            warm_up=warm_up,
            seed=seed,
            heap_mb=heap_mb,
        )
    )
    _finish(document, output, view_capture(document))


@app.command()
def ingest(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool,
        typer.Option("--full", help="The sizes that the goals are about: 200,000 events, a fresh database each time."),
    ] = False,
    events: Annotated[
        int | None, typer.Option(min=100, help="On the topic, repeated ones included. Default: 10,000.")
    ] = None,
    rounds: Annotated[
        int, typer.Option(min=1, help=f"{_ROUNDS_HELP} With baselines, which are compared by round, at least {ROUNDS}.")
    ] = ROUNDS,
    sample: Annotated[
        int | None, typer.Option(min=50, help="Events that the floor's shapes are tried on. Default: 500.")
    ] = None,
    by_hand: Annotated[
        int, typer.Option(min=0, help="Only so many events for naive and sink; 0: all, as Headwater, which takes long.")
    ] = 0,
    latency_seconds: Annotated[
        float | None, typer.Option(min=0, help="How long events come at half the rate; 0: not. Default: 10.")
    ] = None,
    baselines: Annotated[bool, typer.Option(help="Measure floor, naive and sink as well.")] = True,
    seed: SeedOption = 1,
    heap_mb: Annotated[int, typer.Option(min=512, help="Heap of Neo4j.")] = 1_024,
    page_cache_mb: Annotated[int, typer.Option(min=64, help="Page cache of Neo4j.")] = 1_024,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Events per second from Kafka to committed in Neo4j, and how long one event takes at half that rate.

    Beside the floor, which is the same driver writing the same graph from memory in its best shape; naive, which is one
    transaction for each event; and sink, which merges 1,000 raw events at a time. The materializer's settings in the
    environment (HEADWATER_MATERIALIZER_…) hold for the consumer that is measured.
    """
    if baselines and rounds < ROUNDS:
        raise InputError(f"--rounds {rounds} is too few to compare baselines with: {ROUNDS} or more.")
    wanted: dict[str, Any] = {"events": events, "sample": sample, "latency_seconds": latency_seconds}
    chosen = {name: value for name, value in wanted.items() if value is not None}
    document = run_ingest(
        replace(
            INGEST_FULL if full else INGEST_QUICK,
            rounds=rounds,
            baselines=baselines,
            by_hand=by_hand,
            seed=seed,
            heap_mb=heap_mb,
            page_cache_mb=page_cache_mb,
            **chosen,
        )
    )
    _finish(document, output, view_ingest(document))


@app.command()
def intake(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[bool, typer.Option("--full", help="10,000 events in each turn instead of 1,000.")] = False,
    events: Annotated[
        int | None, typer.Option(min=100, help="In each turn. Default: 1,000.", show_default=False)
    ] = None,
    warm_up: Annotated[int, typer.Option(min=1, help="Before these, of the same jobs.")] = 500,
    rounds: RoundsOption = ROUNDS,
    batch: Annotated[int, typer.Option(min=1, max=1_000, help="Events in a request over HTTP.")] = 1,
    rentgen: Annotated[
        Path | None,
        typer.Option(
            help="Python of an environment with data-rentgen. Default: data-rentgen/bin/python in the cache's bench.",
            show_default=False,
        ),
    ] = None,
    seed: SeedOption = 1,
    heap_mb: Annotated[int, typer.Option(min=512, help="Heap of Neo4j.")] = 1_024,
    page_cache_mb: Annotated[int, typer.Option(min=64, help="Page cache of Neo4j.")] = 512,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """OpenLineage events per second to the graph, over HTTP and from a Kafka topic, and processor time of each.

    Beside Data.Rentgen where it and PostgreSQL are installed: the page of this benchmark in the documents has how.
    """
    document = run_intake(
        IntakeOptions(
            events=events or (INTAKE_FULL if full else INTAKE_QUICK),
            rounds=rounds,
            warm_up=warm_up,
            batch=batch,
            rentgen=rentgen,
            seed=seed,
            heap_mb=heap_mb,
            page_cache_mb=page_cache_mb,
        )
    )
    _finish(document, output, view_intake(document))


@app.command()
def intervals(
    micro_batches: Annotated[
        int, typer.Option(min=1, help="Of the query. Default: a year's.", show_default=False)
    ] = YEAR,
    rounds: RoundsOption = ROUNDS,
    questions: Annotated[int, typer.Option(min=1, help="Traces in each round.")] = 40,
    seed: SeedOption = 1,
    heap_mb: Annotated[int, typer.Option(min=512, help="Heap of Neo4j.")] = 1_024,
    page_cache_mb: Annotated[int, typer.Option(min=64, help="Page cache of Neo4j.")] = 2_048,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure a streaming query's years: nodes, bytes on disk, traces to a micro-batch, and the rate all along.

    A query with a micro-batch each ten seconds is ingested, event by event, by the consumer's own loop. It makes
    3,153,600 micro-batches in a year.
    """
    document = run_intervals(
        IntervalsOptions(
            micro_batches=micro_batches,
            rounds=rounds,
            questions=questions,
            seed=seed,
            heap_mb=heap_mb,
            page_cache_mb=page_cache_mb,
        )
    )
    _finish(document, output, view_intervals(document))


def _finish(document: dict[str, Any], output: Path | None, view: RenderableType) -> None:
    if output is not None:
        save(document, output)
    console.result(document, view)
