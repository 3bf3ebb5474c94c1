"""Visible assets, compiled once for all identities with the same groups, and renewed in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from headwater_analysis.reader import Reader
from headwater_analysis.visibility import Visible
from headwater_schemas.visible import visible as shown
from headwater_server.authorization.assets import compiled, may_see_everything
from headwater_server.authorization.policies import AccessDecision, AccessFileError, Policies
from headwater_server.identity import Identity

log = logging.getLogger("headwater.serve")

FILTERED = frozenset(
    {
        *("asset", "assets", "asset_upstream", "asset_downstream", "asset_runs", "asset_versions"),
        *("column", "column_upstream", "column_downstream", "graph", "neighbours", "most_used", "search"),
        *("job", "jobs", "job_runs", "job_intervals", "consumer", "consumers", "named", "status"),
        *("run", "runs", "open_runs", "run_inputs", "run_outputs", "run_intervals"),
        *("traces", "blast", "impact", "impact_analyze", "may_delete", "privacy", "diff"),
    }
)
"""Operations that are answered for askers who may not see everything.

All other operations are refused for them. Add a new operation once the property of
`tests/integration/server/test_non_interference.py` holds for it. Gaps, timelines, checks and changes of quality are
missing because they read numbers that include hidden datasets. Declarations are missing because they change everybody's
graph.
"""

_SHARE = 10
"""Shortest time until the next renewal, as a multiple of the last renewal's duration."""
_MOST_COMPILED = 1_000
"""Maximum number of kept combinations of tenant and groups; the least recently used one is dropped."""


@dataclass(slots=True)
class _Compiled:
    """Result of a compilation.

    Attributes:
        visible: visible assets.
        renewed_at: time from which the next question starts a renewal, without waiting for it.
        ends: time from which the result isn't used. Without questions it isn't renewed, so it may get too old.
        renewing: True if a renewal is running.
    """

    visible: Visible
    renewed_at: float
    ends: float
    renewing: bool = False


class Authorization:
    """Decisions of a file of policies.

    Args:
        refresh_seconds: age at which a compilation is renewed. At twice this age it is no longer used, so a change of
            labels in the graph takes effect by then. Slow compilations are renewed later, so that they take at most a
            tenth of the time.
        clock: monotonic seconds.

    Attributes:
        broken: mistake in the last read file; None if it is valid. With a mistake, the last valid policies hold.

    Raises:
        AccessFileError: the file can't be read, or has a mistake.
    """

    def __init__(self, path: Path, *, refresh_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._refresh = refresh_seconds
        self._clock = clock
        self._mark = _mark(path)
        self._policies = Policies.read(path)
        self._lock = threading.Lock()
        self._first = threading.Lock()  # several requests that need one result compile it only once
        self._compiled: OrderedDict[tuple[str, frozenset[str], str], _Compiled] = OrderedDict()
        self.broken: str | None = None

    def visible(self, identity: Identity, reader: Reader) -> Visible | None:
        """Return the visible assets of an identity; None: everything.

        Args:
            reader: unrestricted reader of the identity's tenant.

        Raises:
            AnalysisError: the graph can't be read now.
        """
        policies = self._current()
        if may_see_everything(policies, identity, reader.tenant).allowed:
            return None
        key = (reader.tenant, identity.groups, identity.name if policies.names_users else "")
        with self._lock:
            found = self._compiled.get(key)
            if found is not None and (now := self._clock()) < found.ends:
                self._compiled.move_to_end(key)
                if now >= found.renewed_at and not found.renewing:
                    found.renewing = True
                    renewal = threading.Thread(
                        target=self._renew,
                        args=(policies, key, identity, reader),
                        name="headwater-authorization",
                        daemon=True,
                    )
                    renewal.start()
                return found.visible
        with self._first:
            with self._lock:
                found = self._compiled.get(key)
            if found is not None and policies is self._policies and self._clock() < found.ends:
                return found.visible
            return self._compile(policies, key, identity, reader)

    def everything(self, identity: Identity, tenant: str) -> AccessDecision:
        """Decide if an identity may see everything of a tenant."""
        return may_see_everything(self._current(), identity, tenant)

    def check(self) -> bool:
        """Check the file now; return True if its policies are in use."""
        self._current()
        return self.broken is None

    def _compile(
        self, policies: Policies, key: tuple[str, frozenset[str], str], identity: Identity, reader: Reader
    ) -> Visible:
        began = self._clock()
        visible = compiled(policies, identity, reader)
        ended = self._clock()
        with self._lock:
            if policies is self._policies:
                period = max(self._refresh, _SHARE * (ended - began))
                self._compiled[key] = _Compiled(visible, ended + period, ended + 2 * period)
                while len(self._compiled) > _MOST_COMPILED:
                    self._compiled.popitem(last=False)
        return visible

    def _renew(
        self, policies: Policies, key: tuple[str, frozenset[str], str], identity: Identity, reader: Reader
    ) -> None:
        try:
            self._compile(policies, key, identity, reader)
        except Exception:
            log.exception(
                "The visible assets of %s can't be compiled again; the last result is used until it is too old.",
                shown(identity.name),
            )
            with self._lock:
                if (found := self._compiled.get(key)) is not None:
                    found.renewing, found.renewed_at = False, self._clock() + self._refresh

    def _current(self) -> Policies:
        """Return the policies of the file, which is read again if it changed; after a mistake, the last valid ones."""
        mark = _mark(self._path)
        with self._lock:
            if mark == self._mark:
                return self._policies
            self._mark = mark
            try:
                self._policies = Policies.read(self._path)
            except AccessFileError as error:
                self.broken = str(error)
                log.error("%s. The last valid policies stay in use.", error)  # noqa: TRY400  no defect of ours
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
