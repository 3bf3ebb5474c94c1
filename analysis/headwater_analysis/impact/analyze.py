"""Impact question: caveats, and names, owners and hops of one page."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from operator import itemgetter
from typing import Any

from headwater_analysis import paging
from headwater_analysis.amounts import first_of
from headwater_analysis.assets import Asset, dataset_asset, dataset_or_column, job_asset
from headwater_analysis.declared import consumers_of
from headwater_analysis.impact import wording
from headwater_analysis.impact.change import ImpactChange, SchemaChange
from headwater_analysis.impact.graph import StoredGraph
from headwater_analysis.impact.impacted_assets import (
    Decision,
    Impact,
    ImpactedJob,
    ImpactHop,
    ImpactItem,
    ImpactOwner,
    SeverityTotal,
)
from headwater_analysis.impact.policy import SEVERITIES, Policy, default_policy
from headwater_analysis.impact.policy_inputs import Cause, InputGroup, JobInput, SeverityInputs
from headwater_analysis.impact.spread import HitStep, ImpactSpread, ImpactVisit, spread
from headwater_analysis.impact.start import Beginning, begin, named
from headwater_analysis.impact.stored_inputs import StoredInputs
from headwater_analysis.impact.verdict import hit_consumers, hits_for_certain, severity_of, unknowns
from headwater_analysis.impact.wording import called, short, summary_of
from headwater_analysis.lineage.hops import transformation
from headwater_analysis.lineage.scope import Influence
from headwater_analysis.owners import owners_of
from headwater_analysis.paging import check_depth, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.trace import Arrivals
from headwater_analysis.walk import WalkStep


def caveats(tx: Transaction, graph: StoredGraph, beginning: Beginning, hit: ImpactSpread) -> Iterator[str]:
    """Sentences on a change of a column.

    - Jobs whose earlier plan (column lineage) used the column, and whose current plans don't use it.
    - If the change hits nothing: datasets that are nevertheless derived from the column's dataset.
    """
    start = beginning.start
    if beginning.changed.column is None:
        return
    ended: dict[str, str] = {}
    for key in {key for node in start.nodes for key in graph.ended.get(node, ())}:
        plan = graph.plan(key)
        if plan.job not in hit.jobs and plan.last_seen is not None:
            ended[plan.job] = max(ended.get(plan.job, ""), plan.last_seen.isoformat(timespec="seconds"))
    if ended:
        rows = tx.one("impact/jobs", keys=sorted(ended))["jobs"]
        jobs = [job_asset(row["properties"]) for row in rows]
        named = first_of(f"{short(job.name)} until {ended[job.key]}" for job in jobs)
        yield f"The column was used by {named}; later complete runs don't use it."
    if hit.worst or start.within is not None or beginning.asset.column is None:
        return
    targets = sorted({target for _, target, *_ in graph.feeds([start.dataset])} - {start.dataset})
    if targets:
        found = tx.one("impact/assets", nodes=targets[:1_000])["assets"]
        names = first_of(sorted(called(dataset_asset(row["dataset"])) for row in found), total=len(targets))
        derived = "1 dataset is" if len(targets) == 1 else f"{len(targets):,} datasets are"
        yield f"{derived} derived from its dataset ({names}); by the known column lineage, none uses this column."


MOST_JOBS = 100


@dataclass(frozen=True, slots=True)
class ImpactRows:
    """Graph rows of shown assets, hops and jobs, by id or key.

    Attributes:
        assets, edges, jobs: rows of nodes and hops, by id, and of jobs, by key.
        inputs: severity inputs by id of the asset, without the jobs that make the asset.
        critical_jobs: jobs with a criticality, by key.
    """

    assets: Mapping[int, Any]
    edges: Mapping[int, Any]
    jobs: Mapping[str, Any]
    inputs: Mapping[int, SeverityInputs]
    critical_jobs: Mapping[str, JobInput]


class ImpactDetails:
    """Names, reasons and owners of the assets on a page. Call `look_up` before the other methods.

    Args:
        spread: assets that were hit.
        policy: policy with the reasons and actions to show.
        most_jobs: maximum number of jobs to show.

    Attributes:
        spread: assets that were hit.
        paths: steps from the change to each of `nodes`.
        shown_jobs: keys of the jobs to show.
        rows: graph rows of these nodes, steps and jobs.
    """

    def __init__(
        self,
        spread: ImpactSpread,
        nodes: Sequence[int],
        policy: Policy,
        beginning: Beginning,
        most_jobs: int = MOST_JOBS,
    ) -> None:
        self.spread = spread
        self._nodes = nodes
        self._policy = policy
        self._changed = wording.called(beginning.changed)
        self._parts = beginning.reach.parts
        self.paths = {node: spread.walk.path(spread.worst[node]) for node in nodes}
        ordered = ((Cause.JOB not in job.causes, job.rank, job.hops, key) for key, job in spread.jobs.items())
        self.shown_jobs = [key for *_, key in nsmallest(most_jobs, ordered)]
        self.rows = ImpactRows({}, {}, {}, {}, {})
        # Paths to a thousand assets have most of their steps in common.
        self._known_assets: dict[int, Asset] = {}
        self._known_hops: dict[ImpactVisit, ImpactHop] = {}

    @staticmethod
    def look_up(tx: Transaction, several: Sequence[ImpactDetails]) -> None:
        """Look up the names of nodes and jobs for several changes at once."""
        # Paths to a thousand assets have most of their steps in common.
        steps = {step for each in several for path in each.paths.values() for step in path}
        on_paths = {visit.node for step in steps for visit in (step.source, step.target)}
        jobs = dict.fromkeys([*(job for each in several for job in each.shown_jobs), *(_hit(s).job for s in steps)])
        facts_of = {node: each.spread.facts[node] for each in several for node in each.paths}
        stored = StoredInputs.of(tx)
        inputs = stored.look_up(
            {node: facts.dataset for node, facts in facts_of.items()},
            {node: facts.criticality for node, facts in facts_of.items()},
            InputGroup,
        )
        makers = {job for each in several for node in each.paths for job in each.spread.makers[each.spread.worst[node]]}
        rows = ImpactRows(
            {row["node"]: row for row in tx.one("impact/assets", nodes=sorted(on_paths))["assets"]},
            {row["edge"]: row for row in tx.one("impact/hops", edges=sorted({step.edge for step in steps}))["hops"]},
            {row["properties"]["key"]: row for row in tx.one("impact/jobs", keys=list(jobs))["jobs"]},
            inputs,
            stored.job_criticalities(makers),
        )
        for each in several:
            each.rows = rows

    def items(self) -> tuple[ImpactItem, ...]:
        """Build an item for each node, in order."""
        return tuple(self._item(node, self.paths[node]) for node in self._nodes)

    def jobs(self, schema: SchemaChange | None, *, late: bool) -> tuple[ImpactedJob, ...]:
        """Build the jobs to show."""
        shown = []
        for key in self.shown_jobs:
            hit = self.spread.jobs[key]
            fails = Cause.JOB in hit.causes
            why = wording.job_reason(hit, schema, fails=fails, late=late)
            severity = SEVERITIES[hit.rank]
            owners, criticality = self._owners_of_job(key), self.rows.jobs[key]["criticality"]
            shown.append(ImpactedJob(self._job(key), severity, fails, hit.hops, why, owners, criticality))
        return tuple(shown)

    def _item(self, node: int, path: Sequence[WalkStep[ImpactVisit]]) -> ImpactItem:
        visit, last = self.spread.worst[node], path[-1]
        hit = _hit(last)
        asset, row, rule = self._asset(node), self.rows.assets[node], self._policy.rules[hit.rule]
        hops = tuple(self._hop(step) for step in path)
        names = {
            "changed": self._changed,
            "source": wording.called(self._asset(last.source.node)),
            "asset": wording.called(asset),
            "job": wording.short(hops[-1].job.name),
        }
        done = hops[-1].transformation
        dataset = dataset_asset(row["dataset"])
        return ImpactItem(
            asset,
            SEVERITIES[self.spread.rank(node)],
            Influence.INDIRECT if visit.indirect else Influence.DIRECT,
            hit.cause,
            len(path),
            hops,
            wording.reason(
                hit.cause,
                done.kind if done else None,
                rule.reason.format_map(names),
                job=names["job"],
                source=names["source"],
                possible=hops[-1].possible,
            ),
            rule.action.format_map(names),
            _owners(row, dataset) or self._owners_of_job(hit.job),
            visit.propagates,
            self._decision(node, visit, hit.rule),
            row["criticality"],
            bool(row["gone"]),
            self._parts.get(dataset.key, ()),
            any(hop.possible for hop in hops),
        )

    def _decision(self, node: int, visit: ImpactVisit, rule: int) -> Decision:
        """Explain the severity of a visit."""
        makers = (self.rows.critical_jobs.get(job) for job in self.spread.makers[visit])
        jobs = sorted((job for job in makers if job is not None), key=lambda job: (job.name, job.criticality))
        inputs = replace(self.rows.inputs[node], jobs=tuple(jobs)) if jobs else self.rows.inputs[node]
        by_rule, changed = SEVERITIES[visit.rank], self.spread.raised.get(visit)
        if changed is None:
            return Decision(by_rule, rule + 1, None, (), inputs, "")
        because = wording.because(self._policy.raises[changed.number], inputs)
        text = wording.raise_text(by_rule, SEVERITIES[changed.rank], because)
        return Decision(by_rule, rule + 1, changed.number + 1, because, inputs, text)

    def _hop(self, step: WalkStep[ImpactVisit]) -> ImpactHop:
        hop = self._known_hops.get(step.target)
        if hop is None:
            row, hit = self.rows.edges[step.edge], _hit(step)
            done = None if row["kind"] is None else transformation(row, whole=row["whole"])
            hop = ImpactHop(self._asset(step.target.node), self._job(hit.job), hit.cause, done, row["possible"])
            self._known_hops[step.target] = hop
        return hop

    def _asset(self, node: int) -> Asset:
        asset = self._known_assets.get(node)
        if asset is None:
            row = self.rows.assets[node]
            asset = self._known_assets[node] = dataset_or_column(row["dataset"], row["column"])
        return asset

    def _job(self, key: str) -> Asset:
        return job_asset(self.rows.jobs[key]["properties"])

    def _owners_of_job(self, key: str) -> tuple[ImpactOwner, ...]:
        return _owners(self.rows.jobs[key], self._job(key))


def _hit(step: WalkStep[ImpactVisit]) -> HitStep:
    return HitStep(*step.facts)


def _owners(row: Mapping[str, Any], of: Asset) -> tuple[ImpactOwner, ...]:
    return tuple(ImpactOwner(owner.name, owner.type, of) for owner in owners_of(row))


@dataclass(frozen=True, slots=True)
class ImpactPage:
    """Page of the answer.

    Attributes:
        depth: maximum number of hops from the change; None: all.
        limit: maximum number of items.
        cursor: `next_cursor` of the page before; None: the first page.
    """

    depth: int | None = None
    limit: int = 100
    cursor: str | None = None

    def check(self) -> None:
        """Check the fields.

        Raises:
            QuestionError: a field is invalid; the error names it.
        """
        check_depth(self.depth)
        check_limit(self.limit)


_CURSOR_KEY = itemgetter(slice(4))
"""Sort key of an ordered asset, for cursors."""


def analyze(
    reader: Reader,
    change: ImpactChange,
    policy: Policy | None = None,
    page: ImpactPage = ImpactPage(),
    arrivals: Arrivals | None = None,
) -> Impact:
    """Return the downstream impact of a change.

    Args:
        policy: severity policy; None: Headwater's default policy.
        arrivals: looks up in Kafka when records arrived, for an extent's times; None: no access to Kafka.

    Raises:
        ArrivalsUnknownError: arrival times can't be read from Kafka.
        QuestionError: a field of the question makes no sense, or the cursor belongs to another question.
        NotFoundError: no such dataset or column; with the nearest names.
        AmbiguousError: several datasets have this name.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    page.check()
    if "#" not in change.dataset:  # Only the graph knows how to split the name.
        change.check()
    return reader.read(lambda tx: _answer(tx, named(tx, change), policy or default_policy(), page, arrivals))


