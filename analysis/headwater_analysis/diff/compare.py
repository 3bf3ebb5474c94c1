"""Diff of lineage between two times, two runs, or two code versions of a job.

If both sides have the same plans, nothing differs, and no edge is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater_analysis import paging
from headwater_analysis.assets import Asset, column_asset, dataset_or_column, job_asset
from headwater_analysis.diff.changes import ColumnChange, DatasetChange, Diff, EdgeChange, Side
from headwater_analysis.diff.sides import JobSide, Point, job_of_run, job_side
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.lineage.hops import Transformation, transformation
from headwater_analysis.moments import moment
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset, resolve_job
from headwater_analysis.runs.records import Role
from headwater_analysis.schemas import DiffChange, SchemaAt, changes, schemas_at, schemas_by_digest
from headwater_graph.keys import column_key

if TYPE_CHECKING:
    from neo4j import Record

MOST_EDGES = 200_000
"""Maximum number of edges to compare, of one job's plans on both sides together."""


class Endpoints(NamedTuple):
    """Source and target of an edge, by keys."""

    source: str | None
    from_column: bool
    target: str
    into_column: bool
    dataset: str


class PlanEdge(NamedTuple):
    """An edge of a plan. If the text of its expression is unknown, `expression_id` is compared instead."""

    plan: str
    endpoints: Endpoints
    does: Transformation
    expression_id: str | None


class Compared(NamedTuple):
    """Endpoints of edges that differ between the sides, and the transformations on each side."""

    change: DiffChange
    endpoints: Endpoints
    before: tuple[Transformation, ...]
    after: tuple[Transformation, ...]


def compare_edges(tx: Transaction, job: str, before: JobSide, after: JobSide) -> tuple[list[Compared], bool]:
    """Compare two sides of a job; also return whether there were too many edges to compare all edges."""
    if before.holding == after.holding:
        return [], False
    plans = sorted({plan for plan, _ in before.holding | after.holding})
    rows = tx.rows("diff/edges", job=job, plans=plans, limit=MOST_EDGES)
    edges = [_edge(row) for row in rows]
    was, is_ = (
        [edge for edge in edges if (edge.plan, edge.endpoints.dataset) in side.holding] for side in (before, after)
    )
    return compared(was, is_), len(rows) >= MOST_EDGES


def compared(before: Iterable[PlanEdge], after: Iterable[PlanEdge]) -> list[Compared]:
    """Endpoints that exist on only one side, or whose transformations differ."""
    sides = _by_endpoints(before), _by_endpoints(after)
    out = []
    for endpoints in sides[0].keys() | sides[1].keys():
        was, is_ = sides[0].get(endpoints, {}), sides[1].get(endpoints, {})
        if was.keys() != is_.keys():
            change = DiffChange.CHANGED if was and is_ else DiffChange.ADDED if is_ else DiffChange.REMOVED
            out.append(Compared(change, endpoints, _sorted(was), _sorted(is_)))
    return out


def _by_endpoints(edges: Iterable[PlanEdge]) -> dict[Endpoints, dict[Any, Transformation]]:
    out: dict[Endpoints, dict[Any, Transformation]] = defaultdict(dict)
    for edge in edges:
        does = edge.does
        expression = does.expression or edge.expression_id or ""
        what = (does.type, does.kind, does.subtype or "", does.masking, expression)
        out[edge.endpoints][what] = does
    return out


def _sorted(what: Mapping[Any, Transformation]) -> tuple[Transformation, ...]:
    return tuple(does for _, does in sorted(what.items(), key=lambda each: each[0]))


def _edge(row: Record) -> PlanEdge:
    endpoints = Endpoints(row["source"], row["from_column"], row["target"], row["into_column"], row["dataset"])
    does = transformation(row, whole=not row["into_column"])
    return PlanEdge(row["plan"], endpoints, does, row["expression_id"])


MOST_JOBS = 200
"""Maximum number of jobs to compare."""
MOST_SHOWN = 1_000
"""Maximum number of changes to show: of datasets, and of columns in schemas."""
MOST_COLUMNS = 100_000
"""Maximum number of columns of schemas to compare."""


class _Found(NamedTuple):
    job: Asset
    before: JobSide
    after: JobSide
    edges: list[Compared]


class _Columns(NamedTuple):
    differing: list[ColumnChange]
    unknown: list[Asset]
    more: bool


