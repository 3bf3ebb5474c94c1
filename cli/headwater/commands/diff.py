"""`headwater diff`: what changed in lineage."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.asking import CursorOption, LimitOption, TenantOption, TimeoutOption, asking, document
from headwater.console import JsonOption, console
from headwater.show import diff as show
from headwater.times import time_if_given
from headwater_consumers.analysis.diff import Point, diff


def command(
    job: Annotated[str | None, typer.Argument(help="Whose lineage. Default: all jobs that changed.")] = None,
    *,
    before: Annotated[
        str | None, typer.Option(metavar="TIME", help="A time to compare from: 1d (ago), yesterday 14:00, 2025-01-31.")
    ] = None,
    after: Annotated[str | None, typer.Option(metavar="TIME", help="A time to compare with. Default: now.")] = None,
    before_run: Annotated[str | None, typer.Option(help="A run to compare from: its id.")] = None,
    after_run: Annotated[str | None, typer.Option(help="A run to compare with.")] = None,
    before_code: Annotated[str | None, typer.Option(help="A code version of JOB to compare from.")] = None,
    after_code: Annotated[str | None, typer.Option(help="A code version to compare with.")] = None,
    dataset: Annotated[str | None, typer.Option(help="How this dataset is made, by all jobs that write it.")] = None,
    limit: LimitOption = 100,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show what changed in lineage between two times, two runs, or two code versions of a job.

    Columns that come from elsewhere or in another way, datasets read or written, and columns of schemas.
    """
    if before is None and before_run is None and before_code is None:
        raise typer.BadParameter("say what to compare from: --before TIME, --before-run ID or --before-code VERSION")
    times = [time_if_given(text) for text in (before, after)]
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        begin, end = Point(times[0], before_run, before_code), Point(times[1], after_run, after_code)
        answer = diff(reader, begin, end, job=job, dataset=dataset, limit=limit, cursor=cursor)
    console.result(document(answer), show.view(answer))
    console.message(show.summary(answer))
