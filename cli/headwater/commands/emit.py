"""`headwater emit`: sends events of other producers from files to the events topic."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Annotated, Any, BinaryIO, Final

import typer
from rich.progress import DownloadColumn

from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console, plain_table
from headwater.errors import InputError, UnreachableError
from headwater.kafka_errors import asking_kafka
from headwater.options import TenantOption
from headwater.publishing import PublisherSink, publisher_settings
from headwater.settings import Settings, connected_settings
from headwater_consumers.materializer.future import correction
from headwater_openlineage.intake.receiving import Refusal, RefusalReason, receive
from headwater_openlineage.intake.sink import IntakeSink, Settled, SinkFullError, Undeliverable
from headwater_openlineage.intake.splitting import Layout, NotAnArrayError, SplitDocument, documents, layout
from headwater_openlineage.lenient import IntakeNote
from headwater_producers.publisher import Publisher
from headwater_schemas.errors import EncodeError
from headwater_schemas.events import LineageEvent
from headwater_schemas.topics import ensure_topics

app = typer.Typer(help="Send events from files to the events topic.", no_args_is_help=True)
app.callback()(lambda: None)

STDIN: Final = "-"
_CONNECT_SECONDS: Final = 15.0
_STALLED_SECONDS: Final = 60.0
_FLUSH_SECONDS: Final = 60.0
_INTERRUPTED_SECONDS: Final = 10.0
_WAIT_SECONDS: Final = 0.2
# Maximum numbers of refusals that are kept, and that are shown to people.
_MOST_LISTED: Final = 1_000
_MOST_SHOWN: Final = 20
_LONGEST_LINE: Final = 64 * 1024 * 1024
_LONGEST_REASON: Final = 300


@dataclass(frozen=True, slots=True)
class RefusedDocument:
    """Document that was refused, with the reason.

    Attributes:
        file: given name of the file.
        line: line in the file, from 1.
        pointer: JSON pointer to the field at fault; empty: the whole document.
        reason: kind of fault, an `intake.receiving.RefusalReason`.
    """

    file: str
    line: int
    pointer: str
    reason: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {f'{self.pointer}: ' if self.pointer else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class NotedDocument:
    """Value that was filled in, or facet that wasn't read, in an accepted document.

    Attributes:
        file: given name of the file.
        line: line in the file, from 1.
        pointer: JSON pointer to the field.
        message: the fault, and Headwater's repair.
    """

    file: str
    line: int
    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}: {self.pointer}: {self.message}"


@dataclass(slots=True)
class EmissionCounts:
    """Counts of the documents and events so far. The reading and the publishing thread write them.

    Attributes:
        read: documents read.
        taken: Headwater's events from these documents.
        sent: events that Kafka has acknowledged.
        refused: documents refused.
        too_large: events that are too large for Kafka; their documents count as refused.
        noted: documents accepted although they don't follow the specification.
        failed: valid events that Kafka didn't accept; `failure` has the latest reason.
    """

    read: int = 0
    taken: int = 0
    sent: int = 0
    refused: int = 0
    too_large: int = 0
    failed: int = 0
    failure: str = ""
    refusals: list[RefusedDocument] = field(default_factory=list)
    noted: int = 0
    notes: list[NotedDocument] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def refuse(self, file: str, line: int, refusal: Refusal) -> None:
        """Count a refused document."""
        with self.lock:
            self.refused += 1
            if len(self.refusals) < _MOST_LISTED:
                message = refusal.message
                short = message if len(message) <= _LONGEST_REASON else f"{message[:_LONGEST_REASON]}…"
                self.refusals.append(RefusedDocument(file, line, refusal.pointer, refusal.reason.value, short))

    def note(self, file: str, line: int, notes: Sequence[IntakeNote]) -> None:
        """Count a document that is accepted although it doesn't follow the specification."""
        self.noted += bool(notes)
        room = _MOST_LISTED - len(self.notes)
        self.notes += [NotedDocument(file, line, each.pointer, each.message) for each in notes[:room]]

    def settled(self, file: str, line: int, count: int, failures: Sequence[Undeliverable]) -> None:
        """Count the acknowledged and the failed events of a document."""
        permanent = [failure for failure in failures if failure.for_good]
        temporary = [failure for failure in failures if not failure.for_good]
        with self.lock:
            self.sent += count - len(failures)
            self.too_large += len(permanent)
            self.failed += len(temporary)
            if temporary:
                self.failure = temporary[-1].reason
        if permanent:
            self.refuse(file, line, Refusal(RefusalReason.TOO_LARGE, "", permanent[0].reason))

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {
            "read": self.read,
            "events": self.taken,
            "sent": self.sent,
            "refused": self.refused,
            "failed": self.failed,
            "refusals": [asdict(each) for each in self.refusals],
            "noted": self.noted,
            "notes": [asdict(each) for each in self.notes],
        }


