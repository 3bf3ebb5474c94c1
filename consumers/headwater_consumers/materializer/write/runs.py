"""Runs with what leaves them: OF, IN_QUERY, CHILD_OF, CONSUMED, PRODUCED, READ, WROTE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.graph import keys
from headwater_consumers.graph.derive import run_links
from headwater_consumers.graph.model import Label
from headwater_consumers.materializer.fold.facts import Link, RunFacts, Span, Use
from headwater_consumers.materializer.fold.uses import versions_used
from headwater_consumers.materializer.write.bolt import from_bolt, to_bolt
from headwater_consumers.materializer.write.links import JobName, job_name
from headwater_consumers.materializer.write.state import (
    batch_changes,
    created,
    node_changes,
    read_node,
    read_uses,
    use_row,
)
from headwater_consumers.materializer.write.transaction import Index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater_consumers.materializer.fold.delta import GraphDelta
    from headwater_consumers.materializer.fold.registers import Registers
    from headwater_consumers.materializer.write.transaction import Transaction


class _Rows:
    """Rows of runs, and the hot nodes that they refer to."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._indexes = {"jobs": Index(), "queries": Index(), "datasets": Index(), "versions": Index()}

    def add(self, run: RunFacts, properties: dict[str, Any], uses: dict[Use, Registers], stamp: str | None) -> None:
        tenant, key = str(run.identity["tenant"]), str(run.identity["key"])
        row: dict[str, Any] = {
            "key": key,
            "properties": to_bolt(properties),
            "jobs": [self._indexes["jobs"].at(job) for job in run.jobs],
            "queries": [self._indexes["queries"].at(query) for query in run.queries],
            "consumed": [],
            "produced": [],
            "read": [],
            "wrote": [],
        }
        for use, registers in uses.items():
            place = self._indexes["datasets"].at(use.dataset)
            what = to_bolt(use_row(tenant, key, use, registers, stamp))
            row[use.type.value.lower()].append({"to": place, "properties": what})
        for type_, version in set(versions_used(tenant, run.uses)):
            row[type_.value.lower()].append(self._indexes["versions"].at(version))
        self.rows.append(row)

    def send(self, tx: Transaction, name: str) -> list[Any]:
        return tx.rows(name, self.rows, **{name: index.keys for name, index in self._indexes.items()})


def write_runs(tx: Transaction, delta: GraphDelta) -> tuple[dict[Link, Span], dict[str, JobName]]:
    """Runs; returns what they say of their jobs' READS, WRITES and FEEDS now, and the names of those jobs."""
    runs: dict[str, RunFacts] = dict(delta.runs)
    names = {key: job_name(job) for key, job in delta.jobs.items()}
    new, changed = _Rows(), _Rows()
    for _, run in sorted(runs.items()):
        properties = created(run) | run.batches.properties()
        new.add(run, dict(properties), run.uses, _stamp(properties))
    for record in new.send(tx, "runs"):
        key = record["key"]
        stored = from_bolt(record["properties"])
        tenant = str(stored["tenant"])
        names.update({job: JobName(tenant, name) for job, name in record["jobs"]})
        after = _join_stored(changed, stored, record, delta.runs[key])
        if after is None:
            del runs[key]
        else:
            runs[key] = after
    changed.send(tx, "update_runs")
    tx.rows("run_parents", list(_parents(runs.values())))
    links: dict[Link, Span] = {}
    for run in runs.values():
        for link in run_links(run.jobs, run.uses):
            links.setdefault(link, Span()).see(run.seen.first, run.seen.last)
    return links, names


def _join_stored(changed: _Rows, stored: dict[str, Any], record: Any, said: RunFacts) -> RunFacts | None:
    """The run as it is now, its changes put into `changed`; None where nothing changes."""
    before = read_node(Label.RUN, stored)
    jobs, queries = {job for job, _ in record["jobs"]}, set(record["queries"])
    uses = read_uses(record["uses"], stored.get("_stamp"))
    after = RunFacts(said.identity, dict(before.registers), jobs=set(jobs), queries=set(queries))
    after.seen.see(before.seen.first, before.seen.last)
    after.uses = {use: dict(registers) for use, registers in uses.items()}
    after.join(said)
    properties = node_changes(stored, before, after) | batch_changes(stored, said.batches)
    other_uses = {use: registers for use, registers in after.uses.items() if uses.get(use) != registers}
    if not (properties or other_uses or after.jobs != jobs or after.queries != queries):
        return None
    changed.add(after, properties, other_uses, stored.get("_stamp") or _stamp(properties))
    return after


def _stamp(properties: Mapping[str, Any]) -> str | None:
    stamp: str | None = properties.get("_stamp")
    return stamp


def _parents(runs: Iterable[RunFacts]) -> Iterable[dict[str, str]]:
    for run in sorted(runs, key=lambda run: str(run.identity["key"])):
        _, parent = run.registers.get("parent", ("", None))
        if isinstance(parent, dict):
            above = keys.run_key(str(run.identity["tenant"]), str(parent["parent_run_id"]))
            yield {"start": str(run.identity["key"]), "end": above}
