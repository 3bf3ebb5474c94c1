"""Layout of an answer: parts with headings, wrapping at a terminal's width, count of items, cursor of the next page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from headwater.console import plain_table

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, slots=True)
class FittedView:
    """View that wraps at the width of a terminal, and not in a pipe."""

    view: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For rich."""
        if console.is_terminal:
            yield from console.render(self.view, options.update(no_wrap=False, overflow="fold"))
        else:
            yield from console.render(self.view, options)


def pairs(rows: Iterable[tuple[str, str | Text | None]]) -> Table:
    """Table with a row for each known property: its name and value."""
    out = plain_table()
    for name, value in rows:
        if value:
            out.add_row(Text(name, style="dim"), value)
    return out


def part(heading: str, view: RenderableType, shown: int, total: int) -> RenderableType:
    """List with a heading; an empty group if `total` is 0."""
    if not total:
        return Group()
    count = f" ({shown:,} of {total:,})" if shown < total else ""
    return Group("", Text(f"{heading}{count}", style="bold"), view)


def counted(
    total: int, shown: int, what: str, next_cursor: str | None, *, plural: str = "", at_least: bool = False
) -> str:
    """Format a count: `12 runs, 5 on this page. The next page: --cursor …`.

    Args:
        what: word for one item.
        plural: word for several items, unless it is `what` with an s.
        at_least: whether there may be more than `total`.
    """
    words = f"{'At least ' if at_least else ''}{total:,} {what if total == 1 else plural or f'{what}s'}"
    if shown < total:
        words += f", {shown:,} on this page"
    return " ".join(filter(None, (f"{words}.", next_page(next_cursor))))


def next_page(next_cursor: str | None) -> str:
    """Format the option for the next page; empty on the last page."""
    return "" if next_cursor is None else f"The next page: --cursor {next_cursor}"