@app.command()
def openlineage(
    files: Annotated[
        list[str],
        typer.Argument(help="Files with one event, an array of events, or one event a line; - is the standard input."),
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the events, and send nothing.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Refuse events that don't follow the specification, instead of filling in missing values."
        ),
    ] = False,
    correct: Annotated[
        str | None,
        typer.Option(
            metavar="REASON", help="For datasets and jobs: make the events win over stored values, whatever their time."
        ),
    ] = None,
    tenant: TenantOption = None,
    json_output: JsonOption = False,
) -> None:
    """Send OpenLineage events to the events topic, for backfills and experiments.

    Events that are refused are counted and shown with file, line, field and reason; all others are sent. Sending a file
    again is harmless: an event has the same id each time. Ctrl-C waits for the events read so far and shows the counts.
    Exit status 2: some were refused; 4: Kafka doesn't answer.
    """
    for name in files:
        if name != STDIN and not os.path.isfile(name):  # noqa: PTH113 - as of `complete_path`
            raise InputError(f"There is no file {name}.")
    settings = connected_settings({"analysis.tenant": tenant, "openlineage.strict": strict or None}, kafka=not dry_run)
    done = EmissionCounts()
    if dry_run:
        _read_all(files, _DiscardingSink(), settings, done, correct)
    else:
        _publish(files, settings, done, correct)
    _report(done, dry_run=dry_run)
    if done.failed:
        raise UnreachableError(
            f"{done.failed:,} events didn't arrive: {done.failure}.",
            fix="Run it again once Kafka answers; events that arrive twice have no further effect.",
        )
    if done.refused:
        raise InputError(
            f"{done.refused:,} of {done.read:,} events were refused, the first: {done.refusals[0]}.",
            fix="Correct them and send them again; the others need not be sent again.",
        )


class _DiscardingSink:
    """Sink of a dry run: accepts all events and sends none."""

    def send(self, events: Sequence[LineageEvent], settled: Settled) -> None:
        """Discard the events; `settled` is never called."""

    def problem(self) -> None:
        """Return None: nothing is sent, so there is no problem."""


def _publish(files: list[str], settings: Settings, done: EmissionCounts, correct: str | None) -> None:
    servers, names = require_servers(settings.kafka), settings.topic.names()
    with asking_kafka(settings.kafka, doing=f"publishing to {names.events}"):
        # Without topics to create, this only connects: if no broker answers, the command ends at once, with the right
        # exit status.
        ensure_topics(client_config(settings.kafka), [], timeout_seconds=_CONNECT_SECONDS)
        publisher = Publisher(publisher_settings(settings), names)
        try:
            _read_all(files, PublisherSink(publisher), settings, done, correct)
            publisher.flush(_FLUSH_SECONDS)
        except (KeyboardInterrupt, SystemExit):
            publisher.await_settled(_INTERRUPTED_SECONDS)
            _report(done, interrupted=True)
            raise
        finally:
            publisher.close(timeout_seconds=0)
    if left := done.taken - done.sent - done.failed - done.too_large:
        done.failed += left
        done.failure = publisher.problem or f"{servers} took too long"


def _read_all(
    files: list[str], sink: IntakeSink, settings: Settings, done: EmissionCounts, correct: str | None
) -> None:
    total = None if STDIN in files else sum(Path(name).stat().st_size for name in files)
    with console.progress(DownloadColumn()) as progress:
        task = progress.add_task("Sending", total=total)
        for name in files:
            try:
                for document in _documents(name):
                    done.read += 1
                    _send(document, name, sink, settings, done, correct)
                    progress.update(
                        task,
                        advance=len(document.data),
                        description=f"{done.sent:,} sent, {done.refused:,} refused",
                    )
            except NotAnArrayError as error:
                done.refuse(name, 1, Refusal(RefusalReason.NOT_JSON, "", f"no JSON array: {error}"))


