"""Plans on the paths of a question, each looked up once, and their status (`holding`) at the question's time.

A job may have a hundred thousand runs, so this module never reads all runs of a job. If a job has one plan, or the
question is about the plan that was active last, no uses are looked up. For other jobs, the index of USED by job and
time gives the uses since the last complete application run began, at most the latest `MOST_USES`. A plan that was
active since then and isn't among these uses holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeVar

from headwater_analysis.lineage.holding import PlanState, PlanUse, plan_states
from headwater_analysis.moments import moment_of
from headwater_analysis.reader import Transaction
from headwater_analysis.trace.uses import read_use

MOST_USES = 2_000
"""Maximum number of uses of one job's plans to read: the latest uses."""

_Asked = TypeVar("_Asked")
_BRANCH = "headwater_branch"
_BEGIN = datetime(1, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, tzinfo=UTC)
_ADMITTED = {False: (PlanState.HOLDS,), True: (PlanState.HOLDS, PlanState.REPLACED)}


class WrittenDataset(NamedTuple):
    """Keys of a job and of a dataset that the job writes."""

    job: str
    dataset: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A stored plan.

    Attributes:
        job: key of its job.
        digest: digest of its column lineage.
        declared: whether a declaration of the job has the plan now.
        first_seen, last_seen: span in which it was observed.
        active: its last activity before the time of the question; None if there was none.
        incomplete: reason why its lineage is incomplete; None: it is complete.
        known: whether its lineage is known; False if the graph has only a run that cites the plan's digest.
        outputs: keys of the datasets that the plan writes, including datasets that are hidden from the asker.
        emptied: time of the last DROP or TRUNCATE before the time of the question, by key of the output.
    """

    job: str
    digest: str
    declared: bool
    first_seen: datetime | None
    last_seen: datetime | None
    active: datetime | None
    incomplete: str | None
    known: bool
    outputs: tuple[str, ...]
    emptied: Mapping[str, datetime]


class Plans:
    """Plans on the paths of a question.

    A plan counts if it is declared now, or holds and was active at `since` or later.

    Args:
        as_of: time of the question; None is now.
        since: leave out plans that weren't active at this time or later.
        replaced: whether to include REPLACED plans: the job's next run uses them, but no column comes from them now.
    """

    def __init__(
        self,
        tx: Transaction,
        *,
        as_of: datetime | None = None,
        since: datetime | None = None,
        replaced: bool = False,
    ) -> None:
        self._tx = tx
        self._as_of = as_of
        self._since = since
        self._admitted = _ADMITTED[replaced]
        self._plans: dict[str, Plan] = {}
        self._of_jobs: dict[str, list[str]] = {}
        self._states: dict[WrittenDataset, Mapping[str, PlanState]] = {}
        self._last_active: dict[WrittenDataset, datetime | None] = {}
        self._datasets: dict[int, str] = {}

    @property
    def as_of(self) -> datetime | None:
        """Time of the question; None is now."""
        return self._as_of

    def __getitem__(self, key: str) -> Plan:
        return self._plans[key]

    def holding(self, plans: Sequence[str], written: Sequence[int]) -> list[bool]:
        """Return for each edge whether it counts, given its plan and the node that it writes.

        Args:
            plans: keys of the plans.
            written: ids of the nodes: columns, or datasets that are written as a whole.
        """
        self._look_up(plans)
        several = [node for key, node in zip(plans, written, strict=True) if len(self._plans[key].outputs) > 1]
        self._look_up_datasets(several)
        pairs = [(key, self._dataset(key, node)) for key, node in zip(plans, written, strict=True)]
        self._judge(dict.fromkeys(pairs))
        return [self._counts(key, dataset) for key, dataset in pairs]

    def of_jobs(self, jobs: Iterable[str]) -> dict[WrittenDataset, list[str]]:
        """Keys of the plans that count, by each of these jobs and the dataset that it writes."""
        asked = list(dict.fromkeys(jobs))
        self._read([], [job for job in asked if job not in self._of_jobs])
        pairs = [(key, dataset) for job in asked for key in self._of_jobs[job] for dataset in self._plans[key].outputs]
        self._judge(pairs)
        out: dict[WrittenDataset, list[str]] = {}
        for key, dataset in pairs:
            if self._counts(key, dataset):
                out.setdefault(WrittenDataset(self._plans[key].job, dataset), []).append(key)
        return out

    def of_job(self, job: str) -> dict[str, Plan]:
        """Plans of a looked-up job, by key: declared plans, and plans that were active by the time of the question."""
        plans = {key: self._plans[key] for key in self._of_jobs[job]}
        return {key: plan for key, plan in plans.items() if plan.active is not None or plan.declared}

    def incomplete(self, made: Iterable[WrittenDataset]) -> dict[WrittenDataset, str]:
        """Reason why column lineage is incomplete, by job and dataset: the reason of the last plan that counts."""
        asked = list(made)
        counting = self.of_jobs(written.job for written in asked)
        return {
            written: reason
            for written in asked
            for key in counting.get(written, ())
            if (reason := self._plans[key].incomplete) is not None
        }

    def unseen(self, made: Iterable[WrittenDataset]) -> set[WrittenDataset]:
        """Find datasets whose column lineage by a job is missing or incomplete.

        The column lineage is missing or incomplete if:

        - the job's latest plan isn't known;
        - a plan that counts is incomplete;
        - no plan of the job writes the dataset;
        - the job has written the dataset after these plans were last active, without reporting by which plan.

        If some plans of the job wrote the dataset and none of them counts, the job is known to have stopped writing it.
        """
        asked = list(made)
        counting = self.of_jobs(written.job for written in asked)
        unseen = {written for written in asked if self._is_unseen(written, counting.get(written, ()))}
        return unseen | self._written_since([written for written in asked if written not in unseen])

    def _written_since(self, made: Sequence[WrittenDataset]) -> set[WrittenDataset]:
        """Find datasets that a job wrote after its plans for the dataset were last active."""
        active = {
            written: max(
                (
                    plan.active
                    for plan in self.of_job(written.job).values()
                    if written.dataset in plan.outputs and plan.active is not None
                ),
                default=None,
            )
            for written in made
        }
        asked = [[*written, at] for written, at in active.items() if at is not None]
        if not asked:
            return set()
        rows = self._tx.rows("lineage/written_since", made=asked, as_of=self._as_of, most=MOST_USES)
        return {WrittenDataset(*row.values()) for row in rows}

    def unseen_under(self, made: Mapping[_Asked, Sequence[WrittenDataset]]) -> set[_Asked]:
        """Find missing or incomplete column lineage of datasets with several names.

        Only the names under which the job has written the dataset count; all names if there are none.
        """
        each = list(dict.fromkeys(written for under in made.values() for written in under))
        unseen = self.unseen(each)
        out = set()
        for asked, under in made.items():
            used = [written for written in under if self._has_written(written)]
            if any(written in unseen for written in used or under):
                out.add(asked)
        return out

    def _has_written(self, written: WrittenDataset) -> bool:
        return any(written.dataset in plan.outputs for plan in self.of_job(written.job).values())

    def _is_unseen(self, written: WrittenDataset, counting: Sequence[str]) -> bool:
        plans = self.of_job(written.job)
        # If several plans were last active at the same time, prefer an unknown one: the answer may lack its columns.
        newest = max(plans.values(), key=lambda plan: (plan.active or _BEGIN, not plan.known), default=None)
        if newest is None or not newest.known:
            return True
        if any(self._plans[key].incomplete is not None for key in counting):
            return True
        return not self._has_written(written)

    def _look_up(self, plans: Iterable[str]) -> None:
        if new := [key for key in dict.fromkeys(plans) if key not in self._plans]:
            self._read(new, [])

    def _read(self, plans: Sequence[str], jobs: Sequence[str]) -> None:
        if not plans and not jobs:
            return
        self._of_jobs |= {job: [] for job in jobs}
        found = self._tx.one("lineage/plans", plans=plans, jobs=jobs, as_of=self._as_of)["plans"]
        for key, job, digest, declared, first, last, active, incomplete, known, outputs, emptied in found:
            self._plans[key] = Plan(
                job,
                digest,
                declared and self._as_of is None,
                moment_of(first),
                moment_of(last),
                moment_of(active),
                incomplete,
                known,
                tuple(outputs),
                {dataset: at for dataset, time in emptied if (at := moment_of(time)) is not None},
            )
        for job, keys in _by_job(found).items():
            self._of_jobs[job] = keys

    def _look_up_datasets(self, nodes: Iterable[int]) -> None:
        if new := [node for node in dict.fromkeys(nodes) if node not in self._datasets]:
            self._datasets |= zip(*self._tx.one("lineage/written", nodes=new).values(), strict=True)

    def _dataset(self, key: str, node: int) -> str:
        outputs = self._plans[key].outputs
        return outputs[0] if len(outputs) == 1 else self._datasets.get(node, "")

    def _counts(self, key: str, dataset: str) -> bool:
        plan = self._plans[key]
        if plan.declared:
            return True
        if plan.active is None or (self._since is not None and plan.active < self._since):
            return False
        return self._state(key, WrittenDataset(plan.job, dataset)) in self._admitted

    def _state(self, key: str, written: WrittenDataset) -> PlanState:
        active = self._plans[key].active
        if active is not None and active == self._newest(written):
            # No known plan of the job wrote the dataset later.
            emptied = self._plans[key].emptied.get(written.dataset)
            return PlanState.REPLACED if emptied is not None and active < emptied else PlanState.HOLDS
        return self._states[written].get(key, PlanState.ENDED)

    def _newest(self, written: WrittenDataset) -> datetime | None:
        """Latest activity of the known plans that write this dataset."""
        if written not in self._last_active:
            active = (self._plans[key].active for key in self._writers(written))
            self._last_active[written] = max((time for time in active if time is not None), default=None)
        return self._last_active[written]

    def _judge(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Find the status of each plan that isn't the last one with which its job wrote the dataset."""
        doubtful: dict[WrittenDataset, None] = {}
        for key, dataset in pairs:
            written = WrittenDataset(self._plans[key].job, dataset)
            if written not in self._states and self._plans[key].active not in (None, self._newest(written)):
                doubtful[written] = None
        if doubtful:
            self._look_up_uses(list(doubtful))

    def _writers(self, written: WrittenDataset) -> list[str]:
        return [key for key in self._of_jobs[written.job] if written.dataset in self._plans[key].outputs]

    def _look_up_uses(self, doubtful: list[WrittenDataset]) -> None:
        # In UTC, because Neo4j sorts the same moment in another zone as later or earlier.
        until = _END if self._as_of is None else self._as_of.astimezone(UTC)
        begun = {
            WrittenDataset(row["job"], row["dataset"]): moment_of(row["began"]) or _BEGIN
            for row in self._tx.rows(
                "lineage/last_complete", pairs=[list(written) for written in doubtful], until=until, most=MOST_USES
            )
        }
        asked = [[*written, begun.get(written, _BEGIN)] for written in doubtful]
        for row in self._tx.rows("lineage/uses", pairs=asked, until=until, most=MOST_USES):
            written = WrittenDataset(row["job"], row["dataset"])
            began, writers = begun.get(written, _BEGIN), self._writers(written)
            uses = [read_plan_use(written.dataset, use) for use in row["uses"]]
            seen = {use.plan for use in uses}
            for key in writers if uses else ():
                active = self._plans[key].active
                if key not in seen and active is not None and active >= began:
                    # The use began before the application run, or is older than the uses that are read.
                    uses.append(PlanUse(key, "", active, active, complete=False))
            emptied = next((self._plans[key].emptied.get(written.dataset) for key in writers), None)
            # Without any known use of these plans, only the plan that was active last holds.
            self._states[written] = plan_states(uses, emptied=emptied)


def read_plan_use(dataset: str, row: Sequence[Any]) -> PlanUse:
    """Build a use from a row: plan, application run, begin, end, whether complete, properties of each PRODUCED."""
    plan, application, began, ended, complete, produced = row
    return PlanUse(
        plan,
        application,
        moment_of(began) or _BEGIN,
        moment_of(ended) or _BEGIN,
        complete=bool(complete),
        # A write to a branch replaces nothing for readers of the table.
        replaces=any(
            _BRANCH not in (each["facet_names"] or ()) and read_use("PRODUCED", dataset, each).replaces
            for each in produced
        ),
    )


def _by_job(rows: Iterable[Sequence[Any]]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for key, job, *_ in rows:
        out.setdefault(job, []).append(key)
    return out