def diff(
    reader: Reader,
    before: Point,
    after: Point,
    *,
    job: str | None = None,
    dataset: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Diff:
    """Return the differences of the later side from the earlier one.

    Args:
        job: job whose lineage is compared; not for runs, which have their own job.
        dataset: dataset whose lineage is compared, across all jobs that write it. Without job and dataset: all jobs
            that got a new plan between the two times.
        limit: maximum number of edges on a page.
        cursor: `next_cursor` of the page before.

    Raises:
        NotFoundError: no such job, dataset, run or code version.
        AmbiguousError: several jobs or datasets have this name.
        QuestionError: the sides can't be compared; the cursor belongs to another question.
    """
    if before.is_time != after.is_time:
        raise QuestionError("Compare two times, two runs or two code versions.", field="after")
    if job is not None and dataset is not None:
        raise QuestionError("Name a job or a dataset, not both.", field="dataset")

    def question(tx: Transaction) -> Diff:
        jobs, asset = _scope(tx, before, after, job, dataset)
        # Keys of the dataset under all its names.
        names = None if asset is None else frozenset(Identities.of(tx).members(asset.key))
        truncated = len(jobs) > MOST_JOBS
        found: list[_Found] = []
        for each in jobs[:MOST_JOBS]:
            sides = job_side(tx, each.key, before), job_side(tx, each.key, after)
            edges, more = compare_edges(tx, each.key, *sides)
            truncated |= more
            own = [edge for edge in edges if names is None or edge.endpoints.dataset in names]
            found.append(_Found(each, *sides, own))
        datasets = sorted(_datasets(found), key=lambda one: (one.job.spelling, one.role, one.dataset.spelling))
        columns, unknown, more = _columns(tx, found, names)
        edges_total, page, following = _page(tx, found)
        return Diff(
            before=_side(before, [each.before for each in found]),
            after=_side(after, [each.after for each in found]),
            jobs=tuple(jobs[:MOST_JOBS]),
            datasets=tuple(datasets[:MOST_SHOWN]),
            columns=tuple(columns[:MOST_SHOWN]),
            unknown_schemas=tuple(unknown[:MOST_SHOWN]),
            edges=page,
            datasets_total=len(datasets),
            columns_total=len(columns),
            edges_total=edges_total,
            truncated=truncated or more,
            next_cursor=following,
        )

    def _page(tx: Transaction, found: Iterable[_Found]) -> tuple[int, tuple[EdgeChange, ...], str | None]:
        asked = ("diff", tx.tenant, before, after, job, dataset)
        start = paging.decode_start(cursor, question=asked)
        changes = [(each.job, edge) for each in found for edge in each.edges]
        assets = _assets(tx, [edge for _, edge in changes])
        shown = [_shown(job_, edge, assets) for job_, edge in changes]
        shown.sort(key=lambda one: (one.target.spelling, one.source.spelling if one.source else "", one.job.key))
        end = start + limit
        return len(shown), tuple(shown[start:end]), paging.encode((end,), question=asked) if end < len(shown) else None

    return reader.read(question)


def _scope(
    tx: Transaction, before: Point, after: Point, job: str | None, dataset: str | None
) -> tuple[list[Asset], Asset | None]:
    """Jobs whose lineage is compared, and the dataset of the question."""
    if job is not None:
        return [resolve_job(tx, job).asset], None
    if dataset is not None:
        if not before.is_time:
            raise QuestionError("For a dataset, compare two times.", field="dataset")
        asset = resolve_dataset(tx, dataset).asset
        rows = tx.rows("diff/writers", datasets=Identities.of(tx).members(asset.key), limit=MOST_JOBS + 1)
        return [job_asset(row["job"]) for row in rows], asset
    if before.run is not None and after.run is not None:
        jobs = {asset.key: asset for asset in (job_of_run(tx, before.run), job_of_run(tx, after.run))}
        if len(jobs) > 1:
            raise QuestionError("The two runs are of different jobs.", field="after")
        return list(jobs.values()), None
    if not before.is_time:
        raise QuestionError("Name the job whose code versions are compared.", field="job")
    if before.time is None:
        raise QuestionError("To compare all jobs, give the earlier time.", field="before")
    until = after.time if after.time is not None else before.time.replace(year=9999)
    rows = tx.rows(
        "diff/changed_jobs", since=min(before.time, until), until=max(before.time, until), limit=MOST_JOBS + 1
    )
    return [job_asset(row["job"]) for row in rows], None


def _datasets(found: Iterable[_Found]) -> list[DatasetChange]:
    out = []
    for each in found:
        was, is_ = each.before.datasets, each.after.datasets
        out += [DatasetChange(DiffChange.REMOVED, each.job, who[0], was[who]) for who in was.keys() - is_.keys()]
        out += [DatasetChange(DiffChange.ADDED, each.job, who[0], is_[who]) for who in is_.keys() - was.keys()]
    return out


def _columns(tx: Transaction, found: list[_Found], names: frozenset[str] | None) -> _Columns:
    """Changes of columns in the schemas of the datasets `names`; None: of all datasets that the jobs read or write."""
    keys = names or {key for each in found for side in (each.before, each.after) for _, key in side.datasets}
    if not found or not keys:
        return _Columns([], [], more=False)
    start, end = found[0].before.time, found[0].after.time
    out, compared_keys, unknown = _used(tx, found)
    left = keys - compared_keys
    rows = tx.rows("diff/columns", datasets=sorted(left), limit=MOST_COLUMNS) if left else []
    for row in rows:
        first, last = moment(row["first_seen"]), moment(row["last_seen"])
        was, is_ = _in_schema(first, last, start), _in_schema(first, last, end)
        if was != is_:
            change = DiffChange.ADDED if is_ else DiffChange.REMOVED
            out.append(ColumnChange(change, column_asset(row["dataset"], row["column"]), first if is_ else last))
    if left:
        before, after = schemas_at(tx, left, start), schemas_at(tx, left, end)
        for key in before.keys() & after.keys():
            differing = _between(tx, key, before[key], after[key])
            out += [each for each in differing if each.change is DiffChange.CHANGED]
    out.sort(key=lambda one: (one.column.spelling, one.change))
    return _Columns(out, unknown, more=len(rows) >= MOST_COLUMNS)


def _used(tx: Transaction, found: Iterable[_Found]) -> tuple[list[ColumnChange], set[str], list[Asset]]:
    """Compare the schemas that uses name on both sides. Returns changes, keys of compared datasets, unknown schemas."""
    both = [(each, who) for each in found for who in each.before.schemas.keys() & each.after.schemas.keys()]
    pairs = {(role, key): (each.before.schemas[role, key], each.after.schemas[role, key]) for each, (role, key) in both}
    differing = {who: digests for who, digests in pairs.items() if digests[0] != digests[1]}
    schemas = schemas_by_digest(tx, ((key, digest) for (_, key), digests in differing.items() for digest in digests))
    changed: dict[tuple[Any, ...], tuple[ColumnChange, list[Role]]] = {}
    unknown: set[tuple[Role, str]] = set()
    for (role, key), digests in sorted(differing.items()):
        was, is_ = (schemas.get((key, digest)) for digest in digests)
        if was is None or is_ is None:
            unknown.add((role, key))
            continue
        for each in _between(tx, key, was, is_):
            what = (each.column.key, each.change, each.before, each.after)
            changed.setdefault(what, (each, []))[1].append(role)
    compared_keys = {key for role, key in pairs if (role, key) not in unknown}
    assets = {each.after.datasets[who].key: each.after.datasets[who] for each, who in both if who in unknown}
    out = [replace(each, roles=tuple(roles)) for each, roles in changed.values()]
    return out, compared_keys, sorted(assets.values(), key=lambda asset: asset.spelling)


def _between(tx: Transaction, key: str, was: SchemaAt, is_: SchemaAt) -> Iterator[ColumnChange]:
    """Changes between two schemas of the dataset with this key."""
    for each in changes(was.fields, is_.fields):
        stated = each.after or each.before
        path = each.column
        column = {"key": column_key(tx.tenant, key, path), "name": path, "data_type": stated.type if stated else None}
        asset = column_asset(is_.dataset, column)
        if each.change is DiffChange.CHANGED:
            yield ColumnChange(each.change, asset, is_.since, each.before, each.after)
        else:
            yield ColumnChange(each.change, asset, is_.since if each.change is DiffChange.ADDED else was.until)


def _in_schema(first: datetime | None, last: datetime | None, time: datetime | None) -> bool:
    """Return whether a column was in its schema at a time. `last` is None for a current column."""
    if time is None:
        return last is None
    return first is not None and first <= time and (last is None or last >= time)


def _side(point: Point, sides: list[JobSide]) -> Side:
    plans = {plan.digest: plan.complete for side in sides for plan in side.plans.values()}
    time = point.time if point.is_time else sides[0].time
    return Side(time, point.run, point.code_version, tuple(sorted(plans)), not all(plans.values()))


def _assets(tx: Transaction, edges: Iterable[Compared]) -> dict[str, Asset]:
    columns: set[str] = set()
    datasets: set[str] = set()
    for edge in edges:
        (columns if edge.endpoints.into_column else datasets).add(edge.endpoints.target)
        if edge.endpoints.source is not None:
            (columns if edge.endpoints.from_column else datasets).add(edge.endpoints.source)
    if not columns and not datasets:
        return {}
    return {
        row["key"]: dataset_or_column(row["dataset"], row["column"])
        for row in tx.rows("diff/assets", columns=sorted(columns), datasets=sorted(datasets))
    }


def _shown(job: Asset, edge: Compared, assets: dict[str, Asset]) -> EdgeChange:
    source = assets[edge.endpoints.source] if edge.endpoints.source is not None else None
    return EdgeChange(edge.change, job, source, assets[edge.endpoints.target], edge.before, edge.after)
