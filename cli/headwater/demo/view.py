"""Live display of a demo on a terminal; a few plain lines without a terminal; nothing with `--json`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from headwater.console import console, plain_table
from headwater.demo.broker import EventProgress
from headwater.demo.jobs import DemoJob

_REFRESHES_PER_SECOND = 4


class JobState(StrEnum):
    """State of a job."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHING = "finishing"
    DONE = "done"


_STYLES = {JobState.WAITING: "dim", JobState.RUNNING: "yellow", JobState.FINISHING: "yellow", JobState.DONE: "green"}


@dataclass(frozen=True, slots=True)
class JobView:
    """State of a job for display.

    Attributes:
        seconds: Seconds since the start; for a finished job, its duration.
        batches: Number of committed micro-batches; None for a batch job.
    """

    job: DemoJob
    state: JobState
    seconds: float = 0.0
    batches: int | None = None


@dataclass(slots=True)
class View:
    """Progress of a demo on the terminal. Use it as a context manager."""

    phase: str = ""
    jobs: Sequence[JobView] = ()
    flights: int = 0
    events: EventProgress = field(default_factory=EventProgress)
    restarts: int = 0
    _live: Live | None = None
    _started: float = field(default_factory=time.monotonic)
    _reported: set[str] = field(default_factory=set)

    def __enter__(self) -> Self:
        """Begin drawing, if there is a terminal."""
        err = console.err
        if err.is_terminal and not console.json_mode:
            self._live = Live(
                console=err, get_renderable=self.render, refresh_per_second=_REFRESHES_PER_SECOND, transient=True
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Remove the live display."""
        if self._live is not None:
            self._live.stop()

    def enter(self, phase: str) -> None:
        """Show the current phase."""
        self.phase = phase
        self._print_once(phase)

    def show(self, jobs: Sequence[JobView]) -> None:
        """Update the states of the jobs."""
        self.jobs = jobs
        for shown in jobs:
            if shown.state is JobState.DONE:
                batches = "" if shown.batches is None else f", {shown.batches} micro-batches"
                self._print_once(f"  {shown.job.name}: done in {shown.seconds:.0f} s{batches}")

    def warn(self, text: str) -> None:
        """Show a problem that doesn't end the demo, above the live display if any."""
        console.warning(text, on=None if self._live is None else self._live.console)

    def render(self) -> RenderableType:
        """Build the current display."""
        seconds = time.monotonic() - self._started
        heading = Text.assemble((self.phase, "bold"), f"  {seconds:.0f} s")
        if not self.jobs:
            return heading
        return Group(heading, self._jobs(), self._events())

    def _jobs(self) -> Table:
        table = plain_table("job", "", "state", "batches", "s", numbers=("batches", "s"))
        for shown in self.jobs:
            style = _STYLES[shown.state]
            batches = "" if shown.batches is None else str(shown.batches)
            took = f"{shown.seconds:.0f}" if shown.state is not JobState.WAITING else ""
            table.add_row(shown.job.name, Text(shown.job.title, "dim"), Text(shown.state, style), batches, took)
        return table

    def _events(self) -> Text:
        events = self.events
        text = Text.assemble(
            f"{self.flights:,} flights on the topic · lineage events: ",
            (f"{events.acknowledged:,}", "bold"),
            " acknowledged, ",
            (f"{events.processed - events.dead_lettered:,}", "bold green"),
            " applied, ",
            (f"{events.dead_lettered:,}", "bold red" if events.dead_lettered else "bold"),
            " dead-lettered",
        )
        if self.restarts:
            text.append(f" · consumer restarted {self.restarts} ×", "yellow")
        return text

    def _print_once(self, line: str) -> None:
        # Only without a live display.
        if self._live is None and not console.json_mode and line not in self._reported:
            self._reported.add(line)
            console.message(line)
