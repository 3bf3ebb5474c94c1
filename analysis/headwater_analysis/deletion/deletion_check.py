"""Question whether a dataset, or one of its versions, may be deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from headwater_analysis.amounts import first_of
from headwater_analysis.assets import Asset, job_asset
from headwater_analysis.declared import Declared, consumers_of_datasets, declared
from headwater_analysis.declared.merge import MARKS
from headwater_analysis.deletion.verdict import HeldMark, MayDelete, NeedingJob, NeedingQuery, Verdict
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.known.tags_and_uses import JobUse, job_uses
from headwater_analysis.moments import moment
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import FoundNode, resolve_dataset
from headwater_analysis.walk import Walk, WalkStep, walk
from headwater_graph.keys import job_key
from headwater_schemas.events import MarkSpread
from headwater_schemas.reasons import leaves_inputs_known

HOLDING: Final = frozenset({"critical", "legal-hold"})
"""Marks that forbid deletion."""
TEST: Final = "test"
"""Mark of test data. A job that writes only test data doesn't need its inputs."""
_STATEMENTS: Final = {MarkSpread.DOWNSTREAM: "deletion/upstream", MarkSpread.UPSTREAM: "deletion/downstream"}
"""Name of the statement that finds the datasets from which a mark reaches a dataset, by the mark's spread."""
_MOST_JOBS: Final = 1_000


@dataclass(frozen=True, slots=True)
class DeletionQuestion:
    """Dataset or version to delete, and conditions that forbid its deletion.

    Attributes:
        dataset: name of the dataset.
        version: version, or a prefix of a version; None: the whole dataset.
        since: a job needs the dataset if it was observed to read it at this time or later.
        holding: marks that forbid deletion.
        incomplete: whether incomplete lineage is accepted.
    """

    dataset: str
    since: datetime
    version: str | None = None
    holding: frozenset[str] = field(default=HOLDING)
    incomplete: bool = False


def may_delete(reader: Reader, question: DeletionQuestion) -> MayDelete:
    """Return whether a dataset, or one of its versions, may be deleted, and by which dependants it is still needed.

    Raises:
        NotFoundError: no such dataset or version.
        AmbiguousError: several datasets or versions have this name.
        QuestionError: a field of the question makes no sense.
        TimeLimitError, GraphUnreachableError, GraphRefusedError: as `Reader.read`.
    """
    if question.version == "":
        raise QuestionError("Give the name of a version.", field="version")
    return reader.read(lambda tx: _answer(tx, question))


def _answer(tx: Transaction, question: DeletionQuestion) -> MayDelete:
    found = resolve_dataset(tx, question.dataset)
    names = Identities.of(tx).members(found.asset.key)
    version = None if question.version is None else _version(tx, found.asset, names, question.version)
    is_newest = version is None or not version["superseded"]
    lineage = _LineageHops(tx, found)
    marks = _marks(tx, lineage, names, None if version is None else version["version"]["version"], question.holding)
    uses = job_uses(tx, tx.rows("known/jobs_of_dataset", keys=names, link="READS", most=_MOST_JOBS))
    writers = job_uses(tx, tx.rows("known/jobs_of_dataset", keys=names, link="WRITES", most=_MOST_JOBS))
    read = uses if version is None or is_newest else _readers_of(tx, version)
    jobs = _needing(tx, read, question.since)
    queries = tuple(_queries(tx, names)) if is_newest else ()
    consumers = consumers_of_datasets(tx, names) if is_newest else ()
    may_read = _MayRead(tx, [*names, *lineage.keys(MarkSpread.UPSTREAM)], question.since)
    unknown = tuple(_unknown(tx, found.asset, [*uses, *writers], len(uses), may_read))
    needed = any(mark.holds for mark in marks) or any(job.needs for job in jobs) or bool(queries or consumers)
    verdict = Verdict.NO if needed else Verdict.UNKNOWN if unknown and not question.incomplete else Verdict.YES
    return MayDelete(
        dataset=found.asset,
        version=None if version is None else version["version"]["version"],
        newest=is_newest,
        verdict=verdict,
        marks=marks,
        jobs=jobs,
        jobs_total=len(jobs),
        queries=queries,
        consumers=consumers,
        unknown=unknown,
        notes=tuple(may_read.notes()),
        since=question.since,
    )


