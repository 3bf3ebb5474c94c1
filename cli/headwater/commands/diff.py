"""`headwater diff`: changes in lineage."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.graph_command import Ask, Shown, graph_command
from headwater.show import diff as show
from headwater.times import time_if_given
from headwater_analysis.diff import Diff, Point, diff
from headwater_analysis.reader import Reader


@graph_command(page=100)
def command(
    ask: Ask,
    job: Annotated[str | None, typer.Argument(help="Job to compare. Default: all jobs that changed.")] = None,
    *,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="A time to compare from: 1d (ago), yesterday 14:00, 2025-01-31.")
    ] = None,
    after: Annotated[str | None, typer.Option(metavar="TIME", help="A time to compare with. Default: now.")] = None,
    before_run: Annotated[str | None, typer.Option(help="A run to compare from: its id.")] = None,
    after_run: Annotated[str | None, typer.Option(help="A run to compare with.")] = None,
    before_code: Annotated[str | None, typer.Option(help="A code version of JOB to compare from.")] = None,
    after_code: Annotated[str | None, typer.Option(help="A code version to compare with.")] = None,
    dataset: Annotated[
        str | None, typer.Option(help="Compare the lineage of this dataset, by all jobs that write it.")
    ] = None,
) -> Shown:
    """Show what changed in lineage between two times, two runs, or two code versions of a job.

    Lists columns with other sources or transformations, datasets read or written, and columns of schemas.
    """
    if before is None and before_run is None and before_code is None:
        raise typer.BadParameter("say what to compare from: --before TIME, --before-run ID or --before-code VERSION")
    times = [time_if_given(text) for text in (before, after)]

    def question(reader: Reader) -> Diff:
        begin, end = Point(times[0], before_run, before_code), Point(times[1], after_run, after_code)
        return diff(reader, begin, end, job=job, dataset=dataset, limit=ask.limit, cursor=ask.cursor)

    answer = ask(question)
    return Shown(answer, show.view(answer), show.summary(answer))
