"""Lists of the estate: datasets, jobs, consumers, runs, and broken chains of micro-batches.

Each page is read from an index. A page's cost depends on its rows and on filtered-out rows, not on the estate's size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from headwater_analysis import micro_batches, paging
from headwater_analysis.assets import Asset, dataset_asset, job_asset
from headwater_analysis.declared import Declared, declared, declared_of_datasets
from headwater_analysis.errors import QuestionError
from headwater_analysis.identity import Identities, several_names
from headwater_analysis.known.consumer import ConsumerName
from headwater_analysis.known.tags_and_uses import AssetTag, tags_of
from headwater_analysis.micro_batches import Stretch
from headwater_analysis.moments import moment
from headwater_analysis.owners import OwnerName, owners_of
from headwater_analysis.paging import Page, check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.runs.from_rows import job_of, joints, run_items
from headwater_analysis.runs.records import Joint, RunItem
from headwater_analysis.runs.run_filter import ALL_RUNS, RunFilter
from headwater_graph.facts.nodes import IntervalFacts
from headwater_schemas.events import RunEventType

_T = TypeVar("_T")
_FAR = datetime(9999, 1, 1, tzinfo=UTC)
_OPEN = frozenset(state.value for state in RunEventType if not state.is_terminal)


@dataclass(frozen=True, slots=True)
class ListedDataset:
    """A dataset, in a list.

    Attributes:
        asset: the dataset.
        owners: owners under any of its names: reported by events, then declared.
        tags: tags of the dataset and its columns under any of its names: reported by events, then declared.
        classification, criticality: reported by events under any of its names, else declared.
        gone: whether the dataset was dropped.
    """

    asset: Asset
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    classification: str | None
    criticality: str | None
    gone: bool


@dataclass(frozen=True, slots=True)
class DatasetList(Page):
    """Datasets, in order of key: an arbitrary but stable order."""

    items: tuple[ListedDataset, ...]


@dataclass(frozen=True, slots=True)
class ListedJob:
    """A job, in a list.

    Attributes:
        asset: the job.
        owners: owners, reported by events, then declared.
        tags: tags, reported by events, then declared.
        criticality: declared criticality.
        first_seen, last_seen: the span in which it was observed.
    """

    asset: Asset
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    criticality: str | None
    first_seen: datetime | None
    last_seen: datetime | None


@dataclass(frozen=True, slots=True)
class JobList(Page):
    """Jobs, in order of key: an arbitrary but stable order."""

    items: tuple[ListedJob, ...]


@dataclass(frozen=True, slots=True)
class ListedConsumer:
    """A consumer, in a list. If declaration sets contradict each other, the first set's value is shown.

    Attributes:
        consumer: the consumer.
        owners: owners of the consumer.
        tags: tags of the consumer.
        criticality: declared criticality.
        on_call: channel of the people on call.
        contact: address for questions.
    """

    consumer: ConsumerName
    owners: tuple[OwnerName, ...]
    tags: tuple[AssetTag, ...]
    criticality: str | None
    on_call: str | None
    contact: str | None


@dataclass(frozen=True, slots=True)
class ConsumerList(Page):
    """Declared consumers, in order of key: an arbitrary but stable order."""

    items: tuple[ListedConsumer, ...]


@dataclass(frozen=True, slots=True)
class RunList(Page):
    """Runs of all jobs, the latest seen first."""

    items: tuple[RunItem, ...]


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """Two neighbouring micro-batches of a query with missing batches, a gap or an overlap between them.

    Attributes:
        query_id: Spark's id of the query.
        query_name: name of the query, if any.
        job: job of the query; None if unknown.
        after_batch: batch before the fault.
        before_batch: batch after the fault.
        at: processing time of the batch after the fault, if observed.
        missing: number of missing batch ids between `after_batch` and `before_batch`.
        gaps: offsets that neither of these two micro-batches read.
        overlaps: offsets that both micro-batches read.
    """

    query_id: str
    query_name: str | None
    job: Asset | None
    after_batch: int
    before_batch: int
    at: datetime | None
    missing: int
    gaps: tuple[Joint, ...]
    overlaps: tuple[Joint, ...]


@dataclass(frozen=True, slots=True)
class BrokenChainPage(Page):
    """Broken chains, query by query, each in order of its batches."""

    items: tuple[BrokenChain, ...]


def datasets(
    reader: Reader,
    *,
    namespaces: Sequence[str] = (),
    types: Sequence[str] = (),
    owner: str | None = None,
    tag: str | None = None,
    gone: bool | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> DatasetList:
    """List the datasets that pass all given filters.

    Args:
        namespaces: datasets in one of these namespaces.
        types: datasets of one of these types: TOPIC, FILE, TABLE …
        owner: exactly this owner, reported or declared, under any of the dataset's names.
        tag: exactly `key`, or `key=value`, reported or declared, of the dataset or one of its columns, under any of its
            names.
        gone: True for only dropped datasets, False for only existing ones; None: both.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, or the limit isn't from 1 to 1,000.
    """
    filters = {**_among(namespaces, types), **_tagged(owner, tag), "gone": gone}
    return DatasetList(*_page(reader, "datasets", filters, limit, cursor, _dataset))


def jobs(
    reader: Reader,
    *,
    namespaces: Sequence[str] = (),
    types: Sequence[str] = (),
    owner: str | None = None,
    tag: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> JobList:
    """List the jobs that pass all given filters.

    Args:
        namespaces: jobs in one of these namespaces.
        types: jobs of one of these processing types: BATCH, STREAMING.
        owner: exactly this owner, reported or declared.
        tag: exactly `key`, or `key=value`.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, or the limit isn't from 1 to 1,000.
    """
    filters = {**_among(namespaces, types), **_tagged(owner, tag)}
    return JobList(*_page(reader, "jobs", filters, limit, cursor, _job))


def consumers(
    reader: Reader,
    *,
    types: Sequence[str] = (),
    owner: str | None = None,
    tag: str | None = None,
    limit: int = 20,
    cursor: str | None = None,
) -> ConsumerList:
    """List the declared consumers that pass all given filters.

    Args:
        types: consumers of one of these types: DASHBOARD, REPORT, API …
        owner: exactly this owner.
        tag: exactly `key`, or `key=value`.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, or the limit isn't from 1 to 1,000.
    """
    filters = {"types": list(types) or None, **_tagged(owner, tag)}
    return ConsumerList(*_page(reader, "consumers", filters, limit, cursor, _consumer))


def estate_runs(
    reader: Reader,
    *,
    states: Sequence[RunEventType] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    only: RunFilter = ALL_RUNS,
    limit: int = 20,
    cursor: str | None = None,
) -> RunList:
    """List runs of all jobs, the last seen first: `states=[FAIL, ABORT]` lists failed runs.

    A run that is only known as another run's parent isn't listed, because it has no event of its own.

    Args:
        states: only runs in one of these states.
        since: only runs that were last seen at this time or later.
        until: only runs that were last seen before this time.
        only: only runs that match this filter.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, `since` isn't before `until`, a condition of `only` is
            ill-formed, or the limit isn't from 1 to 1,000.
    """
    check_limit(limit)
    narrowed = only.parameters()
    if since is not None and until is not None and since >= until:
        raise QuestionError("`since` isn't before `until`.", field="since")
    wanted = sorted(state.value for state in states or RunEventType)
    asked = ("estate runs", reader.tenant, wanted, since, until, narrowed)
    at, key = paging.decode_moment(cursor, question=asked)

    def question(tx: Transaction) -> RunList:
        # A run with an inferred end is shown as ended, but stored with the last reported state.
        stored = sorted({*wanted, *_OPEN}) if RunEventType.ABORT.value in wanted else wanted
        span: dict[str, Any] = {"states": stored, "shown": wanted, "since": since, "until": until, **narrowed}
        total = tx.one("known/count_runs", **span)["total"]
        rows = tx.rows("known/runs", **span, at=at or _FAR, key=key, limit=limit + 1)
        by_state: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows:
            by_state.setdefault(row["stored"], []).append(row["run"])
        found = list(islice(merge(*by_state.values(), key=_seen, reverse=True), limit + 1))
        shown = found[:limit]
        following = (
            paging.encode_moment(moment(shown[-1]["last_seen"]), shown[-1]["key"], question=asked)
            if found[limit:]
            else None
        )
        return RunList(tuple(run_items(tx, shown)), total, following)

    return reader.read(question)


def broken_chains(reader: Reader, *, limit: int = 20, cursor: str | None = None) -> BrokenChainPage:
    """List broken chains of all queries: missing micro-batches, gaps of offsets, and overlaps of offsets.

    Args:
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, or the limit isn't from 1 to 1,000.
    """
    check_limit(limit)
    asked = ("broken chains", reader.tenant)
    query, batch = paging.decode(cursor, question=asked, kinds=(str, int)) if cursor is not None else ("", -1)

    def question(tx: Transaction) -> BrokenChainPage:
        total = tx.one("known/count_broken_chains")["total"]
        rows = tx.rows("known/broken_chains", after=query, batch=batch, limit=limit + 1)
        following = None
        if rows[limit:]:
            last = rows[limit - 1]
            following = paging.encode((last["query"]["key"], last["batch"]), question=asked)
        shown = rows[:limit]
        # Each row's micro-batch, and the micro-batch before it.
        pairs = micro_batches.preceding(tx, [Stretch(row["query"]["key"], last=row["batch"]) for row in shown], 2)
        return BrokenChainPage(
            tuple(_broken(tx.tenant, row, *pair) for row, pair in zip(shown, pairs, strict=True)), total, following
        )

    return reader.read(question)


def _among(namespaces: Sequence[str], types: Sequence[str]) -> dict[str, Any]:
    return {"namespaces": list(namespaces) or None, "types": list(types) or None}


class _Listed(NamedTuple):
    """A node of a page, with its other names and declarations.

    Attributes:
        others: properties of a dataset's nodes under its other names.
        declared: declarations of the asset; for a dataset, under any of its names.
    """

    own: Mapping[str, Any]
    others: Sequence[Mapping[str, Any]]
    declared: Declared

    @property
    def owners(self) -> tuple[OwnerName, ...]:
        """Owners: reported by events, then declared."""
        rows = (self.own, *self.others, self.declared.values)
        return tuple(dict.fromkeys(owner for row in rows for owner in owners_of(row)))

    @property
    def tags(self) -> tuple[AssetTag, ...]:
        """Tags: reported by events, then declared."""
        reported = [tag for row in (self.own, *self.others) for tag in tags_of(row)]
        return tuple(dict.fromkeys((*reported, *(AssetTag(*tag) for tag in self.declared.tags()))))

    def stated(self, name: str) -> Any:
        """Return a property: reported by events, else declared."""
        reported = (row.get(name) for row in (self.own, *self.others))
        return next(filter(None, reported), None) or self.declared.values.get(name)


def _page(
    reader: Reader,
    name: str,
    filters: Mapping[str, Any],
    limit: int,
    cursor: str | None,
    item: Callable[[_Listed], _T],
) -> tuple[tuple[_T, ...], int, str | None]:
    """A page of datasets, jobs or consumers."""
    of_datasets = name == "datasets"
    labelled = partial(_labelled_under_any_name, filters=filters) if of_datasets else None
    rows, total, following = paging.page_by_key(reader, "known", name, filters, limit, cursor, labelled)
    keys = [row["key"] for row in rows]

    def question(tx: Transaction) -> tuple[Mapping[str, Declared], Mapping[str, Sequence[Mapping[str, Any]]]]:
        if of_datasets:
            return declared_of_datasets(tx, keys), _under_other_names(tx, keys)
        return declared(tx, keys) if tx.declarations else {}, {}

    stated, others = reader.read(question) if keys else ({}, {})
    listed = (_Listed(row, others.get(row["key"], ()), stated.get(row["key"]) or Declared()) for row in rows)
    return tuple(item(each) for each in listed), total, following


def _dataset(listed: _Listed) -> ListedDataset:
    classification, criticality = listed.stated("classification"), listed.stated("criticality")
    asset, gone = dataset_asset(listed.own), bool(listed.own["dropped"])
    return ListedDataset(asset, listed.owners, listed.tags, classification, criticality, gone)


def _job(listed: _Listed) -> ListedJob:
    seen = (moment(listed.own[name]) for name in ("first_seen", "last_seen"))
    return ListedJob(job_asset(listed.own), listed.owners, listed.tags, listed.stated("criticality"), *seen)


def _consumer(listed: _Listed) -> ListedConsumer:
    own = listed.declared.values
    reached = (own.get(name) for name in ("criticality", "on_call", "contact"))
    consumer = ConsumerName(listed.own["key"], listed.own["name"], own.get("type"))
    return ListedConsumer(consumer, listed.owners, listed.tags, *reached)


def _labelled_under_any_name(tx: Transaction, filters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Keys of datasets with several names that have the filters' owner or tag under any of these names."""
    wanted = {name: filters[name] for name in ("owner", "tag", "value")}
    names = several_names(tx) if any(wanted.values()) else {}
    found = tx.one("known/labelled", keys=sorted(names), **wanted) if names else {"owned": (), "tagged": ()}
    return {name: sorted({each for key in found[name] for each in names[key]}) for name in ("owned", "tagged")}


