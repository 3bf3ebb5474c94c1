"""Relationships with a span, and those that jobs declare."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_consumers.graph.derive import declared_links
from headwater_consumers.graph.model import RelType
from headwater_consumers.graph.oracle import feeds_identity
from headwater_consumers.materializer.write.bolt import bolt_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from headwater_consumers.materializer.fold.delta import GraphDelta
    from headwater_consumers.materializer.fold.facts import Link, NodeFacts, Span
    from headwater_consumers.materializer.write.nodes import Joined
    from headwater_consumers.materializer.write.transaction import Transaction


class JobName(NamedTuple):
    """What a FEEDS relationship shows of its job."""

    tenant: str
    name: str


def job_name(job: NodeFacts) -> JobName:
    """Tenant and name of a job."""
    return JobName(str(job.identity["tenant"]), str(job.identity["name"]))


# In the order in which they are written.
_OBSERVED = (
    "job_reads",
    "job_writes",
    "query_reads",
    "query_writes",
    "feeds",
    "run_used",
    "query_used",
    "renamed",
)


def write_links(
    tx: Transaction, delta: GraphDelta, links: Iterable[tuple[Link, Span]], jobs: Mapping[str, JobName]
) -> None:
    """Links that were seen: created, or their spans widened."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for link, span in sorted(links, key=lambda item: item[0]):
        row = {"start": link.start, "end": link.end, "first": _time(span.first), "last": _time(span.last)}
        if link.type is RelType.FEEDS:
            row |= _feeds(jobs, link)
        rows[_statement(delta, link)].append(row)
    for name in _OBSERVED:
        tx.rows(name, rows[name])


def write_declared(tx: Transaction, delta: GraphDelta, jobs: Mapping[str, Joined]) -> None:
    """What jobs declare now, and no longer."""
    for word, rows in (("undeclare", _declared(delta, jobs, gone=True)), ("declare", _declared(delta, jobs))):
        for type_ in (RelType.READS, RelType.WRITES, RelType.FEEDS):
            tx.rows(f"{word}_{type_.value.lower()}", rows[type_])


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


def _statement(delta: GraphDelta, link: Link) -> str:
    match link.type:
        case RelType.READS | RelType.WRITES:
            owner = "query" if link.start in delta.queries else "job"
            return f"{owner}_{link.type.value.lower()}"
        case RelType.USED:
            return "run_used" if link.start in delta.runs else "query_used"
        case RelType.FEEDS:
            return "feeds"
        case RelType.RENAMED_TO:
            return "renamed"
    raise ValueError(f"{link.type} has no span")


def _feeds(jobs: Mapping[str, JobName], link: Link) -> dict[str, Any]:
    properties = feeds_identity(*jobs[link.via], link)
    return {"key": properties["key"], "properties": properties}


def _time(time: datetime | None) -> Any:
    return None if time is None else bolt_time(time)
