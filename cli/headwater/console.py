"""Output of a command: JSON or tables on stdout, messages and progress on stderr.

A command declares the option `json_output: JsonOption = False`, whose callback switches to JSON, and ends with
`console.result(document, table)`. With `--json` only the document is printed to stdout, once; otherwise the table.

Texts are never read as Rich's markup, highlighted, or searched for emoji names; styled texts are `Text` objects.
Control and invisible characters are escaped everywhere, also in the document (`headwater_schemas.visible`).

Commands in backticks, such as `headwater up`, are shown in the form in which the user has to type them.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console as RichConsole
from rich.console import ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.segment import Segment
from rich.status import Status
from rich.table import Table
from rich.text import Span, Text

from headwater.errors import HeadwaterError
from headwater.invocation import as_called
from headwater_schemas.visible import json_escaped, visible, visible_lines


class PlainConsole(RichConsole):
    """Rich's console for untrusted text: strings are printed literally, and can't control the terminal.

    This includes the contents of tables, trees and progress displays, before layout.
    """

    def __init__(self, stream: TextIO, **options: Any) -> None:
        super().__init__(file=stream, markup=False, highlight=False, emoji=False, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """A string as a `Text`."""
        return super().render_str(visible_lines(text), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """For rich. A path or a name wider than its table cell is wrapped, never cut: it may be the answer."""
        if isinstance(renderable, Table):
            for column in renderable.columns:
                column.overflow = "fold"
        return super().render(_visible(renderable) if isinstance(renderable, Text) else renderable, options)

    def spinner(self, text: str) -> Status:
        """Spinner with a text, shown inside its `with` block; `update` accepts a `Text`."""
        return Status(Text(text), console=self)


def _visible(text: Text) -> Text:
    """Replace invisible characters by escapes; styles stay."""
    plain = text.plain
    if (shown := visible_lines(plain)) == plain:
        return text
    at = [0]
    for character in plain:
        at.append(at[-1] + len(visible_lines(character)))
    out = text.blank_copy(shown)
    out.spans = [Span(at[span.start], at[min(span.end, len(plain))], span.style) for span in text.spans]
    return out


class Console:
    """Stdout for results, stderr for messages along the way."""

    def __init__(self) -> None:
        self.json_mode = False
        self._result_printed = False
        self._used: set[str] = set()
        self.log: logging.Logger | None = None
        """Logger of a service (`headwater.logs`) for warnings and errors."""
        self.until_end = contextlib.ExitStack()
        """Contexts that stay open until the command's error has been reported."""

    # Built for each use: rich examines a stream only once, and tests replace the streams.
    @property
    def out(self) -> PlainConsole:
        """Stdout, for results only."""
        return _rich(sys.stdout)

    @property
    def err(self) -> PlainConsole:
        """Stderr, for messages and progress."""
        return _rich(sys.stderr)

    def reset(self, *, json_mode: bool = False) -> None:
        """Return to the initial state, before or after a command."""
        self.until_end.close()
        self.json_mode = json_mode
        self._result_printed = False
        self._used = set()

    def result(self, document: Any, view: RenderableType | None = None) -> None:
        """Print a command's result: `document` with `--json`, else `view` (default: the indented document).

        Args:
            document: Anything that JSON can hold. Other values (paths, times) are printed as `str` does.
        """
        self._result_printed = True
        if self.json_mode:
            sys.stdout.write(_json(document) + "\n")
            sys.stdout.flush()
        else:
            self.out.print(_json(document) if view is None else view)

    def raw(self, text: str) -> None:
        """Print a result for another program, neither wrapped nor styled."""
        self._result_printed = True
        sys.stdout.write(visible_lines(text))
        sys.stdout.flush()

    def message(self, text: str) -> None:
        """Print a message on stderr, without user and password in addresses. More redaction could remove a cursor."""
        from headwater_schemas.redaction import without_user_info  # not at the top, as in `errors`

        self.err.print(as_called(without_user_info(text)))

    def using(self, servers: Mapping[str, str]) -> None:
        """Report the servers of the command in one line, without credentials. Each server is reported only once.

        Args:
            servers: Address and origin of the setting, by name of the server (`Kafka`).
        """
        from headwater_schemas.redaction import redact

        new = {name: where for name, where in servers.items() if name not in self._used}
        self._used |= new.keys()
        if new:
            text = "; ".join(f"{name} {shortened(redact(where))}" for name, where in new.items())
            self.err.print(text, style="dim")

    def warning(self, text: str, *, on: RichConsole | None = None) -> None:
        """Print a warning on stderr, or on the console `on` of a live display."""
        from headwater_schemas.redaction import redact

        if self.log is not None:
            self.log.warning("%s", as_called(text))
            return
        (on or self.err).print(Text.assemble(("warning:", "yellow"), f" {visible_lines(as_called(redact(text)))}"))

    def error(self, error: HeadwaterError) -> None:
        """Report a failed command on stderr; with `--json` also as the document, unless one was printed already."""
        message, fix = as_called(error.message), as_called(error.fix)
        if self.log is not None:
            self.log.error("%s", " ".join([message, fix, *map(shortened, error.nearest)]).strip())
        else:
            self.err.print(Text.assemble(("error:", "bold red"), f" {visible_lines(message)}"))
            if fix:
                self.err.print(f"  {fix}")
            for name in error.nearest:
                self.err.print(f"    {shortened(name)}")
        if self.json_mode and not self._result_printed:
            kind = error.exit_code.name.lower()
            document: dict[str, Any] = {"kind": kind, "message": message, "fix": fix or None}
            if error.nearest:
                document["nearest"] = error.nearest
            self.result({"error": document})

    def status(self, text: str) -> AbstractContextManager[object]:
        """Spinner on stderr during the block; silent if stderr isn't a terminal, and with `--json`."""
        err = self.err
        return contextlib.nullcontext() if self.json_mode or not err.is_terminal else err.spinner(text)

    def progress(self, count: ProgressColumn | None = None, *, lines: bool = False) -> Progress:
        """Progress display on stderr; silent if stderr isn't a terminal, and with `--json`.

        Args:
            count: column with the progress as text; default: `3/10`.
            lines: whether to print a line for each new description when the display is off, for long operations.
        """
        err = self.err
        return (_Lines if lines else Progress)(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            count or MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=err,
            transient=True,
            disable=self.json_mode or not err.is_terminal,
        )


