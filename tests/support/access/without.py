"""Base facts without those of hidden assets: the graph that an answer to a restricted asker has to be an answer of.

Written apart from the filter of statements, and from events' facts alone: a fact is left out if it belongs to a hidden
asset, or names one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from headwater_graph.facts.declarations import DeclarationFacts
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import UseKey
from headwater_graph.facts.nodes import MADE_FROM, IntervalFacts, Link, PlanFacts, RunFacts, Variant
from headwater_graph.facts.registers import Registers
from headwater_graph.fold import fold
from headwater_graph.keys import column_key, dataset_key, job_key, run_key
from headwater_graph.segments.slots import DatasetName, digest_of
from headwater_schemas.events import ColumnLineage, LineageEvent

_N = TypeVar("_N")
_DATASETS_OF_DECLARATIONS = ("inputs", "outputs")
_NONE = " " * 32
"""In place of a hidden dataset's key."""
_PARTITIONS = tuple(
    f"partition_{name}" for name in ("inputs", "outputs", "input_fields", "output_fields", "transforms")
)


def without(events: Iterable[LineageEvent], hidden: frozenset[str]) -> GraphDelta:
    """Facts of events of one tenant, without the datasets, jobs and consumers that have these keys."""
    return _Without(fold(list(events)), hidden).result()


