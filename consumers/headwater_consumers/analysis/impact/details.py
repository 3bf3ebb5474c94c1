"""What is looked up for a page alone: names, owners, hops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.assets import Asset, column_asset, dataset_asset, job_asset
from headwater_consumers.analysis.impact import wording
from headwater_consumers.analysis.impact.answer import ImpactedJob, ImpactHop, ImpactItem, Owner
from headwater_consumers.analysis.impact.place import is_indirect, node_of, propagates, rank_of
from headwater_consumers.analysis.impact.severity import SEVERITIES
from headwater_consumers.analysis.impact.spread import Hit
from headwater_consumers.analysis.impact.steps import Cause, Influence
from headwater_consumers.analysis.lineage.transformations import transformation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater_consumers.analysis.impact.change import SchemaChange
    from headwater_consumers.analysis.impact.policy import Policy
    from headwater_consumers.analysis.impact.spread import Spread
    from headwater_consumers.analysis.impact.start import Beginning
    from headwater_consumers.analysis.reader import Transaction
    from headwater_consumers.analysis.walk import Step

MOST_JOBS = 100


class Details:
    """Looks up what `nodes` and jobs are called, at once.

    Args:
        tx: to look up in.
        spread: what was hit.
        nodes: of the page, in order.
        policy: whose reasons and actions are told.
        beginning: what changes.
    """

    def __init__(
        self, tx: Transaction, spread: Spread, nodes: Sequence[int], policy: Policy, beginning: Beginning
    ) -> None:
        self._spread = spread
        self._nodes = nodes
        self._policy = policy
        self._changed = wording.called(beginning.changed)
        self._parts = beginning.reach.parts
        self._paths = {node: spread.walk.path(spread.worst[node]) for node in nodes}
        steps = [step for path in self._paths.values() for step in path]
        self._shown_jobs = sorted(
            spread.jobs, key=lambda key: (not _fails(spread, key), spread.jobs[key].rank, spread.jobs[key].hops, key)
        )[:MOST_JOBS]
        on_paths = {node_of(place) for step in steps for place in (step.source, step.target)}
        self._assets = {row["node"]: row for row in tx.one("impact/assets", nodes=sorted(on_paths))["assets"]}
        edges = tx.one("impact/hops", edges=sorted({step.edge for step in steps}))["hops"]
        self._edges = {row["edge"]: row for row in edges}
        jobs = dict.fromkeys([*self._shown_jobs, *(_hit(step).job for step in steps)])
        self._jobs = {row["properties"]["key"]: row for row in tx.one("impact/jobs", keys=list(jobs))["jobs"]}
        # The ways to a thousand assets have most of their steps in common.
        self._known_assets: dict[int, Asset] = {}
        self._known_hops: dict[int, ImpactHop] = {}

    def items(self) -> tuple[ImpactItem, ...]:
        """One for each node, in order."""
        return tuple(self._item(node, self._paths[node]) for node in self._nodes)

    def jobs(self, schema: SchemaChange | None, *, late: bool) -> tuple[ImpactedJob, ...]:
        """The jobs to show."""
        shown = []
        for key in self._shown_jobs:
            hit, fails = self._spread.jobs[key], _fails(self._spread, key)
            why = wording.job_reason(hit, schema, fails=fails, late=late)
            severity = SEVERITIES[hit.rank]
            shown.append(ImpactedJob(self._job(key), severity, fails, hit.hops, why, self._owners_of_job(key)))
        return tuple(shown)

    def _item(self, node: int, path: Sequence[Step]) -> ImpactItem:
        place, last = self._spread.worst[node], path[-1]
        hit = _hit(last)
        asset, row, rule = self._asset(node), self._assets[node], self._policy.rules[hit.rule]
        hops = tuple(self._hop(step) for step in path)
        names = {
            "changed": self._changed,
            "source": wording.called(self._asset(node_of(last.source))),
            "asset": wording.called(asset),
            "job": wording.short(hops[-1].job.name),
        }
        done = hops[-1].transformation
        dataset = dataset_asset(row["dataset"])
        return ImpactItem(
            asset,
            SEVERITIES[rank_of(place)],
            Influence.INDIRECT if is_indirect(place) else Influence.DIRECT,
            hit.cause,
            len(path),
            hops,
            wording.reason(
                hit.cause,
                done.kind if done else None,
                rule.reason.format_map(names),
                job=names["job"],
                source=names["source"],
            ),
            rule.action.format_map(names),
            _owners(row, dataset) or self._owners_of_job(hit.job),
            propagates(place),
            row["criticality"],
            bool(row["gone"]),
            self._parts.get(dataset.key, ()),
        )

    def _hop(self, step: Step) -> ImpactHop:
        hop = self._known_hops.get(step.target)
        if hop is None:
            row, hit = self._edges[step.edge], _hit(step)
            done = None if row["kind"] is None else transformation(row, whole=row["whole"])
            hop = ImpactHop(self._asset(node_of(step.target)), self._job(hit.job), hit.cause, done)
            self._known_hops[step.target] = hop
        return hop

    def _asset(self, node: int) -> Asset:
        asset = self._known_assets.get(node)
        if asset is None:
            row = self._assets[node]
            of, column = row["dataset"], row["column"]
            asset = self._known_assets[node] = dataset_asset(of) if column is None else column_asset(of, column)
        return asset

    def _job(self, key: str) -> Asset:
        return job_asset(self._jobs[key]["properties"])

    def _owners_of_job(self, key: str) -> tuple[Owner, ...]:
        return _owners(self._jobs[key], self._job(key))


def _hit(step: Step) -> Hit:
    return Hit(*step.facts)


def _fails(spread: Spread, key: str) -> bool:
    return Cause.JOB in spread.jobs[key].causes


def _owners(row: Mapping[str, Any], of: Asset) -> tuple[Owner, ...]:
    types: Iterable[str] = row["owner_types"] or [""] * len(row["owners"])
    return tuple(Owner(name, type_ or None, of) for name, type_ in zip(row["owners"], types, strict=True))
