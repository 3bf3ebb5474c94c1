"""From an identity to what it may see, compiled once for all with the same groups, and renewed in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from headwater_analysis.reader import Reader
from headwater_analysis.visibility import Visible
from headwater_server.authorization.assets import compiled
from headwater_server.authorization.policies import AccessFileError, Policies
from headwater_server.identity import Identity, Source

log = logging.getLogger("headwater.serve")

_MOST_COMPILED = 1_000
"""Combinations of tenant and groups that are kept; the one that asked longest ago is left out."""


@dataclass(slots=True)
class _Compiled:
    visible: Visible | None
    at: float
    renewing: bool = False


class Authorization:
    """What identities may see by a file of policies.

    Args:
        path: the file.
        refresh_seconds: age at which a compilation is renewed: how long a change of labels in the graph may take.

    Raises:
        AccessFileError: the file can't be read, or has a mistake.
    """

    def __init__(self, path: Path, *, refresh_seconds: float) -> None:
        self._path = path
        self._refresh = refresh_seconds
        self._mark = _mark(path)
        self._policies = Policies.read(path)
        self._lock = threading.Lock()
        self._compiled: OrderedDict[tuple[str, frozenset[str], str], _Compiled] = OrderedDict()
        self.broken: str | None = None
        """What is wrong with the file as it is now; None if nothing. Then the last valid policies hold."""

    def visible(self, identity: Identity, reader: Reader) -> Visible | None:
        """Return what an identity may see; None: everything.

        Args:
            identity: the asker.
            reader: unrestricted reader of the identity's tenant.

        Raises:
            AnalysisError: the graph can't be read now.
        """
        if identity.source is Source.SERVER:
            return None
        policies = self._current()
        key = (reader.tenant, identity.groups, identity.name if policies.names_users else "")
        with self._lock:
            found = self._compiled.get(key)
            if found is not None:
                self._compiled.move_to_end(key)
                if time.monotonic() - found.at >= self._refresh and not found.renewing:
                    found.renewing = True
                    renewal = threading.Thread(
                        target=self._renew,
                        args=(policies, key, identity, reader),
                        name="headwater-authorization",
                        daemon=True,
                    )
                    renewal.start()
                return found.visible
        return self._put(policies, key, compiled(policies, identity, reader))

    def _renew(
        self, policies: Policies, key: tuple[str, frozenset[str], str], identity: Identity, reader: Reader
    ) -> None:
        try:
            self._put(policies, key, compiled(policies, identity, reader))
        except Exception:
            log.exception("What %s may see can't be found out anew; the last result holds.", identity.name)
            with self._lock:
                if (found := self._compiled.get(key)) is not None:
                    found.renewing = False

    def _put(self, policies: Policies, key: tuple[str, frozenset[str], str], visible: Visible | None) -> Visible | None:
        with self._lock:
            if policies is self._policies:
                self._compiled[key] = _Compiled(visible, time.monotonic())
                while len(self._compiled) > _MOST_COMPILED:
                    self._compiled.popitem(last=False)
        return visible

    def _current(self) -> Policies:
        """Policies of the file, read again if it changed. With a mistake, the last valid ones."""
        mark = _mark(self._path)
        with self._lock:
            if mark == self._mark:
                return self._policies
            self._mark = mark
            try:
                self._policies = Policies.read(self._path)
            except AccessFileError as error:
                self.broken = str(error)
                log.error("%s. The policies that were read before hold.", error)  # noqa: TRY400  no defect of ours
                return self._policies
            self.broken = None
            self._compiled.clear()
            return self._policies


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
