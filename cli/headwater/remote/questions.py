"""Questions as requests to `headwater serve`: the same names, arguments and answers as those of `headwater_analysis`.

    lineage(server, question)    in place of    headwater_analysis.lineage.lineage(reader, question)

All raise the errors of `Server`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from headwater.errors import InputError
from headwater.lean_imports import without

with without("numpy", "pandas"):
    from headwater_analysis.assets import AssetKind
    from headwater_analysis.blast import BadBatches, BadRun, Blast
    from headwater_analysis.checks import Checks
    from headwater_analysis.deletion import HOLDING, DeletionQuestion, MayDelete
    from headwater_analysis.diff import Diff, Point
    from headwater_analysis.errors import NotFoundError
    from headwater_analysis.impact import Impact, ImpactChange, ImpactPage
    from headwater_analysis.known import (
        ColumnDetails,
        ConsumerDetails,
        DatasetDetails,
        JobDetails,
        Known,
        KnownKind,
        Named,
        RunList,
    )
    from headwater_analysis.lineage import Lineage, LineageQuestion
    from headwater_analysis.privacy import Privacy, PrivacyPage, PrivacyQuestion
    from headwater_analysis.runs import (
        ALL_RUNS,
        IntervalPage,
        OpenRunPage,
        Role,
        RunDetails,
        RunFilter,
        RunPage,
        Turn,
        UsePage,
        VersionPage,
    )
    from headwater_analysis.search import SearchPage
    from headwater_analysis.trace import Offsets, Path, Starts, Times, Trace, TraceDirection, VersionOf
    from headwater_schemas.events import RunEventType
    from headwater_schemas.ranges import MOST_OFFSET

if TYPE_CHECKING:
    from headwater.remote.server import Server

_DETAILS: Final[dict[KnownKind, tuple[str, type[Any]]]] = {
    KnownKind.DATASET: ("assets", DatasetDetails),
    KnownKind.COLUMN: ("columns", ColumnDetails),
    KnownKind.JOB: ("jobs", JobDetails),
    KnownKind.CONSUMER: ("consumers", ConsumerDetails),
    KnownKind.RUN: ("runs", RunDetails),
}


def named(server: Server, name: str, kinds: Sequence[KnownKind] = ()) -> Named:
    """The thing that a name stands for."""
    return server.get("/named", Named, {"name": name, "kind": kinds})


def known(server: Server, name: str, kind: KnownKind | None = None) -> Known:
    """Details of the thing that a name stands for."""
    found = named(server, name, () if kind is None else (kind,))
    folder, answer = _DETAILS[found.kind]
    details: Known = server.get(f"/{folder}/{_escaped(found.key)}", answer)
    return details


def search(
    server: Server,
    text: str,
    *,
    kinds: Sequence[AssetKind] | None = None,
    limit: int,
    cursor: str | None = None,
    **filters: str | bool | None,
) -> SearchPage:
    """Search for assets; `filters`: those of the command."""
    return server.get("/search", SearchPage, {"q": text, "kind": kinds, **filters, "limit": limit, "cursor": cursor})


def lineage(server: Server, question: LineageQuestion) -> Lineage:
    """Lineage upstream or downstream of a dataset or column."""
    asset, column = question.asset, question.column
    if column is None and question.influence is not None:
        # Only columns are asked so.
        asset, _, path = asset.partition("#")
        column = path or None
    below = f"assets/{_escaped(asset)}" if column is None else f"columns/{_escaped(asset)}/{_escaped(column)}"
    given = {
        "depth": _hops(question.depth),
        "influence": question.influence,
        "columns": question.columns or None,
        "quality": question.quality,
        "namespace": question.filters.namespaces,
        "type": question.filters.types,
        "tag": question.filters.tags,
        "job": question.filters.jobs,
        "as_of": question.as_of,
        "since": question.since,
        "limit": question.limit,
        "cursor": question.cursor,
    }
    return server.get(f"/{below}/{question.direction.value.lower()}", Lineage, given)


def trace(
    server: Server,
    start: Starts,
    *,
    direction: TraceDirection,
    depth: int | None,
    limit: int,
    horizon: timedelta | None,
) -> Trace:
    """Trace records, files or a version."""
    given = {"direction": direction, "depth": _hops(depth), "limit": limit, "horizon": _seconds(horizon)}
    return server.get("/traces", Trace, {**_start(start), **given})


def blast(
    server: Server,
    start: BadRun | BadBatches | Starts,
    *,
    depth: int | None,
    limit: int,
    horizon: timedelta | None,
) -> Blast:
    """Everything that bad data reached."""
    match start:
        case BadRun():
            origin: dict[str, Any] = {"run": start.run_id}
        case BadBatches():
            origin = {"query": start.query, "first_batch": start.first, "last_batch": start.last}
        case _:
            origin = _start(start)
    return server.get("/blast", Blast, {**origin, "depth": _hops(depth), "limit": limit, "horizon": _seconds(horizon)})


def impact(server: Server, change: ImpactChange, page: ImpactPage) -> Impact:
    """Effects of a change, judged by the server's policy."""
    query = {"depth": _hops(page.depth), "limit": page.limit, "cursor": page.cursor}
    return server.post("/impact/analyze", Impact, asdict(change), query)


def privacy(server: Server, question: PrivacyQuestion, page: PrivacyPage) -> Privacy:
    """Spread of sensitive columns."""
    given = {
        "dataset": question.asset,
        "column": question.column,
        "as": question.as_,
        "threshold": question.threshold,
        "readable": question.readable,
        "lower": question.lower,
        "depth": _hops(page.depth),
        "limit": page.limit,
        "cursor": page.cursor,
    }
    return server.get("/privacy", Privacy, given)