def _version(tx: Transaction, dataset: Asset, names: Sequence[str], version: str) -> Mapping[str, Any]:
    rows = tx.rows("deletion/versions", keys=names, version=version, most=20)
    exact = [row for row in rows if row["version"]["version"] == version]
    found = exact or rows
    if not found:
        raise NotFoundError(f"No run is known to have read or written version {version!r} of {dataset.spelling}.")
    if len(found) > 1:
        raise AmbiguousError(
            f"Several versions of {dataset.spelling} begin with {version!r}: give more of it.",
            candidates=[row["version"]["version"] for row in found],
        )
    return found[0]


class _LineageHops:
    """Datasets upstream and downstream of a dataset, at any distance."""

    def __init__(self, tx: Transaction, found: FoundNode) -> None:
        self._tx = tx
        self.asset = found.asset
        self._hops: dict[MarkSpread, dict[str, int]] = {}
        for spread, statement in _STATEMENTS.items():
            walked = _reached(tx, [found.id], statement)
            nodes, keys = tx.one("lineage/written", nodes=sorted(walked.found)).values()
            members = Identities.of(tx).members
            self._hops[spread] = {
                name: walked.found[node].hops for node, key in zip(nodes, keys, strict=True) for name in members(key)
            }

    def keys(self, spread: MarkSpread) -> list[str]:
        """Keys, under all names, of the datasets from which a mark with this spread reaches the dataset."""
        return sorted(self._hops[spread])

    def hops(self, spread: MarkSpread, key: str) -> int:
        """Hops to one of these datasets."""
        return self._hops[spread][key]


def _marks(
    tx: Transaction, lineage: _LineageHops, names: Sequence[str], version: str | None, holding: frozenset[str]
) -> tuple[HeldMark, ...]:
    """Own marks of a dataset, marks of upstream datasets that spread downstream, and vice versa."""
    out = []
    for mark, of_version, spread, reason in _rows(declared(tx, names).values()):
        if version is None or of_version in ("", version):
            held = HeldMark(
                mark, lineage.asset, of_version or None, MarkSpread.NONE, 0, reason or None, mark in holding
            )
            out.append((held, spread))
    every = [held for held, _ in out]
    for spreading in _STATEMENTS:
        for name, known in declared(tx, lineage.keys(spreading)).items():
            for mark, of_version, spread, reason in _rows([known]):
                if spread == spreading.value:
                    of, hops = resolve_dataset(tx, name).asset, lineage.hops(spreading, name)
                    held = HeldMark(mark, of, of_version or None, spreading, hops, reason or None, mark in holding)
                    every.append(held)
    return tuple(
        sorted(every, key=lambda each: (not each.holds, each.hops, each.mark, each.of.key, each.version or ""))
    )


def _rows(known: Iterable[Declared]) -> Iterator[tuple[str, str, str, str]]:
    for each in known:
        yield from zip(*(each.values.get(name, ()) for name in MARKS), strict=True)


def _reached(tx: Transaction, starts: Iterable[int], statement: str) -> Walk[int]:
    identities = Identities.of(tx)

    def expand(frontier: Sequence[int]) -> Iterator[WalkStep[int]]:
        identities.learn(frontier)
        asked, found, edges = tx.one(statement, nodes=identities.expanded(frontier)).values()
        for number, source, target in identities.hops(frontier, asked, found, edges):
            yield WalkStep(source, target, edges[number])

    return walk(starts, expand, depth=None)


def _needing(tx: Transaction, uses: Sequence[JobUse], since: datetime) -> tuple[NeedingJob, ...]:
    rows = tx.rows("deletion/outputs", jobs=[use.job.key for use in uses])
    outputs = {row["job"]: [key for key, _ in row["datasets"]] for row in rows}
    tests = _tests(tx, {key: node for row in rows for key, node in row["datasets"]})
    made = []
    for use in uses:
        written = outputs.get(use.job.key, [])
        is_test = bool(written) and all(key in tests for key in written)
        is_lately = use.declared or use.last_seen is None or use.last_seen >= since
        made.append(NeedingJob(use.job, use.last_seen, use.declared, is_lately and not is_test, is_test))
    return tuple(sorted(made, key=lambda each: (not each.needs, each.job.namespace, each.job.name)))


