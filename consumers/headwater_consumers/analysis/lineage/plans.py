"""Which plans' column lineage holds, now or at a time.

Of the plans of one job that write a column, those hold whose latest activity is the latest: usually one, several where
they were active at the same time. At a time, what came later is left out, and what was going on then ended then.
A constant writes its column too, so that what it replaced holds no more. A plan that is declared holds now, whatever
was seen, and at no other time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from headwater_consumers.analysis.moments import moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater_consumers.analysis.reader import Transaction


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan as the graph has it.

    Attributes:
        job: key of its job.
        declared: whether the job declares it now.
        first_seen, last_seen: its span.
        active: when it was last active by the time asked of; None: not by then.
        incomplete: why its lineage is incomplete; None where it isn't.
    """

    job: str
    declared: bool
    first_seen: datetime | None
    last_seen: datetime | None
    active: datetime | None
    incomplete: str | None


class Plans:
    """The plans that a question meets, each looked up once.

    Args:
        tx: to look up in.
        as_of: the time asked of; None is now.
        since: leave out plans that weren't active at this time or later.
    """

    def __init__(self, tx: Transaction, *, as_of: datetime | None = None, since: datetime | None = None) -> None:
        self._tx = tx
        self._as_of = as_of
        self._since = since
        self._plans: dict[str, Plan] = {}
        self._newest: dict[str, datetime] = {}
        self._writers: dict[int, dict[str, datetime]] = {}

    def __getitem__(self, key: str) -> Plan:
        return self._plans[key]

    def holding(self, plans: Sequence[str], written: Sequence[int]) -> list[bool]:
        """Of edges, given the plan of each and the node that it writes: which hold.

        Args:
            plans: keys.
            written: ids of columns, or of datasets that are written as a whole.
        """
        self._look_up(plans)
        doubtful = [node for plan, node in zip(plans, written, strict=True) if self._is_doubtful(plan)]
        self._look_up_writers(dict.fromkeys(doubtful))
        return [self._holds(plan, node) for plan, node in zip(plans, written, strict=True)]

    def _look_up(self, plans: Iterable[str]) -> None:
        if not (new := [key for key in dict.fromkeys(plans) if key not in self._plans]):
            return
        found = self._tx.one("lineage/plans", plans=new, as_of=self._as_of)["plans"]
        for key, job, declared, first, last, active, incomplete in found:
            now = declared and self._as_of is None
            plan = Plan(job, now, moment_of(first), moment_of(last), moment_of(active), incomplete)
            self._plans[key] = plan
            if plan.active is not None:
                self._newest[plan.job] = max(self._newest.get(plan.job, plan.active), plan.active)

    def _is_doubtful(self, key: str) -> bool:
        """Seen by then, and not the newest of its job, so that another may have replaced it."""
        plan = self._plans[key]
        return not plan.declared and plan.active is not None and plan.active != self._newest[plan.job]

    def _look_up_writers(self, nodes: Iterable[int]) -> None:
        if not (new := [node for node in nodes if node not in self._writers]):
            return
        written = self._tx.one("lineage/writers", nodes=new)["written"]
        self._look_up(key for _, keys in written for key in keys)
        for node, keys in written:
            latest: dict[str, datetime] = {}
            for plan in (self._plans[key] for key in keys):
                if plan.active is not None:
                    latest[plan.job] = max(latest.get(plan.job, plan.active), plan.active)
            self._writers[node] = latest

    def _holds(self, key: str, node: int) -> bool:
        plan = self._plans[key]
        if plan.declared:
            return True
        if plan.active is None or (self._since is not None and plan.active < self._since):
            return False
        return not self._is_doubtful(key) or bool(plan.active == self._writers[node][plan.job])
