"""Outbox check: a folder that survives a restart, and its pending events."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from headwater.doctor.finding import DoctorFinding, SubjectCheck, duration_text
from headwater.errors import InputError
from headwater.outbox_files import looked_at, outbox_files
from headwater_producers.outbox.adoption import DAMAGED

_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_OF_A_CONTAINER = frozenset({"overlay", "overlayfs", "aufs"})
_MOUNTS = Path("/proc/self/mounts")


@dataclass(frozen=True, slots=True)
class SeenOutbox:
    """State of the folder, and pending events in the files of processes that have ended.

    Attributes:
        writable: whether this process could write into the folder, or create it.
        filesystem: type of the folder's file system; None if unknown.
        files: number of outboxes of ended jobs that have events or can't be read.
        events: number of readable pending events in these outboxes.
        oldest: earliest time of a last change among these outboxes; None if there are none.
        in_use: number of further outboxes that a live process holds; only that process can count their events.
        damaged: number of further outboxes that another job took over and couldn't read.
        problem: reason why the folder, or one of `files`, can't be read; None if all could be read.
    """

    folder: Path
    there: bool
    writable: bool
    filesystem: str | None
    files: int = 0
    events: int = 0
    oldest: datetime | None = None
    in_use: int = 0
    damaged: int = 0
    problem: str | None = None


def look(folder: Path, mounts: Path = _MOUNTS) -> SeenOutbox:
    """Examine the folder (or the location where it will be made), and its files as `headwater outbox list` does.

    For a folder that can't be read, `problem` is set, and nothing is raised.
    """
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    seen = SeenOutbox(folder, folder.is_dir(), os.access(existing, os.W_OK | os.X_OK), filesystem_of(existing, mounts))
    try:
        files = outbox_files(folder, None)
        # Times are read before the files are opened, which may change them.
        written = {each: each.stat().st_mtime for each in files}
        found = [looked for each in files if (looked := looked_at(each)) is not None]
    except (OSError, InputError) as error:
        return replace(seen, problem=str(error))
    ended = [each for each in found if not each.in_use and not each.path.name.endswith(DAMAGED)]
    return replace(
        seen,
        files=len(ended),
        events=sum(each.events for each in ended),
        oldest=datetime.fromtimestamp(min(written[each.path] for each in ended), UTC) if ended else None,
        in_use=sum(each.in_use for each in found),
        damaged=sum(each.path.name.endswith(DAMAGED) for each in found),
        problem=next((each.problem for each in ended if each.problem), None),
    )


def filesystem_of(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """Look up the type of a folder's file system in the list of mounts; None if there is no such list."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    real = str(folder.resolve())
    best, found = -1, None
    for line in lines:
        _, at, kind, *_ = (*line.split(" "), "", "", "")
        at = at.replace("\\040", " ")
        if (real == at or real.startswith(at.rstrip("/") + "/")) and len(at) >= best:
            best, found = len(at), kind
    return found


def judge(seen: SeenOutbox, now: datetime) -> Iterator[DoctorFinding]:
    """Findings on the folder and its pending events."""
    check = SubjectCheck("outbox", str(seen.folder))
    if not seen.writable:
        yield check.fail(
            "This user can't write into the folder: events wait in memory, and are lost when the driver ends.",
            "Set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder that their user can write.",
        )
    if seen.filesystem is None:
        yield check.unknown(
            "This system doesn't list its mounts, so it is unknown whether the disk is durable.",
            "Make sure that the folder survives a restart of the machine or the container.",
        )
    elif seen.filesystem in _IN_MEMORY:
        yield check.fail(
            f"The folder is on {seen.filesystem}, in memory: a restart loses its events.",
            "Set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder on a disk.",
        )
    elif seen.filesystem in _OF_A_CONTAINER:
        yield check.risk(
            f"The folder is on {seen.filesystem}, a layer of the container: its events are lost with the container.",
            "Mount a volume, and set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder on it.",
        )
    elif seen.writable:
        yield check.ok(f"It is on {seen.filesystem}{'' if seen.there else ', and will be made'}.")
    if seen.damaged:
        yield check.risk(
            f"{seen.damaged} damaged files are kept.",
            "Check the disk; `headwater outbox list` names the files, `headwater outbox drop` deletes them.",
        )
    yield from _waiting(seen, now)
    yield SubjectCheck("outbox", "other machines").unknown(
        "Outboxes of other machines aren't seen from here.", "Run it there, too."
    )


def _waiting(seen: SeenOutbox, now: datetime) -> Iterator[DoctorFinding]:
    """Findings on the pending events."""
    check = SubjectCheck("outbox", str(seen.folder))
    if seen.oldest is not None:
        age = duration_text(max(0.0, (now - seen.oldest).total_seconds()))
        unread = "" if seen.problem is None else f" Not all could be read: {seen.problem.rstrip('.')}."
        yield check.risk(
            f"{seen.events:,} events wait in {seen.files:,} outboxes of ended jobs, the oldest untouched for {age}: "
            f"Kafka was unreachable, or refused them.{unread}",
            "`headwater outbox list` shows their jobs; `headwater outbox relay --all` sends the events, and reports "
            "why Kafka refuses one.",
        )
    elif seen.problem is not None:
        yield check.unknown(f"Pending events are unknown: {seen.problem.rstrip('.')}.", "Run it as the jobs' user.")
    elif seen.there and not seen.in_use:
        yield check.ok("No event waits in the folder.")
    if seen.in_use:
        yield check.unknown(
            f"{seen.in_use:,} outboxes are in use by live jobs; only these jobs know their pending events.",
            "The jobs' metric headwater_outbox_events counts them; the jobs' logs report what Kafka refuses.",
        )