class _Lines(Progress):
    """Progress display that prints descriptions as lines if the display is off."""

    def update(self, task_id: TaskID, *, description: str | None = None, **others: Any) -> None:
        """Update a task, as `Progress.update`. If the display is off, print a new description."""
        new = description is not None and description != self._tasks[task_id].description
        super().update(task_id, description=description, **others)
        if new and self.disable:
            self.console.print(description)


def _rich(stream: TextIO) -> PlainConsole:
    # Output to a pipe or a file isn't wrapped or padded.
    return PlainConsole(stream, width=None if stream.isatty() else 100_000, soft_wrap=True)


def _json(document: Any) -> str:
    return json_escaped(json.dumps(document, indent=2, default=str, ensure_ascii=False))


def plain_table(*headings: str, numbers: Collection[str] = ()) -> Table:
    """Make a table without lines; without headings it has a column for each cell of its rows."""
    out = Table(box=None, pad_edge=False, show_header=bool(headings))
    for heading in headings:
        out.add_column(heading, overflow="fold", justify="right" if heading in numbers else "left")
    return out


def shortened(text: str, most: int = 160) -> str:
    """Shorten a long name in its middle, where names differ least, and escape invisible characters."""
    return visible(text if len(text) <= most else f"{text[: most // 2]}…{text[-(most - most // 2 - 1) :]}")


console = Console()


def _use_json(value: bool) -> bool:  # noqa: FBT001  Typer calls it with the option's value alone
    console.json_mode |= value
    return value


JsonOption = Annotated[
    bool, typer.Option("--json", callback=_use_json, help="Print one JSON document on stdout and nothing else there.")
]