def _answer(
    tx: Transaction, change: ImpactChange, policy: Policy, page: ImpactPage, arrivals: Arrivals | None
) -> Impact:
    change.check()
    beginning = begin(tx, change, arrivals)
    type_ = beginning.type
    graph = StoredGraph(tx, groups=policy.groups_of(type_))
    hit = spread(graph, beginning.start, type_, change.schema, policy, depth=page.depth)

    ordered = hit.ordered()
    first = 0
    same = (tx.tenant, beginning.asset.key, replace(change, dataset=""), policy, replace(page, limit=1, cursor=None))
    if page.cursor is not None:
        after = paging.decode(page.cursor, question=same, kinds=(int, int, int, str))
        first = bisect_right(ordered, after, key=_CURSOR_KEY)
    shown = ordered[first : first + page.limit]
    more = first + page.limit < len(ordered)
    details = ImpactDetails(hit, [node for *_, node in shown], policy, beginning)
    details.look_up(tx, [details])
    counts = Counter(rank for rank, *_ in ordered)
    indirect = sum(indirect for _, indirect, *_ in ordered)
    datasets = {node: hit.facts[node].dataset for node in hit.worst}
    readers = hit_consumers(tx, beginning, change, policy)
    certain = hits_for_certain(tx, hit)
    unknown = tuple(unknowns(tx, beginning, hit, certain=certain))
    impact = Impact(
        change=change,
        type=type_,
        start=beginning.asset,
        severity=severity_of(beginning, hit, readers, certain=certain, unknown=bool(unknown)),
        unknown=unknown,
        items=details.items(),
        totals=tuple(SeverityTotal(SEVERITIES[rank], counts[rank]) for rank in sorted(counts)),
        total=len(ordered),
        direct=len(ordered) - indirect,
        indirect=indirect,
        columns=sum(node != dataset for node, dataset in datasets.items()),
        datasets=len(set(datasets.values())),
        jobs=details.jobs(change.schema, late=policy.binds_late(beginning.start.type)),
        jobs_total=len(hit.jobs),
        hit_consumers=readers,
        consumers=consumers_of(tx, {*beginning.start.nodes, *hit.worst}),
        max_hops=max((hops for _, _, hops, *_ in ordered), default=0),
        truncated=hit.walk.truncated,
        notes=(*beginning.notes, *caveats(tx, graph, beginning, hit)),
        next_cursor=paging.encode(_CURSOR_KEY(shown[-1]), question=same) if more else None,
        summary="",
    )
    return replace(impact, summary=summary_of(impact))
