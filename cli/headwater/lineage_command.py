"""`headwater upstream` and `headwater downstream`, which differ in direction alone."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from headwater.graph_command import Ask, Shown, graph_command
from headwater.options import DatasetArgument, parse_hops
from headwater.show import lineage as show
from headwater.show.diagram import DiagramFormat, drawn, lineage_diagram
from headwater.times import time_if_given
from headwater_analysis.lineage import Filters, Influence, LineageDirection, LineageQuestion, lineage


class LineageFormat(StrEnum):
    """Output format for people."""

    TREE = "tree"
    TABLE = "table"
    MERMAID = "mermaid"
    DOT = "dot"


def lineage_command(direction: LineageDirection, help_text: str) -> Callable[..., None]:
    """Make the function of which Typer makes the command."""

    def command(
        ask: Ask,
        dataset: DatasetArgument,
        *,
        column: Annotated[
            str | None, typer.Option("--column", "-c", help="Start from this column of the dataset: a field path.")
        ] = None,
        depth: Annotated[str, typer.Option("--depth", "-d", help="Maximum number of hops, or `all`.")] = "1",
        columns: Annotated[bool, typer.Option("--columns", help="List the column edges of each hop.")] = False,
        influence: Annotated[
            Influence | None,
            typer.Option(
                case_sensitive=False, help="Only DIRECT or INDIRECT influence of a column.", show_default=False
            ),
        ] = None,
        namespace: Annotated[
            list[str] | None, typer.Option(help="Only datasets in this namespace. Repeatable.")
        ] = None,
        type_: Annotated[
            list[str] | None, typer.Option("--type", help="Only datasets of this type, e.g. TOPIC. Repeatable.")
        ] = None,
        tag: Annotated[
            list[str] | None, typer.Option(help="Only items with this tag: key, or key=value. Repeatable.")
        ] = None,
        job: Annotated[list[str] | None, typer.Option(help="Only hops made by this job. Repeatable.")] = None,
        as_of: Annotated[
            str | None,
            typer.Option(
                metavar="TIME", help="The graph as it was then: 1h (ago), yesterday 14:00, 2025-01-31T12:00:00Z."
            ),
        ] = None,
        since: Annotated[str | None, typer.Option(metavar="TIME", help="Only hops seen at this time or later.")] = None,
        format_: Annotated[
            LineageFormat,
            typer.Option("--format", "-f", case_sensitive=False, help="Output for people, or the source of a diagram."),
        ] = LineageFormat.TREE,
    ) -> Shown:
        question = LineageQuestion(
            dataset,
            direction,
            column,
            parse_hops(depth),
            influence,
            columns,
            filters=Filters(tuple(namespace or ()), tuple(type_ or ()), tuple(tag or ()), tuple(job or ())),
            as_of=time_if_given(as_of),
            since=time_if_given(since),
            quality=True,
            limit=ask.limit,
            cursor=ask.cursor,
        )
        answer = ask(lambda reader: lineage(reader, question))
        if format_ in (LineageFormat.MERMAID, LineageFormat.DOT):
            drawing = drawn(lineage_diagram(answer), DiagramFormat(format_.value))
            return Shown(answer, summary=show.summary(answer), drawing=drawing)
        view = show.table(answer) if format_ is LineageFormat.TABLE else show.tree(answer)
        return Shown(answer, view, show.summary(answer))

    command.__doc__ = help_text
    return graph_command(page=100)(command)
