"""Trees and tables whole: wrapped on a terminal, on lines as long as it takes elsewhere; never cut off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import RenderableType

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

# In a pipe; rich pads no line to it.
_WIDE = 100_000


@dataclass(frozen=True, slots=True)
class Fitted:
    """What it shows, fitted to where it is shown."""

    view: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """For rich."""
        if console.is_terminal:
            yield from console.render(self.view, options.update(no_wrap=False, overflow="fold"))
        else:
            yield from console.render(self.view, options.update(width=_WIDE))
