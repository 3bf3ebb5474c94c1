"""`headwater outbox`: unacknowledged events that ended jobs left on this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import RenderableType

from headwater.connection import client_config, require_servers
from headwater.console import JsonOption, console, plain_table
from headwater.errors import CheckFailedError, InputError, SubjectNotFoundError, UnreachableError
from headwater.kafka_errors import asking_kafka
from headwater.outbox_files import OutboxFile, batches, is_in_use, looked_at, opened, outbox_files
from headwater.publishing import publisher_settings
from headwater.settings import connected_settings
from headwater_producers.outbox.adoption import DAMAGED
from headwater_producers.outbox.store import Numbered
from headwater_producers.publisher import Publisher
from headwater_producers.spark.common.outbox_folder import default_root
from headwater_schemas.topics import ensure_topics
from headwater_schemas.visible import visible

app = typer.Typer(help="Outbox: events on this machine's disk that wait for Kafka.", no_args_is_help=True)
app.callback()(lambda: None)

_CONNECT_SECONDS: Final = 15.0
_BATCH_SECONDS: Final = 60.0
PathOption = Annotated[
    Path | None,
    typer.Option(
        "--path",
        envvar="HEADWATER_OUTBOX_PATH",
        show_envvar=False,
        help="Folder of outboxes, `outbox_path` of the jobs. Default: the folder of this user.",
    ),
]
DestinationsArgument = Annotated[
    list[str] | None, typer.Argument(help="Destinations, as `headwater outbox list` names them.")
]
AllOption = Annotated[bool, typer.Option("--all", help="Every destination.")]


@app.command("list")
def list_(path: PathOption = None, json_output: JsonOption = False) -> None:
    """List the events that wait on this machine for Kafka, by destination and job.

    Files of a live process are listed without a count: the process has locked its files, and sends their events.
    """
    root = _root(path)
    with console.status(f"Reading {root}"):
        found = [looked for each in outbox_files(root, None) if (looked := looked_at(each)) is not None]
    events = sum(each.events for each in found)
    console.result(
        {"path": str(root), "events": events, "outboxes": [each.document() for each in found]}, _table(root, found)
    )
    if events and not console.json_mode:
        console.message(f"{events:,} events wait in {root}. `headwater outbox relay --all` sends them.")
    _note_in_use(sum(each.in_use for each in found))


@app.command()
def relay(
    destinations: DestinationsArgument = None,
    everything: AllOption = False,
    path: PathOption = None,
    json_output: JsonOption = False,
) -> None:
    """Send events of ended jobs to the Kafka of the settings, and remove acknowledged events from the outboxes.

    A destination is the cluster and topic of the job's settings. The events go to the brokers and topic of the current
    settings instead, so events of a job with a wrong broker arrive, too. Relaying twice is harmless: an event that
    arrives twice is stored once, and events that aren't acknowledged stay. Exit status 4: Kafka doesn't answer; 5:
    Kafka refused some events, or a file can't be read.
    """
    root = _root(path)
    files = _chosen(root, destinations, everything=everything)
    settings = connected_settings(kafka=True)
    servers, names = require_servers(settings.kafka), settings.topic.names()
    done = _Relayed()
    if files:
        with asking_kafka(settings.kafka, doing=f"publishing to {names.events}"):
            # Without topics to create, this only connects: if no broker answers, the command ends at once, with the
            # right exit status.
            ensure_topics(client_config(settings.kafka), [], timeout_seconds=_CONNECT_SECONDS)
            publisher = Publisher(publisher_settings(settings), names)
            try:
                _relay(files, publisher, done)
            finally:
                publisher.close(timeout_seconds=0)
    document = {
        "path": str(root),
        "servers": servers,
        "topic": names.events,
        "sent": done.sent,
        "left": done.left,
        "refused": done.refused,
        "in_use": done.in_use,
        "problems": done.problems,
    }
    console.result(document, f"{done.sent:,} events sent to {names.events}, {done.left:,} left in {root}.")
    _note_in_use(done.in_use)
    if done.unreachable is not None:
        raise UnreachableError(
            f"{done.left:,} events stay in {root}: {done.unreachable}.",
            fix="Run it again once Kafka answers; events that arrive twice have no further effect.",
        )
    if done.problems:
        raise CheckFailedError(
            f"Events of an outbox were not sent: {done.problems[0]}.", fix="Mend the cause, then run it again."
        )


@dataclass(slots=True)
class _Relayed:
    """Result of `relay`: numbers of events and of files in use, and the reasons why events weren't sent."""

    sent: int = 0
    left: int = 0
    refused: int = 0
    in_use: int = 0
    problems: list[str] = field(default_factory=list)
    unreachable: str | None = None


