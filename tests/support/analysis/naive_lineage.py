"""Lineage by definition: relaxation over all edges of a dump, without a database, in as few lines as it can be written.

It shares nothing with `headwater_analysis`, and of the graph's own rules only the oracle.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Fields = dict[str, Any]


class Hop(NamedTuple):
    """A step in the direction that data flows, of `hops` hops: 0 from a dataset to its columns."""

    source: str
    target: str
    hops: int
    direct: bool
    job: str


@dataclass
class NaiveGraph:
    """A dump, by key. Times are microseconds."""

    nodes: dict[str, Fields] = field(default_factory=dict)
    relationships: dict[str, list[Fields]] = field(default_factory=lambda: defaultdict(list))

    @classmethod
    def of(cls, lines: Iterable[str], tenant: str) -> NaiveGraph:
        graph = cls()
        for line in lines:
            fields = json.loads(line)
            if "labels" in fields:
                if fields["properties"].get("tenant") == tenant:
                    graph.nodes[fields["key"]] = {"label": fields["labels"][0], **fields["properties"]}
            else:
                graph.relationships[fields["type"]].append(fields)
        for type_, found in graph.relationships.items():
            graph.relationships[type_] = [each for each in found if each["start"] in graph.nodes]
        return graph

    def labelled(self, label: str) -> list[str]:
        return sorted(key for key, node in self.nodes.items() if node["label"] == label)

    # Which column lineage holds.

    def active(self, plan: str, as_of: int | None) -> int | None:
        node = self.nodes[plan]
        if as_of is None:
            return node.get("last_seen")
        used = [each["properties"] for each in self.relationships["USED"] if each["end"] == plan]
        spans = [span for span in used if span.get("first_seen", as_of + 1) <= as_of]
        if not spans and node.get("first_seen", as_of + 1) <= as_of:
            spans = [node]
        return max((min(span["last_seen"], as_of) for span in spans), default=None)

    def edges(self) -> list[Fields]:
        return [
            {**each["properties"], "start": each["start"], "end": each["end"], "sort": type_}
            for type_ in ("DERIVES", "INFLUENCES", "GENERATES")
            for each in self.relationships[type_]
        ]

    def holding(self, as_of: int | None, since: int | None) -> list[Fields]:
        edges = self.edges()
        owner: dict[str, str] = {each["end"]: each["start"] for each in self.relationships["HAS_COLUMN"]}
        writers: dict[tuple[str, str], set[str]] = defaultdict(set)
        for edge in edges:
            if self.active(edge["plan"], as_of) is not None:
                writers[edge["job"], owner.get(str(edge["end"]), str(edge["end"]))].add(edge["plan"])
        standing = {written: self.standing(written[1], plans, as_of) for written, plans in writers.items()}
        out = []
        for edge in edges:
            plan, job = self.nodes[edge["plan"]], self.nodes[edge["job"]]
            declared = as_of is None and job.get("declared_plan") == plan["digest"]
            active = self.active(edge["plan"], as_of)
            recent = since is None or plan.get("last_seen", since - 1) >= since
            held = standing.get((edge["job"], owner.get(str(edge["end"]), str(edge["end"]))), set())
            if declared or (active is not None and recent and edge["plan"] in held):
                out.append(edge)
        return out

    def standing(self, dataset: str, plans: set[str], as_of: int | None) -> set[str]:
        """Plans, among those by which a job writes a dataset, that hold."""
        until = 10**18 if as_of is None else as_of
        parent = {each["start"]: each["end"] for each in self.relationships["CHILD_OF"]}
        uses = []
        for each in self.relationships["USED"]:
            span, run = each["properties"], self.nodes[each["start"]]
            if each["end"] not in plans or span.get("first_seen", until + 1) > until:
                continue
            ended = min(span["last_seen"], until)
            if run["label"] == "Query" or "query_id" in run:
                going = run["label"] == "Query" or "first_batch" in run or run.get("state") in ("RUNNING", "COMPLETE")
                uses.append((each["end"], each["start"], span["first_seen"], ended, going, False))
                continue
            ran = run.get("state") == "COMPLETE" and run["ended_at"] <= until
            above = self.nodes.get(parent.get(each["start"], ""), {})
            done = "state" not in above or (above["state"] == "COMPLETE" and above["ended_at"] <= until)
            replaces = ran and any(
                made["start"] == each["start"] and made["end"] == dataset and _replaces(made["properties"])
                for made in self.relationships["PRODUCED"]
            )
            app = parent.get(each["start"], each["start"])
            uses.append((each["end"], app, span["first_seen"], ended, ran and done, replaces))
        newest = max(self.active(plan, as_of) or 0 for plan in plans)
        newest_use = max((use[2] for use in uses if use[4]), default=None)
        apps = {use[1] for use in uses if use[4] and use[2] == newest_use}
        began = min((use[2] for use in uses if use[1] in apps), default=None)
        emptied = self.nodes[dataset].get("emptied_at", until + 1)
        held = set()
        for plan, app, _, ended, _, _ in uses:
            if began is not None and ended < began:
                continue
            gone = any(
                other[3] > ended and other[0] != plan and (other[1] == app or app not in apps)
                for other in uses
                if other[5] and (began is None or other[3] >= began)
            )
            if not gone and not ended < emptied <= until:
                held.add(plan)
        # What no run is known to have used, and what was used at last as nothing else was.
        times = {plan: self.active(plan, as_of) or 0 for plan in plans}
        others = {plan for plan in plans - {use[0] for use in uses} if uses and times[plan] >= (began or 0)}
        others |= {plan for plan in plans if times[plan] == newest}
        held |= {plan for plan in others if not times[plan] < emptied <= until}
        return held

    # The steps.

    def dataset_hops(self, as_of: int | None, since: int | None) -> list[Hop]:
        hops = []
        for each in self.relationships["FEEDS"]:
            feeds = each["properties"]
            began = as_of is None or feeds.get("first_seen", as_of + 1) <= as_of
            declared = as_of is None and feeds.get("declared", False)
            recent = since is None or declared or feeds.get("last_seen", since - 1) >= since
            if began and recent:
                hops.append(Hop(each["start"], each["end"], 1, True, feeds["job"]))
        return hops

    def column_hops(self, as_of: int | None, since: int | None, *, upstream: bool) -> list[Hop]:
        hops, columns = [], defaultdict(list)
        for each in self.relationships["HAS_COLUMN"]:
            columns[each["start"]].append((each["end"], each["properties"]))
        for edge in self.holding(as_of, since):
            if edge["sort"] == "GENERATES":
                continue
            direct = edge["type"] == "DIRECT"
            hops.append(Hop(edge["start"], edge["end"], 1, direct, edge["job"]))
            if edge["sort"] == "INFLUENCES" and upstream:
                hops += [Hop(edge["start"], column, 1, direct, edge["job"]) for column, _ in columns[edge["end"]]]
        if not upstream:
            for dataset, found in columns.items():
                for column, span in found:
                    if as_of is None:
                        there = "last_seen" not in span
                    else:
                        there = span.get("first_seen", as_of) <= as_of <= span.get("last_seen", as_of)
                    if there:
                        hops.append(Hop(dataset, column, 0, True, ""))
        return hops


def _replaces(use: Fields) -> bool:
    facets = dict(zip(use.get("facet_names", ()), use.get("facets", ()), strict=True))
    if "headwater_branch" in facets:
        return False
    lifecycle = json.loads(facets.get("lifecycleStateChange", "{}")).get("lifecycleStateChange")
    words = ("create or replace table as select", "create table as select", "replace table as select", "truncate")
    return lifecycle in ("OVERWRITE", "CREATE", "TRUNCATE") or use.get("operation", "").lower() in words


def reach(hops: Iterable[Hop], start: str, *, upstream: bool, depth: int | None) -> dict[str, tuple[bool, int]]:
    """Nodes reached from `start`: True for DIRECT, and the number of hops."""
    if upstream:
        hops = [Hop(hop.target, hop.source, *hop[2:]) for hop in hops]
    hops = list(hops)
    direct = _nearest([hop for hop in hops if hop.direct], start)
    anyhow = _nearest(hops, start)
    out = {}
    for node, least in anyhow.items():
        for is_direct, number in ((True, direct.get(node)), (False, least)):
            if number is not None and (depth is None or number <= depth):
                out[node] = (is_direct, number)
                break
    return out


def _nearest(hops: list[Hop], start: str) -> dict[str, int]:
    nearest = {start: 0}
    changed = True
    while changed:
        changed = False
        for hop in hops:
            there = nearest.get(hop.source, 10**6) + hop.hops
            if there < nearest.get(hop.target, 10**6):
                nearest[hop.target] = there
                changed = True
    del nearest[start]
    return nearest