def _send(
    document: SplitDocument, file: str, sink: IntakeSink, settings: Settings, done: EmissionCounts, correct: str | None
) -> None:
    longest = settings.openlineage.document_max_bytes
    received = receive(
        document.data,
        tenant=settings.analysis.tenant,
        max_bytes=longest,
        strict=settings.openlineage.strict,
        redacting=settings.openlineage.redact,
    )
    if isinstance(received, Refusal):
        done.refuse(file, document.line, received)
        return
    events: Sequence[LineageEvent] = received.events
    if correct is not None:
        ahead = settings.materializer.future_max_seconds
        corrections = [correction(event, correct, datetime.now(UTC), ahead) for event in events]
        events = [event for event in corrections if event is not None]
        if len(events) < len(corrections):
            message = "--correct is for DatasetEvents and JobEvents: facts that a run reported can't be corrected"
            done.refuse(file, document.line, Refusal(RefusalReason.NOT_AN_EVENT, "/run", message))
            return
    try:
        _send_when_there_is_room(events, sink, partial(done.settled, file, document.line, len(events)), done)
    except EncodeError as error:
        done.refuse(file, document.line, Refusal(RefusalReason.BREAKS_CONTRACT, "", str(error)))
        return
    done.taken += len(events)
    done.note(file, document.line, received.notes)


def _send_when_there_is_room(
    events: Sequence[LineageEvent], sink: IntakeSink, settled: Settled, done: EmissionCounts
) -> None:
    sent, since = done.sent, time.monotonic()
    while True:
        try:
            return sink.send(events, settled)
        except SinkFullError as error:
            if done.sent != sent:
                sent, since = done.sent, time.monotonic()
            elif time.monotonic() - since > _STALLED_SECONDS:
                raise UnreachableError(
                    f"{done.sent:,} events were sent, then none for {_STALLED_SECONDS:.0f} s: {error}.",
                    fix="Run it again once Kafka answers; events that arrive twice have no further effect.",
                ) from error
            time.sleep(_WAIT_SECONDS)


def _documents(name: str) -> Iterator[SplitDocument]:
    if name == STDIN:
        yield from _streamed(sys.stdin.buffer)
        return
    try:
        with Path(name).open("rb") as file:
            yield from _mapped(file)
    except OSError as error:
        raise InputError(f"File {name} can't be read: {error.strerror}.") from error


def _mapped(file: IO[bytes]) -> Iterator[SplitDocument]:
    """Split a file of any size into documents, without reading the whole file into memory."""
    if not file.seek(0, 2):
        return
    with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield from documents(data, layout(data))


def _streamed(stream: BinaryIO) -> Iterator[SplitDocument]:
    """Split a stream into documents: lines as they arrive; an array or a single document via a temporary file."""
    first, skipped = b"", 0
    for line in iter(lambda: stream.readline(_LONGEST_LINE), b""):
        first = line
        if line.strip():
            break
        skipped += 1
    if layout(first) is Layout.LINES or (layout(first) is Layout.ONE and _is_whole(first)):
        yield from _lines(first, stream, skipped)
        return
    with tempfile.TemporaryFile() as file:
        file.write(b"\n" * skipped + first)
        shutil.copyfileobj(stream, file)
        file.flush()
        yield from _mapped(file)


def _is_whole(line: bytes) -> bool:
    """Return True if a line is a complete document. Then all lines of the stream are documents."""
    return layout(line.rstrip() + b"\n{}") is Layout.LINES


def _lines(first: bytes, stream: BinaryIO, skipped: int) -> Iterator[SplitDocument]:
    index, number, line = 0, skipped + 1, first
    while line:
        if data := line.strip():
            yield SplitDocument(index, number, data)
            index += 1
        number += line.endswith(b"\n")
        line = stream.readline(_LONGEST_LINE)


def _report(done: EmissionCounts, *, dry_run: bool = False, interrupted: bool = False) -> None:
    document = done.document() | {"dry_run": dry_run, "interrupted": interrupted}
    table = plain_table()
    table.add_row("read", f"{done.read:,}")
    table.add_row("refused", f"{done.refused:,}")
    if done.noted:
        table.add_row("accepted with notes", f"{done.noted:,}")
    table.add_row("Headwater's events", f"{done.taken:,}")
    table.add_row("  acknowledged by Kafka", "none, with --dry-run" if dry_run else f"{done.sent:,}")
    if console.json_mode:
        console.result(document)
        return
    for noted in done.notes[:_MOST_SHOWN]:
        console.warning(f"{noted}")
    if len(done.notes) > _MOST_SHOWN:
        console.warning(f"{done.noted:,} events have notes; --json lists {_MOST_LISTED:,} notes.")
    for refused in done.refusals[:_MOST_SHOWN]:
        console.warning(f"{refused}")
    if done.refused > _MOST_SHOWN:
        console.warning(f"{done.refused - _MOST_SHOWN:,} more were refused; --json lists {_MOST_LISTED:,}.")
    with contextlib.suppress(BrokenPipeError):
        console.result(document, table)