class _Without:
    def __init__(self, whole: GraphDelta, hidden: frozenset[str]) -> None:
        self.whole, self.hidden = whole, hidden
        self.columns = {
            column_key(str(facts.identity["tenant"]), key, path)
            for key, facts in whole.datasets.items()
            if key in hidden
            for path in facts.columns
        }
        self.names = {
            key: DatasetName(str(facts.identity["namespace"]), str(facts.identity["name"]))
            for key, facts in whole.datasets.items()
        }

    def seen(self, nodes: dict[str, _N]) -> dict[str, _N]:
        return {key: node for key, node in nodes.items() if key not in self.hidden}

    def result(self) -> GraphDelta:
        whole, hidden = self.whole, self.hidden
        runs = {key: run for key, facts in whole.runs.items() if (run := self.run(facts)) is not None}
        queries = {key: query for key, query in whole.queries.items() if query.jobs - hidden}
        for query in queries.values():
            query.jobs -= hidden
        plans = {key: self.plan(plan) for key, plan in whole.plans.items() if plan.job not in hidden}
        for dataset in whole.datasets.values():
            _, renamed_from = dataset.registers.get("renamed_from", ("", None))
            if renamed_from in hidden:
                del dataset.registers["renamed_from"]
        for job in whole.jobs.values():
            self.job(job.registers)
        declarations = {
            key: self.declaration(facts) for key, facts in whole.declarations.items() if facts.subject not in hidden
        }
        for declared in whole.declaration_sets.values():
            if declared.revision is not None:
                items = tuple(
                    key
                    for key in declared.revision.items
                    if key not in whole.declarations or whole.declarations[key].subject not in hidden
                )
                declared.revision = replace(declared.revision, items=items)
        return GraphDelta(
            jobs=self.seen(whole.jobs),
            datasets=self.seen(whole.datasets),
            aliases=whole.aliases,
            queries=queries,
            runs=runs,
            plans=plans,
            versions={key: each for key, each in whole.versions.items() if each.dataset not in hidden},
            schemas={key: each for key, each in whole.schemas.items() if each.dataset not in hidden},
            intervals={key: self.interval(each) for key, each in whole.intervals.items() if each.query in queries},
            retentions=whole.retentions,
            consumers=self.seen(whole.consumers),
            declarations=declarations,
            declaration_sets=whole.declaration_sets,
            incidents={},
            links={link: span for link, span in whole.links.items() if self.is_seen(link, runs, queries, plans)},
            events=whole.events,
        )

    def is_seen(self, link: Link, *nodes: dict[str, Any]) -> bool:
        hidden = self.hidden | self.columns
        runs, queries, plans = nodes
        ends = (link.start, link.end, link.via)
        for whole, left in ((self.whole.runs, runs), (self.whole.queries, queries), (self.whole.plans, plans)):
            if any(end in whole and end not in left for end in ends):
                return False
        return not hidden & {*ends}

    def uses(self, uses: dict[UseKey, Registers]) -> dict[UseKey, Registers]:
        left: dict[UseKey, Registers] = {}
        for use, registers in uses.items():
            if use.dataset in self.hidden:
                continue
            if MADE_FROM in registers:
                stamp, sources = _cell(registers, MADE_FROM)
                left[use] = {**registers, MADE_FROM: (stamp, [key for key in sources if key not in self.hidden])}
            else:
                left[use] = registers
        return left

    def outcomes(self, tenant: str, registers: Registers) -> Registers:
        if "quality" not in registers:
            return registers
        stamp, cell = _cell(registers, "quality")
        lists = {name: value for name, value in cell.items() if name.startswith("quality_")}
        named = zip(
            *(
                lists.get(f"quality_{of}") or [""] * len(lists["quality_assertions"])
                for of in ("namespaces", "datasets")
            ),
            strict=True,
        )
        kept = [
            n
            for n, (namespace, name) in enumerate(named)
            if not name or dataset_key(tenant, namespace, name) not in self.hidden
        ]
        left = {name: [value[n] for n in kept] for name, value in lists.items()}
        always = ("quality_assertions", "quality_passed", "quality_columns", "quality_values")
        left = {name: value for name, value in left.items() if name in always or any(value)}
        registers = dict(registers)
        if kept:
            registers["quality"] = (stamp, {**{n: v for n, v in cell.items() if n not in lists}, **left})
        else:
            del registers["quality"]
        return registers

    def run(self, facts: RunFacts) -> RunFacts | None:
        if not facts.jobs - self.hidden:
            return None
        tenant = str(facts.identity["tenant"])
        registers = self.outcomes(tenant, facts.registers)
        for role in ("parent", "root"):
            _, above = registers.get(role, ("", None))
            if isinstance(above, dict):
                job = job_key(tenant, str(above[f"{role}_job_namespace"]), str(above[f"{role}_job_name"]))
                known = self.whole.runs[run_key(tenant, str(above[f"{role}_run_id"]))].jobs
                if job in self.hidden or not known - self.hidden:
                    registers = {name: cell for name, cell in registers.items() if name != role}
        left = RunFacts(
            facts.identity,
            registers,
            facts.seen,
            facts.jobs - self.hidden,
            facts.queries,
            self.uses(facts.uses),
            facts.batches,
        )
        left.queries = {query for query in facts.queries if self.whole.queries[query].jobs - self.hidden}
        return left

    def plan(self, plan: PlanFacts) -> PlanFacts:
        if plan.lineage is None:
            return plan
        tenant = str(plan.identity["tenant"])
        lineage = self.lineage(tenant, plan.lineage)
        stamp, cell = _cell(plan.registers, "lineage")
        # What it writes is a fact of its own: it stays, also where no edge into it is left.
        outputs = [key for key in cell["_outputs"] if key not in self.hidden]
        shown = {**cell, "edges": len(set(lineage.edges)), "_outputs": outputs}
        return PlanFacts(plan.identity, {**plan.registers, "lineage": (stamp, shown)}, plan.seen, plan.job, lineage)

    def lineage(self, tenant: str, lineage: ColumnLineage) -> ColumnLineage:
        kept = [
            n
            for n, each in enumerate(lineage.datasets)
            if dataset_key(tenant, each.namespace, each.name) not in self.hidden
        ]
        places = {old: new for new, old in enumerate(kept)}
        edges = tuple(
            msgspec.structs.replace(
                edge, output=places[edge.output], input=None if edge.input is None else places[edge.input]
            )
            for edge in lineage.edges
            if edge.output in places and (edge.input is None or edge.input in places)
        )
        return msgspec.structs.replace(lineage, datasets=tuple(lineage.datasets[n] for n in kept), edges=edges)

    def job(self, registers: Registers) -> None:
        for name in ("declared_inputs", "declared_outputs"):
            if name in registers:
                stamp, keys = _cell(registers, name)
                registers[name] = (stamp, [key for key in keys if key not in self.hidden])
        if "declared_lineage" in registers:
            stamp, cell = _cell(registers, "declared_lineage")
            registers["declared_lineage"] = (stamp, {**cell, "_declared_feeds": self.pairs(cell["_declared_feeds"])})

    def pairs(self, pairs: Any) -> list[str]:
        """Pairs of a declared lineage. That a job is declared to write a dataset is a fact of its own: it stays."""
        ends = ([_NONE if end in self.hidden else end for end in (pair[:32], pair[32:])] for pair in pairs)
        return ["".join(pair) for pair in ends if pair != [_NONE, _NONE]]

    def interval(self, facts: IntervalFacts) -> IntervalFacts:
        tenant = str(facts.identity["tenant"])
        variants: dict[str, Variant] = {}
        for variant in sorted(facts.variants.values(), key=lambda variant: variant.rank, reverse=True):
            left = Variant(self.outcomes(tenant, variant.registers), self.uses(variant.uses))
            digest = digest_of(left.uses, self.names)
            if digest in variants:
                variants[digest].join(left)
            else:
                variants[digest] = left
        return IntervalFacts(facts.identity, facts.query, facts.batch_id, variants)

    def declaration(self, facts: DeclarationFacts) -> DeclarationFacts:
        properties: dict[str, Any] = dict(facts.properties)
        for name in _DATASETS_OF_DECLARATIONS:
            if name in properties:
                properties[name] = [key for key in properties[name] if key not in self.hidden]
        if "_feeds" in properties:
            properties["_feeds"] = self.pairs(properties["_feeds"])
        if "_consumes" in properties:
            gone = self.hidden | self.columns
            properties["_consumes"] = [key for key in properties["_consumes"] if key not in gone]
        if "partition_inputs" in properties:
            lists = [properties[name] for name in _PARTITIONS]
            rows = [row for row in zip(*lists, strict=True) if not {row[0], row[1]} & self.hidden]
            properties |= {name: [row[n] for row in rows] for n, name in enumerate(_PARTITIONS)}
        return replace(facts, properties=properties)


def _cell(registers: Registers, name: str) -> tuple[str, Any]:
    """Stamp and value of a register."""
    return registers[name]
