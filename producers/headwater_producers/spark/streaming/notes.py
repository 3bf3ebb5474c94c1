"""Notes: the last emitted micro-batch of each query, and its versions, for the next process that starts it.

    <outbox>/<destination>/queries/<query id>.json

A checkpoint knows neither. So a note records, for one destination, the last emitted micro-batch, its plan, quality and
versions. It decides two things alone: whether micro-batches that were purged from the checkpoint are a gap, and whether
the first micro-batch of a start is a change of version. Nothing is left out because of a note. It is written without
waiting for the disk, and is as durable as the outbox's path. Where there is none, nothing is known.
"""

from __future__ import annotations

import json
import logging
import re
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

logger = logging.getLogger(__name__)

_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")
# Queries that nobody has started for so long are forgotten: their files would only grow in number.
_KEPT_SECONDS: Final = 400 * 86_400.0

Quality = tuple[tuple[str, bool], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What is known of one query.

    Attributes:
        last: the last micro-batch emitted.
        plan_digest, quality, versions: of that one; `versions` as `version_text` has it, None where it isn't known.
    """

    last: int
    plan_digest: str | None = None
    quality: Quality = ()
    versions: str | None = None


class Notes:
    """The notes of one destination. The worker's alone; a disk that fails costs nothing but the notes.

    Args:
        folder: may not exist; None: nothing is noted.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._complained = False
        if folder is not None:
            self._forget_old(folder)

    def read(self, query_id: str) -> Note | None:
        """What the last process has noted; None: nothing, or nothing that can be read."""
        if (path := self._path(query_id)) is None:
            return None
        try:
            known = json.loads(path.read_text(encoding="utf-8"))
            quality = tuple((str(name), bool(passed)) for name, passed in known["quality"])
            return Note(
                last=int(known["last"]),
                plan_digest=known["plan_digest"],
                quality=quality,
                versions=known["versions"],
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._complain(error)
            return None

    def write(self, query_id: str, note: Note) -> None:
        """Replaces what was noted of a query, all or nothing."""
        if (path := self._path(query_id)) is None:
            return
        part = path.with_suffix(".part")
        text = json.dumps(asdict(note))
        try:
            try:
                part.write_text(text, encoding="utf-8")
            except FileNotFoundError:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                part.write_text(text, encoding="utf-8")
            part.replace(path)
        except OSError as error:
            self._complain(error)

    def _path(self, query_id: str) -> Path | None:
        if self._folder is None or not _ID.fullmatch(query_id):
            return None
        return self._folder / f"{query_id}.json"

    def _forget_old(self, folder: Path) -> None:
        oldest = time.time() - _KEPT_SECONDS
        with suppress(OSError):
            for path in folder.iterdir():
                if path.stat().st_mtime < oldest:
                    path.unlink()

    def _complain(self, error: Exception) -> None:
        if not self._complained:
            self._complained = True
            logger.warning(
                "lineage capture: the last emitted micro-batch can't be saved (%s); after a crash, gaps are reported "
                "as unknown",
                error,
            )