def _under_other_names(tx: Transaction, keys: Sequence[str]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    """Reported labels of datasets under their other names, by key."""
    identities = Identities.of(tx)
    identities.look_at(keys)
    others = {key: [each for each in identities.members(key) if each != key] for key in keys}
    asked = sorted({each for some in others.values() for each in some})
    found = {row["key"]: row for row in (tx.rows("known/labels", keys=asked) if asked else ())}
    return {key: [found[each] for each in some if each in found] for key, some in others.items()}


def _tagged(owner: str | None, tag: str | None) -> dict[str, str | None]:
    key, equals, value = (tag or "").partition("=")
    return {"owner": owner, "tag": key or None, "value": value if equals else None}


def _seen(run: Mapping[str, Any]) -> tuple[Any, str]:
    return run["last_seen"], run["key"]


def _broken(tenant: str, row: Mapping[str, Any], later: IntervalFacts, earlier: IntervalFacts) -> BrokenChain:
    query = row["query"]
    fault = micro_batches.joint(earlier, later) or {}
    missing = fault.get("missing", 0)
    return BrokenChain(
        query["query_id"],
        query["query_name"],
        job_of(tenant, row["job"]["namespace"], row["job"]["name"], "STREAMING") if row["job"] else None,
        earlier.batch_id,
        later.batch_id,
        micro_batches.row(later)["properties"].get("processing_time"),
        missing if isinstance(missing, int) else 0,
        joints(fault, "gap"),
        joints(fault, "overlap"),
    )
