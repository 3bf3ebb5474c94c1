"""The one place where a command speaks: JSON or tables on stdout, messages and progress on stderr.

A command declares `json_output: JsonOption = False`, which acts by itself, and ends with `console.result(document,
table)`. With `--json` the document is printed, once, and nothing else reaches stdout; without it, the table is.

Commands that a message names in backticks, `headwater up`, are shown as they have to be typed.
"""

from __future__ import annotations

import contextlib
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer
from rich.console import Console as RichConsole
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from headwater.invocation import as_called

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rich.console import RenderableType

    from headwater.errors import HeadwaterError


class Console:
    """Stdout for results, stderr for everything said along the way."""

    def __init__(self) -> None:
        self.json_mode = False
        self._result_printed = False

    # Built per use: rich looks at the stream's terminal once, and tests swap the streams.
    @property
    def out(self) -> RichConsole:
        """Stdout, for results only."""
        return _rich(sys.stdout)

    @property
    def err(self) -> RichConsole:
        """Stderr, for messages and progress."""
        return _rich(sys.stderr)

    def reset(self, *, json_mode: bool = False) -> None:
        """Begin a command."""
        self.json_mode = json_mode
        self._result_printed = False

    def result(self, document: Any, view: RenderableType | None = None) -> None:
        """Print what the command found: `document` with `--json`, else `view` (default: the indented document).

        Args:
            document: Anything that JSON can say. Other values (paths, times) are printed as `str` does.
            view: A rich table or text for people.
        """
        self._result_printed = True
        if self.json_mode:
            sys.stdout.write(json.dumps(document, indent=2, default=str, ensure_ascii=False) + "\n")
            sys.stdout.flush()
        elif view is not None:
            self.out.print(view)
        else:
            self.out.print_json(data=document, default=str)

    def raw(self, text: str) -> None:
        """Print a result that is text for another program, as it is."""
        self._result_printed = True
        sys.stdout.write(text)
        sys.stdout.flush()

    def message(self, text: str) -> None:
        """Say something to the person watching. Rich markup is read; escape what comes from outside."""
        self.err.print(as_called(text))

    def warning(self, text: str, *, on: RichConsole | None = None) -> None:
        """Say what may surprise, with 'warning' before it; `on` a live display's console, if there is one."""
        (on or self.err).print(f"[yellow]warning:[/yellow] {escape(as_called(text))}")

    def error(self, error: HeadwaterError) -> None:
        """Tell of a failed command on stderr; with `--json` also as the document, unless one was printed already."""
        message, fix = as_called(error.message), as_called(error.fix)
        self.err.print(f"[bold red]error:[/bold red] {escape(message)}")
        if fix:
            self.err.print(f"  {escape(fix)}")
        for name in error.nearest:
            self.err.print(f"    {escape(shortened(name))}")
        if self.json_mode and not self._result_printed:
            kind = error.exit_code.name.lower()
            document: dict[str, Any] = {"kind": kind, "message": message, "fix": fix or None}
            if error.nearest:
                document["nearest"] = error.nearest
            self.result({"error": document})

    def status(self, text: str) -> AbstractContextManager[object]:
        """A spinner on stderr while the block runs; silent where stderr is no terminal, and with `--json`."""
        err = self.err
        return contextlib.nullcontext() if self.json_mode or not err.is_terminal else err.status(text)

    def progress(self) -> Progress:
        """A progress display on stderr; silent where stderr is no terminal, and with `--json`."""
        err = self.err
        return Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=self.json_mode or not err.is_terminal,
        )


def _rich(stream: TextIO) -> RichConsole:
    # A pipe or a file has no width to break lines at.
    return RichConsole(file=stream, highlight=False, width=None if stream.isatty() else 200, soft_wrap=True)


def shortened(text: str, most: int = 160) -> str:
    """For people: a name of 10 KB cut in its middle, where names differ least, and no control characters."""
    shown = text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}"
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in shown)


console = Console()


def _use_json(value: bool) -> bool:  # noqa: FBT001  Typer calls it with the option's value alone
    console.json_mode |= value
    return value


JsonOption = Annotated[
    bool,
    typer.Option("--json", callback=_use_json, help="Print one JSON document on stdout and nothing else there."),
]
