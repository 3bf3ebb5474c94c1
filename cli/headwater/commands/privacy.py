"""`headwater privacy`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from headwater.completion import complete_dataset
from headwater.errors import InputError
from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import parse_hops
from headwater.show.pages import next_page
from headwater.show.privacy import view
from headwater_analysis.errors import QuestionError
from headwater_analysis.privacy import (
    DEFAULT_THRESHOLD,
    Privacy,
    PrivacyPage,
    PrivacyQuestion,
    privacy,
)
from headwater_analysis.reader import Reader
from headwater_schemas.events import Sensitivity


@graph_command(page=100)
def command(
    ask: Ask,
    asset: Annotated[
        str | None,
        typer.Argument(
            help="A dataset, or a column of it: dataset#path.",
            autocompletion=complete_dataset,
            show_default=False,
        ),
    ] = None,
    *,
    column: Annotated[str | None, typer.Option("--column", "-c", help="A column of the dataset: a field path.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Start from every column that is declared sensitive.")] = False,
    as_: Annotated[
        Sensitivity | None,
        typer.Option("--as", case_sensitive=False, help="Assume this sensitivity.", show_default=False),
    ] = None,
    readable: Annotated[bool, typer.Option("--readable", help="Only columns whose values can be read.")] = False,
    lower: Annotated[
        bool, typer.Option("--lower", help="Only columns that are classified lower than their sources, or not at all.")
    ] = False,
    threshold: Annotated[
        int, typer.Option(min=1, help="Smallest group of rows of which a statistic hides each row.")
    ] = DEFAULT_THRESHOLD,
    depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "all",
    why: Annotated[bool, typer.Option("--why", help="Show the path to each column.")] = False,
) -> Shown:
    """Show where sensitive columns went, where they can be read, and which columns are classified too low.

    headwater privacy flights.departed --column value.tailnum

    headwater privacy --all --lower
    """
    if every == (asset is not None):
        raise InputError(
            "Name a dataset or a column, or ask with --all for every column that is declared sensitive.",
            fix="headwater privacy DATASET --column PATH, or headwater privacy --all.",
        )
    question = PrivacyQuestion(asset, column, as_, threshold, readable, lower)

    def answered(reader: Reader) -> Privacy:
        try:
            return privacy(
                reader, question, datetime.now(UTC).date(), PrivacyPage(parse_hops(depth), ask.limit, ask.cursor)
            )
        except QuestionError as error:
            raise InputError(f"--{error.field}: {error}") from error

    answer = ask(answered)
    return Shown(answer, view(answer, why=why), next_page(answer.next_cursor))
