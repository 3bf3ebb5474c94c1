"""Options that all commands share which ask the graph: a tenant, a time limit, pages, a dataset, hops."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.completion import complete_dataset
from headwater.console import shortened

TenantOption = Annotated[
    str | None, typer.Option("--tenant", help="Tenant of the lineage. Default: HEADWATER_ANALYSIS_TENANT.")
]
TimeoutOption = Annotated[
    float | None,
    typer.Option("--timeout", min=0.001, help="Time limit in seconds. Default: HEADWATER_ANALYSIS_TIMEOUT_SECONDS."),
]
LimitOption = Annotated[int, typer.Option("--limit", min=1, max=1_000, help="Maximum number of items on a page.")]
StepsOption = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Maximum number of steps.")]
CursorOption = Annotated[
    str | None, typer.Option("--cursor", help="Next page: `next_cursor` of the page before.", show_default=False)
]
DatasetArgument = Annotated[
    str,
    typer.Argument(
        help="Its name if it is unique, or namespace/name, or its key.",
        autocompletion=complete_dataset,
        show_default=False,
    ),
]


def parse_hops(text: str) -> int | None:
    """The most hops: a number from 1 on, or `all`, which is None.

    Raises:
        typer.BadParameter: it is neither.
    """
    if text.lower() == "all":
        return None
    if text.isdecimal() and int(text):
        return int(text)
    raise typer.BadParameter(f"{shortened(text)!r} isn't a number of hops from 1 on, nor all.", param_hint="--depth")
