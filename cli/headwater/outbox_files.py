"""Files of the outboxes on this machine, and pending events in the files of processes that have ended.

A file is read under its lock, as by a job that relays the file. A live process always holds the lock of its file, so
this file can't be read, and the number of its pending events is unknown. An empty file is removed.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from headwater.errors import InputError
from headwater_producers.outbox import OutboxUnusableError
from headwater_producers.outbox.adoption import DAMAGED
from headwater_producers.outbox.store import SUFFIX, Numbered, Store

_BATCH_EVENTS: Final = 500
_BATCH_BYTES: Final = 4 * 1024 * 1024
# 20261122T101112123456-4711-0a1b2c3d.outbox: time of creation, and process id.
_NAME: Final = re.compile(r"(\d{8}T\d{12})-(\d+)-")


@dataclass(slots=True)
class OutboxFile:
    """File of an outbox, with its state when it was read.

    Attributes:
        destination: name of the file's folder, made of the cluster and a digest of cluster and topic.
        in_use: True if a live process holds the lock and sends the events; only that process knows their number.
        bytes: size of the keys and values of these events.
        jobs: number of events by job, from the records' keys; an event of a dataset is counted by dataset.
        problem: reason why the file, or a part of it, can't be read.
    """

    destination: str
    path: Path
    in_use: bool = False
    events: int = 0
    bytes: int = 0
    jobs: Counter[str] = field(default_factory=Counter)
    problem: str | None = None

    @property
    def made_at(self) -> datetime | None:
        """Time of creation, from the file's name; None if the name has none."""
        named = _NAME.match(self.path.name)
        return datetime.strptime(named[1], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC) if named else None

    @property
    def process(self) -> int | None:
        """Id of the process that created the file, from the file's name; None if the name has none."""
        named = _NAME.match(self.path.name)
        return int(named[2]) if named else None

    def document(self) -> dict[str, Any]:
        """Document for `--json`; `events`, `bytes` and `jobs` are null if unknown."""
        is_known = not self.in_use and (self.problem is None or self.events > 0)
        return {
            "destination": self.destination,
            "file": str(self.path),
            "in_use": self.in_use,
            "process": self.process,
            "made_at": None if self.made_at is None else self.made_at.isoformat(),
            "events": self.events if is_known else None,
            "bytes": self.bytes if is_known else None,
            "jobs": dict(sorted(self.jobs.items())) if is_known else None,
            "problem": self.problem,
        }


def outbox_files(root: Path, destinations: frozenset[str] | None, *, with_damaged: bool = True) -> list[Path]:
    """Files of outboxes, sorted by destination, and the oldest first.

    Args:
        destinations: names of the destinations' folders; None: all.
        with_damaged: whether to include files that were set aside as damaged.

    Raises:
        InputError: the folder can't be read.
    """
    patterns = [f"*{SUFFIX}", f"*{SUFFIX}{DAMAGED}"] if with_damaged else [f"*{SUFFIX}"]
    try:
        folders = sorted(each for each in root.iterdir() if each.is_dir())
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"{root} can't be read: {error.strerror}.") from error
    chosen = [each for each in folders if destinations is None or each.name in destinations]
    return [file for folder in chosen for file in sorted(file for one in patterns for file in folder.glob(one))]


@contextlib.contextmanager
def opened(file: Path, problems: list[str]) -> Iterator[Store | None]:
    """Open the file of a process that has ended; None if the process is alive, or if the file is empty or unusable.

    Args:
        problems: list to which the reason is added if the file is unusable.
    """
    try:
        store = Store.adopt(file)
    except OutboxUnusableError as error:
        problems.append(str(error))
        yield None
        return
    if store is None:
        yield None
        return
    with contextlib.closing(store):
        yield store


def is_in_use(file: Path, problems: Sequence[str]) -> bool:
    """Return True if a live process holds a file for which `opened` yielded None; `opened` removes empty files."""
    return file.exists() and not any(str(file) in problem for problem in problems)


def batches(store: Store) -> Iterator[list[Numbered]]:
    """All readable events of a file, in order, in batches; the store's `damage` describes unreadable parts."""
    after = 0
    with contextlib.suppress(OutboxUnusableError):
        while batch := store.read(after, max_events=_BATCH_EVENTS, max_bytes=_BATCH_BYTES):
            yield batch
            after = batch[-1][0]


def looked_at(file: Path) -> OutboxFile | None:
    """Read the state of a file; None if the file was empty and has been removed."""
    found = OutboxFile(file.parent.name, file)
    if file.name.endswith(DAMAGED):
        found.problem = "damaged; its readable events were sent"
        return found
    problems: list[str] = []
    with opened(file, problems) as store:
        if store is None:
            found.in_use = is_in_use(file, problems)
            found.problem = problems[0] if problems else None
            return found if found.in_use or problems else None
        found.events = store.count
        for batch in batches(store):
            for _, record in batch:
                found.bytes += len(record.key) + len(record.value)
                found.jobs[_job(record.key)] += 1
        found.problem = store.damage
    return found


def _job(key: bytes) -> str:
    """Format namespace and name from a record's key (`headwater_schemas.identity.record_key`)."""
    with contextlib.suppress(ValueError, TypeError):
        _, namespace, name = json.loads(key)
        return f"{namespace}/{name}"
    return "?"