def _tests(tx: Transaction, datasets: Mapping[str, int]) -> set[str]:
    """Keys of datasets with a mark `test`, declared for the dataset or spread to it from another dataset."""
    if not datasets or not tx.declarations:
        return set()
    identities = Identities.of(tx)
    identities.learn(datasets.values())
    shown = {key: identities.shown_node(node) for key, node in datasets.items()}
    found = {key for key in datasets if _has_test(declared(tx, identities.members(key)).values())}
    for spread, statement in _STATEMENTS.items():
        # First find the datasets that may declare such a mark, then the datasets that receive the mark.
        near = {*shown.values(), *_reached(tx, shown.values(), statement).found}
        nodes, keys = tx.one("lineage/written", nodes=sorted(near)).values()
        under = {name: node for node, key in zip(nodes, keys, strict=True) for name in identities.members(key)}
        known = declared(tx, sorted(under))
        marked = {under[name] for name, each in known.items() if _has_test([each], spread)}
        (back,) = (each for direction, each in _STATEMENTS.items() if direction is not spread)
        reached = _reached(tx, sorted(marked), back).found if marked else {}
        found |= {key for key, node in shown.items() if node in reached}
    return found


def _has_test(known: Iterable[Declared], spread: MarkSpread | None = None) -> bool:
    """Return whether a whole dataset has a mark `test`; with `spread`, only marks with this spread count."""
    return any(
        mark == TEST and not version and (spread is None or direction == spread.value)
        for mark, version, direction, _ in _rows(known)
    )


def _readers_of(tx: Transaction, version: Mapping[str, Any]) -> tuple[JobUse, ...]:
    out = []
    for row in (*version["runs"], *version["batches"]):
        key = job_key(tx.tenant, row["namespace"], row["name"])
        job = job_asset({"key": key, "namespace": row["namespace"], "name": row["name"]})
        at = moment(row["at"])
        out.append(JobUse(job, (), observed=True, declared=False, first_seen=at, last_seen=at))
    return tuple(out)


def _queries(tx: Transaction, names: Sequence[str]) -> Iterator[NeedingQuery]:
    for row in tx.rows("deletion/queries", keys=names):
        job = None if row["job"] is None else job_asset(row["job"])
        yield NeedingQuery(row["query_id"], row["query_name"], job, row["checkpoint"], moment(row["last_seen"]))


class _MayRead:
    """Jobs with incomplete column lineage, grouped by their relation to a dataset that they may read.

    Args:
        near: keys of the dataset and of all datasets derived from it, under all their names.
        since: plans that were active at this time or later count; so does the latest plan of each job.
    """

    def __init__(self, tx: Transaction, near: Sequence[str], since: datetime) -> None:
        self.unknown_inputs: list[Asset] = []
        """Jobs with unknown inputs."""
        self.near: list[Asset] = []
        """Jobs that touch the dataset, or datasets derived from it."""
        self.far: list[Asset] = []
        """All other jobs: their inputs are known and don't include the dataset."""
        for row in tx.rows("deletion/incomplete", near=sorted(set(near)), since=since):
            inputs_known = row["reads"] and all(map(leaves_inputs_known, row["reasons"]))
            jobs = self.near if row["near"] else self.far if inputs_known else self.unknown_inputs
            jobs.append(job_asset(row["job"]))

    def unknown(self) -> Iterator[str]:
        """Gaps that keep the verdict open, as sentences."""
        if self.unknown_inputs:
            yield (
                f"{_jobs(self.unknown_inputs, 'has', 'have')} unknown inputs and may read it, too: "
                f"{_named(self.unknown_inputs)}."
            )
        if self.near:
            yield (
                f"{_jobs(self.near, 'that uses', 'that use')} it or data derived from it may also read it in other "
                f"ways (incomplete column lineage): {_named(self.near)}."
            )

    def notes(self) -> Iterator[str]:
        """Gaps that don't change the verdict."""
        if self.far:
            yield (
                f"{_jobs(self.far, 'has', 'have')} incomplete column lineage, but known inputs, which don't include "
                f"this dataset: {_named(self.far)}."
            )


def _jobs(jobs: Sequence[Asset], one: str, several: str) -> str:
    return f"1 job {one}" if len(jobs) == 1 else f"{len(jobs):,} jobs {several}"


def _named(jobs: Sequence[Asset]) -> str:
    return first_of(job.spelling for job in jobs)


def _unknown(
    tx: Transaction, dataset: Asset, uses: Sequence[JobUse], readers: int, may_read: _MayRead
) -> Iterator[str]:
    """Gaps in the lineage of a dataset without known dependants, and events that the graph doesn't have yet."""
    if not any(use.observed for use in uses):
        yield f"No event reports a job that reads or writes {dataset.spelling}: its users aren't captured."
    if readers == _MOST_JOBS:
        yield f"It has {_MOST_JOBS:,} readers or more: only the latest {_MOST_JOBS:,} were checked."
    yield from may_read.unknown()
    if tx.freshness.stale is not None:
        yield f"The graph is stale: {tx.freshness.stale}."
