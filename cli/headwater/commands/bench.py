"""`headwater bench query`: how fast questions are answered on a large graph; `bench capture`: what capturing costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headwater.bench.capture.run import Options as CaptureOptions
from headwater.bench.capture.run import run as run_capture
from headwater.bench.capture.show import view as view_capture
from headwater.bench.estate.sizes import FULL, QUICK, Sizes
from headwater.bench.figures import ROUNDS
from headwater.bench.query.run import Options, run
from headwater.bench.query.show import view
from headwater.bench.report import save
from headwater.console import JsonOption, console
from headwater.stack.paths import cache_dir

app = typer.Typer(help="Benchmarks: figures beside a baseline of the same run. They report, they don't judge.")
app.callback()(lambda: None)

OutputOption = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report, JSON, to this file too.")]
SeedOption = Annotated[int, typer.Option(help="Of everything that is drawn.")]
RoundsOption = Annotated[int, typer.Option(min=ROUNDS, help="Interleaved rounds; a figure is the median of them.")]


@app.command()
def query(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool,
        typer.Option(
            "--full",
            help="The sizes that the goals are about: 100,000 datasets, 1,000,000 columns, 1,000,000 micro-batches, "
            "8,700,000 relationships. Takes 4 GB of disk, kept in the cache; 5 minutes to make, once.",
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
    if output is not None:
        save(document, output)
    console.result(document, view(document))


@app.command()
def capture(  # noqa: PLR0917  Typer's options are parameters
    full: Annotated[
        bool, typer.Option("--full", help="The sizes that the goals are about: 15 rounds of 20 micro-batches.")
    ] = False,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Interleaved rounds. Default: 5.", show_default=False)
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
    """What capturing costs a Spark driver, and what it sends, beside OpenLineage's agent and beside no capture at all.

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
    if output is not None:
        save(document, output)
    console.result(document, view_capture(document))
