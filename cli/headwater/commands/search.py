"""`headwater search`: assets by name, owner, tag and column."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table, shortened
from headwater.graph_command import Ask, Shown, graph_command
from headwater.show.names import asset_text
from headwater.show.pages import counted
from headwater_analysis.assets import AssetKind
from headwater_analysis.search import Hit, SearchPage, search
from headwater_schemas.events import Sensitivity


@graph_command(page=20)
def command(
    ask: Ask,
    text: Annotated[str, typer.Argument(help="Words of a name, or the beginnings of its words; or a whole name.")] = "",
    *,
    kind: Annotated[
        list[AssetKind] | None, typer.Option(case_sensitive=False, help="Only assets of this kind. Repeatable.")
    ] = None,
    owner: Annotated[str | None, typer.Option(help="Words of an owner's name.")] = None,
    tag: Annotated[str | None, typer.Option(help="A tag: words of its key or value, or key=value.")] = None,
    column: Annotated[
        str | None, typer.Option("--column", "-c", help="Only columns with this name, of datasets that TEXT finds.")
    ] = None,
    namespace: Annotated[str | None, typer.Option(help="Only assets in this namespace.")] = None,
    type_: Annotated[
        list[str] | None, typer.Option("--type", help="Only assets of this type: TOPIC, TABLE, BATCH. Repeatable.")
    ] = None,
    sensitivity: Annotated[
        Sensitivity | None, typer.Option(case_sensitive=False, help="Only assets with this declared sensitivity.")
    ] = None,
    fuzzy: Annotated[bool, typer.Option("--fuzzy", help="Match words with one or two wrong letters, too.")] = False,
) -> Shown:
    """Find datasets, jobs, columns and consumers by name, owner or tag.

    A word of TEXT may be the beginning of a word: `fli dep` finds `flights.departed`. If nothing matches, similar names
    are shown.
    """
    given: dict[str, Any] = {
        "owner": owner,
        "tag": tag,
        "column": column,
        "namespace": namespace,
        "sensitivity": sensitivity,
        "fuzzy": fuzzy,
        **ask.page,
    }
    page = ask(
        lambda reader: search(reader, text, kinds=kind or None, types=type_ or (), **given),
        lambda server: server.get(("search",), SearchPage, {"q": text, "kind": kind, "type": type_, **given}),
    )
    return Shown(page, view(page), summary(page))


def table(page: SearchPage) -> Table:
    """Table with a row for each hit; dropped assets are dim."""
    out = plain_table("match", "kind", "asset", "type", "owners", "tags")
    for hit in page.items:
        asset = hit.asset
        cells = (
            hit.match.value.lower(),
            asset.kind.value.lower(),
            _asset(hit),
            shortened(asset.type or ""),
            _owners(hit),
            _tags(hit),
        )
        out.add_row(*cells, style="dim" if hit.gone else None)
    return out


def consumers(page: SearchPage) -> Table:
    """Table with a row for each declared consumer that was found."""
    out = plain_table("consumer", "type", "owners")
    for each in page.consumers:
        out.add_row(shortened(each.name), shortened(each.type or ""), shortened(", ".join(each.owners)))
    return out


def view(page: SearchPage) -> RenderableType:
    """View of the hits, then of the declared consumers, if any."""
    parts: list[RenderableType] = [table(page)] if page.items else []
    if page.consumers:
        parts += [*([""] if parts else []), consumers(page)]
    return Group(*parts) if parts else ""


def summary(page: SearchPage) -> str:
    """Format the number of hits, and the option for the next page."""
    if not page.total:
        return "" if page.consumers else "Nothing was found."
    return counted(page.total, len(page.items), "hit", page.next_cursor, at_least=page.truncated)


def _asset(hit: Hit) -> Text:
    text = asset_text(hit.asset)
    return text.append(" (gone)") if hit.gone else text


def _owners(hit: Hit) -> str:
    return shortened(", ".join(hit.owners))


def _tags(hit: Hit) -> str:
    tags = [
        f"{tag.key}{f'={tag.value}' if tag.value else ''}{f' of {tag.column}' if tag.column else ''}"
        for tag in hit.tags
    ]
    return shortened(", ".join(tags))