def _relay(files: Sequence[Path], publisher: Publisher, done: _Relayed) -> None:
    with console.progress() as progress:
        for file in files:
            with opened(file, done.problems) as store:
                if store is None:
                    done.in_use += is_in_use(file, done.problems)
                    continue
                task = progress.add_task(file.parent.name, total=store.count)
                for batch in batches(store):
                    if done.unreachable is not None:
                        break
                    delivered = _sent(batch, publisher, done)
                    store.forget(delivered)
                    store.purge()
                    done.sent += len(delivered)
                    progress.advance(task, len(batch))
                done.left += store.count
                if store.damage is not None:
                    done.problems.append(store.damage)


def _sent(batch: Sequence[Numbered], publisher: Publisher, done: _Relayed) -> list[int]:
    """Publish a batch; return the numbers of the events that Kafka has certainly acknowledged."""
    for _, record in batch:
        publisher.publish_record(record)
    report = publisher.flush(_BATCH_SECONDS)
    if report.outstanding:
        # It is unknown which events were acknowledged, so all stay in the outbox.
        done.unreachable = report.problem or "Kafka took too long"
        return []
    refused = {failure.event_id for failure in report.failed}
    if refused:
        done.refused += len(refused)
        done.problems.append(f"Kafka refused {report.failed[0].event_id} with {report.failed[0].reason}")
    return [number for number, record in batch if record.event_id not in refused]


@app.command()
def drop(
    destinations: DestinationsArgument = None,
    everything: AllOption = False,
    yes: Annotated[bool, typer.Option("--yes", help="Required: without --yes, nothing is dropped.")] = False,
    path: PathOption = None,
    json_output: JsonOption = False,
) -> None:
    """Delete events of ended jobs for good: their lineage is lost.

    Files of a live process are refused. Exit status 5: a file was refused.
    """
    root = _root(path)
    files = _chosen(root, destinations, everything=everything, with_damaged=True)
    if not yes:
        events = sum(looked.events for each in files if (looked := looked_at(each)) is not None)
        raise InputError(
            f"{events:,} events would be lost; nothing is dropped without --yes.", fix="Add --yes to drop them."
        )
    dropped = removed = in_use = 0
    problems: list[str] = []
    for file in files:
        if file.name.endswith(DAMAGED):
            _remove(file)
            removed += 1
            continue
        with opened(file, problems) as store:
            if store is None:
                in_use += is_in_use(file, problems)
                continue
            dropped += store.forget(store.numbers())
            store.purge()
            removed += 1
            if store.damage is not None:
                _remove(file)
    for folder in {file.parent for file in files}:
        # A folder stays while it contains events of other jobs, or the recorded progress of a query.
        with contextlib.suppress(OSError):
            folder.rmdir()
    console.result(
        {"path": str(root), "dropped": dropped, "files": removed, "in_use": in_use, "problems": problems},
        f"{dropped:,} events dropped, {removed:,} files removed.",
    )
    if in_use:
        raise CheckFailedError(
            f"{in_use:,} outboxes are in use by a live process, and were not dropped.", fix="End the job first."
        )
    if problems:
        raise CheckFailedError(f"An outbox was not dropped: {problems[0]}.", fix="Delete the file if nobody needs it.")


def _root(path: Path | None) -> Path:
    if path is not None:
        return path.expanduser().absolute()
    try:
        return default_root().absolute()
    except RuntimeError as error:
        raise InputError(f"No folder of outboxes: {error}.", fix="Name it with --path.") from error


def _chosen(root: Path, destinations: list[str] | None, *, everything: bool, with_damaged: bool = False) -> list[Path]:
    if bool(destinations) == everything:
        raise InputError("Name destinations, or give --all.", fix="`headwater outbox list` lists the destinations.")
    if everything:
        return outbox_files(root, None, with_damaged=with_damaged)
    known = sorted({file.parent.name for file in outbox_files(root, None)})
    for name in destinations or ():
        if name not in known:
            raise SubjectNotFoundError(f"{root} has no outbox of {name!r}.", nearest=known)
    return outbox_files(root, frozenset(destinations or ()), with_damaged=with_damaged)


def _table(root: Path, found: Sequence[OutboxFile]) -> RenderableType:
    if not found:
        return f"Nothing waits in {root}."
    table = plain_table("destination", "job", "events", "since", "state", numbers=("events",))
    for each in found:
        since = "—" if each.made_at is None else f"{each.made_at:%Y-%m-%d %H:%M:%S}Z"
        state = visible(each.problem or "")
        if each.in_use:
            state = "in use by a live process" + (f", {each.process}" if each.process else "")
        jobs: list[tuple[str, int | None]] = [*sorted(each.jobs.items())] or [("—", None)]
        for job, events in jobs:
            table.add_row(
                visible(each.destination), visible(job), "?" if events is None else f"{events:,}", since, state
            )
    return table


def _note_in_use(files: int) -> None:
    if files and not console.json_mode:
        console.message(f"{files:,} outboxes are in use by a live process, which sends their events.")


def _remove(file: Path) -> None:
    """Remove a file that can't be read, and its SQLite log."""
    for name in (file.name, f"{file.name}-wal", f"{file.name}-shm"):
        file.with_name(name).unlink(missing_ok=True)
