"""Relationships with a span, and relationships that jobs declare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headwater_graph.derive import declared_links, known_as
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import RelType
from headwater_graph.facts.nodes import Evidence, Link, NodeFacts, TimeSpan
from headwater_graph.keys import SCOPE, feeds_identity
from headwater_graph.write.bolt import bolt_time
from headwater_graph.write.nodes import Joined
from headwater_graph.write.transaction import Index, WriteTransaction


class JobName(NamedTuple):
    """Tenant, name and scope of a FEEDS relationship's job."""

    tenant: str
    name: str
    scope: str


def job_name(job: NodeFacts) -> JobName:
    """Tenant, name and scope of a job."""
    return JobName(*(str(job.identity[name]) for name in ("tenant", "name", SCOPE)))


# Relationships to write, in this order, with the labels of both ends.
OBSERVED = {
    "job_reads": ("jobs", "datasets"),
    "job_writes": ("jobs", "datasets"),
    "query_reads": ("queries", "datasets"),
    "query_writes": ("queries", "datasets"),
    "feeds": ("datasets", "datasets"),
    "excluded_feeds": ("datasets", "datasets"),
    "possible_feeds": ("datasets", "datasets"),
    "job_feeds": ("jobs", "datasets"),
    "goes_into": ("datasets", "jobs"),
    "run_used": ("runs", "plans"),
    "query_used": ("queries", "plans"),
    "renamed": ("datasets", "datasets"),
    "columns_renamed": ("columns", "columns"),
    "columns_dropped": ("datasets", "columns"),
}


_FEEDS = {
    Evidence.OBSERVED: "feeds",
    Evidence.EXCLUDED: "excluded_feeds",
    Evidence.POSSIBLE: "possible_feeds",
}


class LinkRows:
    """Rows of observed relationships, to create them or to widen their spans."""

    def __init__(self, delta: GraphDelta) -> None:
        self._delta = delta
        self._ends = {name: Index() for name in ("jobs", "queries", "runs", "plans", "datasets", "columns")}
        self._rows = self._rows_of(delta.links, {key: job_name(job) for key, job in delta.jobs.items()})

    def write(self, tx: WriteTransaction, more: Mapping[Link, TimeSpan], jobs: Mapping[str, JobName]) -> None:
        """Create or widen the relationships.

        Args:
            more: links of the transaction's runs.
            jobs: jobs of FEEDS among `more`, by key.
        """
        # A link of the transaction's runs that the delta has, too, gets two rows. The second row has the span of both.
        spans = {link: _union(span, self._delta.links.get(link)) for link, span in more.items()}
        of_runs = self._rows_of(spans, jobs)
        rows = {name: self._rows[name] + of_runs[name] for name in OBSERVED}
        if any(rows.values()):
            tx.send("links", **rows, **{name: index.keys for name, index in self._ends.items()})

    def _rows_of(self, links: Mapping[Link, TimeSpan], jobs: Mapping[str, JobName]) -> dict[str, list[list[Any]]]:
        rows: dict[str, list[list[Any]]] = {name: [] for name in OBSERVED}
        excluded = _excluded(links)
        for link, span in sorted(links.items(), key=lambda item: item[0]):
            name = _row_list(self._delta, link)
            starts_at, ends_at = OBSERVED[name]
            start, end = self._ends[starts_at].at(link.start), self._ends[ends_at].at(link.end)
            row = [start, end, _time(span.first), _time(span.last)]
            if link.type is RelType.FEEDS:
                row += [feeds_identity(*jobs[link.via], link), self._ends["jobs"].at(link.via)]
            elif name == "job_writes":
                row.append(excluded[link.start, link.end])
            elif link.type is RelType.USED:
                row.append(self._delta.plans[link.end].job)
            rows[name].append(row)
        return rows


def write_declared(tx: WriteTransaction, delta: GraphDelta, jobs: Mapping[str, Joined]) -> None:
    """Write the relationships that jobs declare now, and end the relationships that the jobs no longer declare."""
    for word, rows in (("undeclare", _declared(delta, jobs, gone=True)), ("declare", _declared(delta, jobs))):
        for type_ in (RelType.READS, RelType.WRITES, RelType.FEEDS):
            tx.send_rows(f"{word}_{type_.value.lower()}", rows[type_])


def write_aliases(tx: WriteTransaction, delta: GraphDelta, datasets: Mapping[str, Joined]) -> None:
    """Write the aliases that the delta mentions, and the current aliases of its datasets, which are locked."""
    gone: list[dict[str, Any]] = []
    new: list[dict[str, Any]] = []
    for key, dataset in sorted(datasets.items()):
        tenant = str(delta.datasets[key].identity["tenant"])
        before, after = known_as(tenant, dataset.before), known_as(tenant, dataset.after)
        gone += [{"start": key, "end": alias} for alias in sorted(before.keys() - after.keys())]
        new += [
            {"start": key, "end": end, "type": after[end]} for end in sorted(after) if before.get(end) != after[end]
        ]
    tx.send_rows("aliases", [dict(alias.identity) for _, alias in sorted(delta.aliases.items())])
    tx.send_rows("undeclare_known_as", gone)
    tx.send_rows("declare_known_as", new)


def _excluded(links: Iterable[Link]) -> dict[tuple[str, str], list[str]]:
    """Map (job, written dataset) to the datasets that the job read but didn't use for that output."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for link in links:
        if link.evidence is Evidence.EXCLUDED:
            found[link.via, link.end].append(link.start)
    return found


def _union(span: TimeSpan, other: TimeSpan | None) -> TimeSpan:
    whole = TimeSpan(span.first, span.last)
    if other is not None:
        whole.see(other.first, other.last)
    return whole


def _declared(
    delta: GraphDelta, jobs: Mapping[str, Joined], *, gone: bool = False
) -> dict[RelType, list[dict[str, Any]]]:
    rows: dict[RelType, list[dict[str, Any]]] = defaultdict(list)
    for key, job in sorted(jobs.items()):
        before, after = declared_links(key, job.before), declared_links(key, job.after)
        names = {key: job_name(delta.jobs[key])}
        for link in sorted(before - after if gone else after - before):
            row: dict[str, Any] = {"start": link.start, "end": link.end}
            if link.type is RelType.FEEDS:
                row |= _feeds(names, link)
            rows[link.type].append(row)
    return rows


def _row_list(delta: GraphDelta, link: Link) -> str:
    match link.type:
        case RelType.READS | RelType.WRITES:
            owner = "query" if link.start in delta.queries else "job"
            return f"{owner}_{link.type.value.lower()}"
        case RelType.USED:
            return "run_used" if link.start in delta.runs else "query_used"
        case RelType.FEEDS:
            return "job_feeds" if link.start == link.via else _FEEDS[link.evidence]
        case RelType.GOES_INTO:
            return "goes_into"
        case RelType.RENAMED_TO:
            return "renamed" if link.start in delta.datasets else "columns_renamed"
        case RelType.DROPPED:
            return "columns_dropped"
    raise ValueError(f"{link.type} has no span")


def _feeds(jobs: Mapping[str, JobName], link: Link) -> dict[str, Any]:
    properties = feeds_identity(*jobs[link.via], link)
    return {"key": properties["key"], "properties": properties}


def _time(time: datetime | None) -> Any:
    return None if time is None else bolt_time(time)
