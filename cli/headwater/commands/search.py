"""`headwater search`: assets by name, owner, tag and column."""

from __future__ import annotations

from typing import Annotated

import typer

from headwater.graph_command import Ask, Shown, graph_command
from headwater.show import search as show
from headwater_analysis.assets import AssetKind
from headwater_analysis.search import search


@graph_command(page=20)
def command(
    ask: Ask,
    text: Annotated[str, typer.Argument(help="Words of names, or their beginnings; or a whole name.")] = "",
    *,
    kind: Annotated[
        list[AssetKind] | None,
        typer.Option(case_sensitive=False, help="Only assets of this kind. Repeatable.", show_default=False),
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Words of an owner's name.")] = None,
    tag: Annotated[str | None, typer.Option(help="A tag: words of its key or value, or key=value.")] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="Only columns with this name, of datasets that TEXT finds.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Only in this namespace.")] = None,
    fuzzy: Annotated[bool, typer.Option("--fuzzy", help="Match words with one or two wrong letters, too.")] = False,
) -> Shown:
    """Find datasets, jobs, columns and consumers by name, owner or tag. Words of TEXT may be beginnings: `fli dep`.

    If nothing matches, similar names are shown.
    """
    page = ask(
        lambda reader: search(
            reader,
            text,
            kinds=kind or None,
            owner=owner,
            tag=tag,
            column=column,
            namespace=namespace,
            fuzzy=fuzzy,
            limit=ask.limit,
            cursor=ask.cursor,
        )
    )
    return Shown(page, show.view(page), show.summary(page))
