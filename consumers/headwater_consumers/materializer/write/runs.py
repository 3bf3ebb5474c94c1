"""Runs with what leaves them: OF, IN_QUERY, CHILD_OF, CONSUMED, PRODUCED, READ, WROTE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater_consumers.facts.model import Label
from headwater_consumers.facts.nodes import Link, RunFacts, Span, Use
from headwater_consumers.graph import keys
from headwater_consumers.graph.derive import run_links, versions_used
from headwater_consumers.materializer.write.bolt import from_bolt, to_bolt
from headwater_consumers.materializer.write.links import JobName, job_name
from headwater_consumers.materializer.write.run_ends import write_run_ends
from headwater_consumers.materializer.write.state import (
    batch_changes,
    created,
    node_changes,
    read_node,
    read_uses,
    use_row,
)
from headwater_consumers.materializer.write.transaction import IndexedRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater_consumers.facts.delta import GraphDelta
    from headwater_consumers.facts.registers import Registers
    from headwater_consumers.materializer.write.transaction import Transaction


class RunRows(IndexedRows):
    """Rows of runs."""

    def __init__(self) -> None:
        super().__init__("jobs", "queries", "datasets", "versions")

    def add(self, run: RunFacts, properties: dict[str, Any], uses: dict[Use, Registers], stamp: str | None) -> None:
        """A run: `properties` and `uses` are what is to be written of it, `stamp` its own."""
        tenant, key = str(run.identity["tenant"]), str(run.identity["key"])
        row: dict[str, Any] = {
            "key": key,
            "properties": to_bolt(properties),
            "jobs": [self.indexes["jobs"].at(job) for job in run.jobs],
            "queries": [self.indexes["queries"].at(query) for query in run.queries],
            "consumed": [],
            "produced": [],
            "read": [],
            "wrote": [],
        }
        for use, registers in uses.items():
            place = self.indexes["datasets"].at(use.dataset)
            what = to_bolt(use_row(tenant, key, use, registers, stamp))
            row[use.type.value.lower()].append({"to": place, "properties": what})
        for type_, version in set(versions_used(tenant, run.uses)):
            row[type_.value.lower()].append(self.indexes["versions"].at(version))
        self.rows.append(row)


def run_rows(delta: GraphDelta) -> RunRows:
    """Runs as they are created."""
    rows = RunRows()
    for _, run in sorted(delta.runs.items()):
        whole = created(run) | run.batches.properties()
        rows.add(run, dict(whole), run.uses, _stamp(whole))
    return rows


def write_runs(tx: Transaction, delta: GraphDelta, new: RunRows) -> tuple[dict[Link, Span], dict[str, JobName]]:
    """Runs; returns the state of their jobs' READS, WRITES and FEEDS now, and the names of those jobs."""
    runs: dict[str, RunFacts] = dict(delta.runs)
    names = {key: job_name(job) for key, job in delta.jobs.items()}
    found: dict[str, dict[str, Any]] = {}
    changed = RunRows()
    for properties, jobs, queries, uses in new.find(tx, "runs"):
        stored = from_bolt(properties)
        key, tenant = str(stored["key"]), str(stored["tenant"])
        found[key] = stored
        names.update({job: JobName(tenant, name) for job, name in jobs})
        known = RunFacts({}, jobs={job for job, _ in jobs}, queries=set(queries))
        known.uses = read_uses(uses, stored.get("_stamp"))
        after = _join_stored(changed, stored, known, delta.runs[key])
        if after is None:
            del runs[key]
        else:
            runs[key] = after
    changed.send(tx, "update_runs")
    tx.send_rows("run_parents", list(_parents(runs.values())))
    write_run_ends(tx, runs, found)
    links: dict[Link, Span] = {}
    for run in runs.values():
        for link in run_links(run.jobs, run.uses):
            links.setdefault(link, Span()).see(run.seen.first, run.seen.last)
    return links, names


def _join_stored(changed: RunRows, stored: dict[str, Any], known: RunFacts, incoming: RunFacts) -> RunFacts | None:
    """The run as it is now, its changes put into `changed`; None where nothing changes."""
    before = read_node(Label.RUN, stored)
    jobs, queries, uses = known.jobs, known.queries, known.uses
    after = RunFacts(incoming.identity, dict(before.registers), jobs=set(jobs), queries=set(queries))
    after.seen.see(before.seen.first, before.seen.last)
    after.uses = {use: dict(registers) for use, registers in uses.items()}
    after.join(incoming)
    properties = node_changes(stored, before, after) | batch_changes(stored, incoming.batches)
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
