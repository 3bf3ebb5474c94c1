"""The folder of outboxes on this machine: whether it outlives a restart, and what waits in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from headwater.doctor.finding import Finding, Severity, duration_text, ok, unseen
from headwater_producers.outbox.adoption import DAMAGED
from headwater_producers.outbox.store import SUFFIX

_IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
_OF_A_CONTAINER = frozenset({"overlay", "overlayfs", "aufs"})
_MOUNTS = Path("/proc/self/mounts")
_OLD_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class SeenOutbox:
    """The folder, without a look into its files, which are locked by the jobs that write them.

    Attributes:
        folder: which.
        there: whether it exists.
        writable: whether the user of this process could write into it, or make it.
        filesystem: what it is on, as the system calls it; None where that isn't known.
        files: how many outboxes there are that a job can relay.
        damaged: how many more couldn't be read by the job that took them over.
        oldest: when the oldest of `files` was last written; None: there is none.
    """

    folder: Path
    there: bool
    writable: bool
    filesystem: str | None
    files: int
    damaged: int
    oldest: datetime | None


def look(folder: Path, mounts: Path = _MOUNTS) -> SeenOutbox:
    """Look at the folder, or where it would be made. Never raises for a folder that can't be read."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    try:
        damaged = sum(1 for _ in folder.glob(f"*/*{SUFFIX}{DAMAGED}"))
        written = [each.stat().st_mtime for each in folder.glob(f"*/*{SUFFIX}")]
    except OSError:
        damaged, written = 0, []
    return SeenOutbox(
        folder,
        folder.is_dir(),
        os.access(existing, os.W_OK | os.X_OK),
        filesystem_of(existing, mounts),
        len(written),
        damaged,
        datetime.fromtimestamp(min(written), UTC) if written else None,
    )


def filesystem_of(folder: Path, mounts: Path = _MOUNTS) -> str | None:
    """The type of the file system that a folder is on, by the list of mounts; None where there is no such list."""
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


def judge(seen: SeenOutbox, now: datetime) -> Iterator[Finding]:
    """Findings on the folder and on what waits in it."""
    subject = str(seen.folder)
    if not seen.writable:
        yield Finding(
            "outbox",
            Severity.FAIL,
            subject,
            "This user can't write there: events wait in memory, and are lost with the driver.",
            "Set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder that their user can write.",
        )
    if seen.filesystem is None:
        yield unseen(
            "outbox",
            subject,
            "This system doesn't list its mounts: whether the disk is durable isn't known.",
            "See to it that the folder outlives a restart of the machine or the container.",
        )
    elif seen.filesystem in _IN_MEMORY:
        yield Finding(
            "outbox",
            Severity.FAIL,
            subject,
            f"It is on {seen.filesystem}, in memory: what waits there is lost with a restart.",
            "Set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder on a disk.",
        )
    elif seen.filesystem in _OF_A_CONTAINER:
        yield Finding(
            "outbox",
            Severity.WARN,
            subject,
            f"It is on {seen.filesystem}, the layer of a container: what waits there is lost with the container.",
            "Mount a volume, and set outbox_path of the jobs (HEADWATER_OUTBOX_PATH) to a folder on it.",
        )
    elif seen.writable:
        yield ok("outbox", subject, f"It is on {seen.filesystem}{'' if seen.there else ', and will be made'}.")
    if seen.damaged:
        yield Finding(
            "outbox",
            Severity.WARN,
            subject,
            f"{seen.damaged} damaged files are kept.",
            "Look at the disk; `headwater outbox list` names them, `headwater outbox drop` deletes them.",
        )
    if seen.oldest is not None and (age := (now - seen.oldest).total_seconds()) > _OLD_SECONDS:
        yield Finding(
            "outbox",
            Severity.WARN,
            subject,
            f"{seen.files} outboxes wait, the oldest untouched for {duration_text(age)}: no job relays them.",
            "`headwater outbox list` shows them, `headwater outbox relay --all` sends them.",
        )
    yield unseen("outbox", "other machines", "Outboxes of other machines aren't seen from here.", "Run it there, too.")
