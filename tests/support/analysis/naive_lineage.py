"""Lineage by definition: relaxation over all edges of a dump, without a database, in as few lines as it can be said.

It shares nothing with `headwater_consumers.analysis`, and of the graph's own rules only the oracle.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        owner = {each["end"]: each["start"] for each in self.relationships["HAS_COLUMN"]}
        latest: dict[tuple[str, str], int] = {}
        for edge in edges:
            active = self.active(edge["plan"], as_of)
            # Who writes a column writes to its dataset too; who writes every column of it, writes the dataset.
            for written in {edge["end"], owner.get(edge["end"], edge["end"])}:
                if active is not None:
                    latest[edge["job"], written] = max(active, latest.get((edge["job"], written), active))
        out = []
        for edge in edges:
            plan, job = self.nodes[edge["plan"]], self.nodes[edge["job"]]
            declared = as_of is None and job.get("declared_plan") == plan["digest"]
            active = self.active(edge["plan"], as_of)
            recent = since is None or plan.get("last_seen", since - 1) >= since
            if declared or (active is not None and recent and active == latest[edge["job"], edge["end"]]):
                out.append(edge)
        return out

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


def reach(hops: Iterable[Hop], start: str, *, upstream: bool, depth: int | None) -> dict[str, tuple[bool, int]]:
    """What is reached from `start`: whether DIRECT, and in how many hops."""
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