def diff(
    server: Server,
    before: Point,
    after: Point,
    *,
    job: str | None,
    dataset: str | None,
    limit: int,
    cursor: str | None,
) -> Diff:
    """Changes in lineage."""
    given = {
        "before": before.time,
        "before_run": before.run,
        "before_version": before.code_version,
        "after": after.time,
        "after_run": after.run,
        "after_version": after.code_version,
        "job": job,
        "dataset": dataset,
        "limit": limit,
        "cursor": cursor,
    }
    return server.get("/diff", Diff, given)


def check(
    server: Server, *, rules: Sequence[str], open_after: timedelta | None, limit: int, cursor: str | None
) -> Checks:
    """Findings of rules, without those that the server exempts."""
    given = {"rule": rules, "open_after": _seconds(open_after), "limit": limit, "cursor": cursor}
    return server.get("/checks", Checks, given)


def may_delete(server: Server, question: DeletionQuestion) -> MayDelete:
    """Whether a dataset or version may be deleted."""
    given = {
        "dataset": question.dataset,
        "version": question.version,
        "since": question.since,
        "hold": sorted(question.holding - HOLDING),
        "incomplete": question.incomplete,
    }
    return server.get("/may-delete", MayDelete, given)


def estate_runs(server: Server, **given: Any) -> RunList:
    """Runs of all jobs; `given` as for `runs`."""
    return server.get("/runs", RunList, _narrowed(**given))


def runs(
    server: Server, *, job: str | None = None, dataset: str | None = None, role: Role = Role.WROTE, **given: Any
) -> RunPage:
    """Runs of a job or of a dataset; `given`: states, since, until, only, limit, cursor."""
    if job is not None:
        return server.get(f"/jobs/{_escaped(job)}/runs", RunPage, _narrowed(**given))
    return server.get(f"/assets/{_escaped(dataset or '')}/runs", RunPage, {"role": role, **_narrowed(**given)})


def open_runs(
    server: Server, *, job: str | None, before: datetime | None, limit: int, cursor: str | None
) -> OpenRunPage:
    """Runs without an end."""
    return server.get("/open-runs", OpenRunPage, {"job": job, "before": before, "limit": limit, "cursor": cursor})


def run(server: Server, text: str) -> RunDetails:
    """Details of a run."""
    return server.get(f"/runs/{_escaped(text)}", RunDetails)


def inputs(server: Server, text: str, *, limit: int, cursor: str | None) -> UsePage:
    """Datasets that a run read."""
    return server.get(f"/runs/{_escaped(text)}/inputs", UsePage, {"limit": limit, "cursor": cursor})


def outputs(server: Server, text: str, *, limit: int, cursor: str | None) -> UsePage:
    """Datasets that a run wrote."""
    return server.get(f"/runs/{_escaped(text)}/outputs", UsePage, {"limit": limit, "cursor": cursor})


def intervals(
    server: Server,
    *,
    of: str | None = None,
    job: str | None = None,
    from_batch: int,
    limit: int,
    cursor: str | None,
) -> IntervalPage:
    """Micro-batches of a run, or of a job."""
    given = {"from_batch": from_batch, "limit": limit, "cursor": cursor}
    if of is not None:
        try:
            return server.get(f"/runs/{_escaped(of)}/intervals", IntervalPage, given)
        except NotFoundError:
            job = of
    return server.get(f"/jobs/{_escaped(job or '')}/intervals", IntervalPage, given)


def versions(server: Server, dataset: str, *, limit: int, cursor: str | None) -> VersionPage:
    """Versions of a dataset."""
    return server.get(f"/assets/{_escaped(dataset)}/versions", VersionPage, {"limit": limit, "cursor": cursor})


def last_good(server: Server, *, job: str | None, dataset: str | None) -> Turn:
    """Last good run and the first bad one after it."""
    of = f"assets/{_escaped(dataset or '')}" if job is None else f"jobs/{_escaped(job)}"
    return server.get(f"/{of}/last-good", Turn)


def _narrowed(
    *,
    states: Sequence[RunEventType] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    only: RunFilter = ALL_RUNS,
    limit: int,
    cursor: str | None,
) -> dict[str, Any]:
    return {
        "state": states,
        "since": since,
        "until": until,
        "where": only.where,
        "period": only.period,
        "statement": only.statement,
        "rejected": only.rejected,
        "limit": limit,
        "cursor": cursor,
    }


def _start(start: Starts) -> dict[str, Any]:
    """Parameters that name a start.

    Raises:
        InputError: a request can't name it.
    """
    match start:
        case Path():
            return {"path": start.path}
        case VersionOf():
            return {"dataset": start.dataset, "version": start.version, "format": start.format}
        case (Times() as time,):
            named = {"topic": time.topic, "partition": time.partition, "time": time.start, "until": time.end}
            return {**named, "read_time": time.read or None}
        case [*ranges] if all(isinstance(each, Offsets) for each in ranges):
            offsets = [each for each in ranges if isinstance(each, Offsets)]
            texts = [_range_text(each) for each in offsets]
            return {"topic": offsets[0].topic, "range": texts, "topic_id": offsets[0].topic_id}
    raise InputError("A server is asked for one span of time at once, without offsets beside it.")


def _range_text(records: Offsets) -> str:
    partition = "all" if records.partition is None else str(records.partition)
    return f"{partition}:{records.start}..{'' if records.end == MOST_OFFSET else records.end}"


def _hops(depth: int | None) -> int | str:
    return "all" if depth is None else depth


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def _escaped(name: str) -> str:
    return quote(name, safe="")
