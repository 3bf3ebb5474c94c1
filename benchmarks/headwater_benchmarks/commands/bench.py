"""`headwater bench …`: cost of capture, intake, materialization and questions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.console import JsonOption, console
from headwater.errors import InputError
from headwater.stack.paths import cache_dir
from headwater_benchmarks.capture.benchmark import CaptureOptions, bench_capture
from headwater_benchmarks.capture.figures import capture_tables
from headwater_benchmarks.estate import FULL, QUICK, EstateSize
from headwater_benchmarks.ingest.benchmark import IngestOptions, bench_ingest
from headwater_benchmarks.ingest.figures import ingest_tables
from headwater_benchmarks.intake.benchmark import FULL as INTAKE_FULL
from headwater_benchmarks.intake.benchmark import QUICK as INTAKE_QUICK
from headwater_benchmarks.intake.benchmark import IntakeOptions, bench_intake, intake_tables
from headwater_benchmarks.intervals import YEAR, bench_intervals, intervals_tables
from headwater_benchmarks.query import bench_query, query_tables
from headwater_benchmarks.report import ROUNDS, save

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(help="Benchmarks: figures next to a baseline of the same run, without pass or fail.")
app.callback()(lambda: None)

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report as JSON to this file too.")]
SeedOption = Annotated[int, typer.Option(help="Seed of all random choices.")]
_ROUNDS_HELP = "Interleaved rounds; a figure is the median of them."
RoundsOption = Annotated[int, typer.Option(min=ROUNDS, help=_ROUNDS_HELP)]


@app.command()
def query(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="The sizes that the goals are about: 100,000 datasets, 1,000,000 columns, 180,000 micro-batches. "
            "The store takes 2 GB of disk; it is made once, by the consumer's code, and kept in the cache.",
        ),
    ] = False,
    datasets: Annotated[
        int | None, typer.Option(min=1_000, help="Number of datasets. Default: 5,000.", show_default=False)
    ] = None,
    columns: Annotated[
        int | None, typer.Option(min=2_000, help="Number of columns. Default: 50,000.", show_default=False)
    ] = None,
    intervals: Annotated[
        int | None, typer.Option(min=1_000, help="Number of micro-batches. Default: 20,000.", show_default=False)
    ] = None,
    rounds: RoundsOption = ROUNDS,
    questions: Annotated[int, typer.Option(min=1, max=100, help="Questions of each kind, in each round.")] = 20,
    seed: SeedOption = 1,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure lineage, traces and impact on a made-up graph; compare lineage and impact with hand-written Cypher.

    The default sizes are for a quick look; the goals are about --full.
    """
    wanted = {"datasets": datasets, "columns": columns, "intervals": intervals}
    chosen = {name: value for name, value in wanted.items() if value is not None}
    size = EstateSize(**{**(FULL if full else QUICK), **chosen}, seed=seed)
    document = bench_query(size, rounds=rounds, questions=questions, stores=cache_dir() / "bench")
    _finish(document, output, query_tables(document))


@app.command()
def capture(
    full: Annotated[
        bool, typer.Option("--full", help="The sizes that the goals are about: 15 rounds of 20 micro-batches.")
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(min=ROUNDS, help="Interleaved rounds. Default: 5.", show_default=False)
    ] = None,
    micro_batches: Annotated[
        int | None, typer.Option(min=2, help="Micro-batches in each round. Default: 10.", show_default=False)
    ] = None,
    seed: SeedOption = 1,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure the cost of capture in a Spark driver, and its events; compare with OpenLineage's agent and no capture.

    A Kafka-to-Kafka query and a wide batch job, in four Spark drivers that take turns.
    """
    options = CaptureOptions(
        rounds=rounds or (15 if full else 5), micro_batches=micro_batches or (20 if full else 10), seed=seed
    )
    document = bench_capture(options)
    _finish(document, output, capture_tables(document))


@app.command()
def ingest(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[bool, typer.Option("--full", help="The sizes that the goals are about: 200,000 events.")] = False,
    events: Annotated[
        int | None, typer.Option(min=100, help="Records on the topic, repeated ones included. Default: 10,000.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help=f"{_ROUNDS_HELP} With baselines: at least {ROUNDS}.")] = ROUNDS,
    by_hand: Annotated[
        int, typer.Option(min=0, help="Number of events for naive and sink; 0: all events, which takes long.")
    ] = 0,
    latency_seconds: Annotated[
        float | None, typer.Option(min=0, help="Duration of each measurement of latencies; 0: none. Default: 10.")
    ] = None,
    baselines: Annotated[bool, typer.Option(help="Measure floor, naive and sink as well.")] = True,
    seed: SeedOption = 1,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure events per second from Kafka to the commit in Neo4j, and the latency of an event at half of this rate.

    Baselines are the floor, which writes the same graph from memory with the same driver; naive, which has one
    transaction for each event; and sink, which merges 1,000 raw events at a time. The measured consumer has the
    materializer's settings of the environment (HEADWATER_MATERIALIZER_…).
    """
    if baselines and rounds < ROUNDS:
        raise InputError(f"--rounds {rounds} is too few for a comparison with baselines: {ROUNDS} or more.")
    document = bench_ingest(
        IngestOptions(
            events=events or (200_000 if full else 10_000),
            rounds=rounds,
            warm_up=3_000 if full else 500,
            latency_seconds=(60.0 if full else 10.0) if latency_seconds is None else latency_seconds,
            by_hand=by_hand,
            baselines=baselines,
            seed=seed,
        )
    )
    _finish(document, output, ingest_tables(document))


@app.command()
def intake(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[bool, typer.Option("--full", help="10,000 events in each turn instead of 1,000.")] = False,
    events: Annotated[
        int | None, typer.Option(min=100, help="Events in each turn. Default: 1,000.", show_default=False)
    ] = None,
    warm_up: Annotated[int, typer.Option(min=1, help="Unmeasured events before the others.")] = 500,
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
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure OpenLineage events per second to the graph, over HTTP and from a Kafka topic, and processor time.

    The baseline is Data.Rentgen, if it and PostgreSQL are installed, as this benchmark's page in the docs describes.
    """
    document = bench_intake(
        IntakeOptions(
            events=events or (INTAKE_FULL if full else INTAKE_QUICK),
            rounds=rounds,
            warm_up=warm_up,
            batch=batch,
            rentgen=rentgen,
            seed=seed,
        )
    )
    _finish(document, output, intake_tables(document))


@app.command()
def intervals(
    micro_batches: Annotated[
        int, typer.Option(min=1, help="Micro-batches of the query. Default: one year.", show_default=False)
    ] = YEAR,
    rounds: RoundsOption = ROUNDS,
    seed: SeedOption = 1,
    output: OutputOption = None,
    json_output: JsonOption = False,
) -> None:
    """Measure a streaming query over years: nodes, bytes on disk, traces to a micro-batch, and the rate of ingestion.

    The query has a micro-batch every ten seconds, which is 3,153,600 micro-batches in a year. They are ingested from a
    topic, event by event.
    """
    document = bench_intervals(micro_batches, rounds=rounds, seed=seed)
    _finish(document, output, intervals_tables(document))


def _finish(document: dict[str, Any], output: Path | None, view: RenderableType) -> None:
    if output is not None:
        save(document, output)
    console.result(document, view)
