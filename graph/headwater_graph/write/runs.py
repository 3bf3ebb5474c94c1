"""Runs with their outgoing relationships: OF, IN_QUERY, CHILD_OF, CONSUMED, PRODUCED, READ, WROTE.

The module also infers the ends of runs without a reported end: `open` and `inferred_…`. The inferred end of a run
depends (`derive`) on the other runs of its query, its children and its parent. For each new or changed run, only these
runs are examined, so the end of a batch run, or a further micro-batch of a query, costs almost nothing:

- the run itself, unless it is new and reported its end;
- if the run begins earlier than stored: runs of its query that were last seen since the query's previous start;
- its parent, if the parent has an inferred end or gets one by this run; and then all children of the parent.

Each run is locked before it is read. The order of these locks mostly agrees between transactions. If two transactions
deadlock nevertheless, the database ends one, which is retried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from headwater_graph import keys
from headwater_graph.derive import (
    TERMINAL,
    Because,
    RunEnd,
    RunSeen,
    application_end,
    child_end,
    end_properties,
    own_end,
    run_links,
    seen,
    versions_used,
)
from headwater_graph.facts.delta import GraphDelta
from headwater_graph.facts.model import Label, RelType, UseKey
from headwater_graph.facts.nodes import Link, RunFacts, TimeSpan
from headwater_graph.facts.registers import Registers
from headwater_graph.limits import MOST_LINKS, LinksExceededError
from headwater_graph.write.bolt import bolt_time, from_bolt, to_bolt
from headwater_graph.write.links import JobName, job_name
from headwater_graph.write.state import (
    batch_changes,
    created,
    node_changes,
    read_node,
    read_uses,
    use_row,
)
from headwater_graph.write.transaction import IndexedRows, WriteTransaction


class RunRows(IndexedRows):
    """Rows of runs."""

    def __init__(self) -> None:
        super().__init__("jobs", "queries", "datasets", "versions")

    def add(self, run: RunFacts, properties: dict[str, Any], uses: dict[UseKey, Registers], stamp: str | None) -> None:
        """Add a run with its `properties`, its `uses`, and its `_stamp`."""
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
            index = self.indexes["datasets"].at(use.dataset)
            of_use = to_bolt(use_row(tenant, key, use, registers, stamp))
            row["consumed" if use.type is RelType.CONSUMED else "produced"].append({"to": index, "properties": of_use})
        for type_, version in set(versions_used(tenant, run.uses)):
            row["read" if type_ is RelType.READ else "wrote"].append(self.indexes["versions"].at(version))
        self.rows.append(row)


def run_rows(delta: GraphDelta) -> RunRows:
    """Return the rows that create the runs of a delta."""
    rows = RunRows()
    for _, run in sorted(delta.runs.items()):
        whole = created(run) | run.batches.properties()
        rows.add(run, dict(whole), run.uses, _stamp(whole))
    return rows


def write_runs(
    tx: WriteTransaction, delta: GraphDelta, new: RunRows
) -> tuple[dict[Link, TimeSpan], dict[str, JobName]]:
    """Write runs; return the current state of their jobs' READS, WRITES, FEEDS and GOES_INTO, and the jobs' names.

    Raises:
        LinksExceededError: there are too many of these relationships.
    """
    runs: dict[str, RunFacts] = dict(delta.runs)
    names = {key: job_name(job) for key, job in delta.jobs.items()}
    stored_runs: dict[str, dict[str, Any]] = {}
    changed = RunRows()
    for properties, jobs, queries, uses in new.find(tx, "runs"):
        stored = from_bolt(properties)
        key, tenant = str(stored["key"]), str(stored["tenant"])
        stored_runs[key] = stored
        names.update({job: JobName(tenant, name, scope) for job, name, scope in jobs})
        known = RunFacts({}, jobs={job for job, *_ in jobs}, queries=set(queries))
        known.uses = read_uses(uses, stored.get("_stamp"))
        after = _join_stored(changed, stored, known, delta.runs[key])
        if after is None:
            del runs[key]
        else:
            runs[key] = after
    changed.send(tx, "update_runs")
    tx.send_rows("run_parents", list(_parents(runs.values())))
    write_run_ends(tx, runs, stored_runs)
    links: dict[Link, TimeSpan] = {}
    for run in runs.values():
        for link in run_links(run.jobs, run.uses):
            links.setdefault(link, TimeSpan()).see(run.seen.first, run.seen.last)
            if len(links) > MOST_LINKS:
                raise LinksExceededError
    return links, names


def _join_stored(changed: RunRows, stored: dict[str, Any], known: RunFacts, incoming: RunFacts) -> RunFacts | None:
    """Return the joined run and add its changes to `changed`; None if nothing changes."""
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


_DERIVED = ("open", "inferred_state", "inferred_ended_at", "inferred_because", "inferred_by", "_inferred_before")
_ALSO_ENDS_CHILDREN = frozenset({Because.QUERY_CONTINUED, Because.CHILDREN_CONTINUED})
"""Rules whose inferred end also ends the run's children."""


class _Stored(NamedTuple):
    """A stored run, with its state and its inferred end."""

    seen: RunSeen
    shown: dict[str, Any]

    @property
    def because(self) -> Because | None:
        """Rule of the inferred end; None if the run has no end or a reported end."""
        because = self.shown.get("inferred_because")
        return None if because is None else Because(because)

    @property
    def own(self) -> RunEnd | None:
        """Inferred end of the run, if this end also ends the runs that it started."""
        if self.because not in _ALSO_ENDS_CHILDREN:
            return None
        shown = self.shown
        return RunEnd(self.because, shown["inferred_ended_at"], shown["inferred_by"], shown["_inferred_before"])


class _ExaminedRun(NamedTuple):
    """A run, the later run of its query that shows its end, and its parent."""

    run: _Stored
    later: RunSeen | None
    parent: _Stored | None


class _Family(NamedTuple):
    """A run with its children.

    Attributes:
        own: the run.
        last: latest observation of any run that it started.
    """

    own: _ExaminedRun
    last: datetime | None
    children: list[_ExaminedRun]


def write_run_ends(
    tx: WriteTransaction, runs: Mapping[str, RunFacts], stored_runs: Mapping[str, Mapping[str, Any]]
) -> None:
    """Infer the ends of new and changed runs, and of runs that depend on them.

    Args:
        tx: the transaction, after the runs and their relationships were written.
        runs: new and changed runs, in their new state.
        stored_runs: existing runs in their earlier stored state, changed or not.
    """
    wanted: set[str] = set()
    parents: set[str] = set()
    starts: list[dict[str, Any]] = []
    for key, run in runs.items():
        now = seen(key, run)
        before = _stored(stored_runs[key]).seen if key in stored_runs else None
        if before is not None or not (now.reported or now.last is None):
            wanted.add(key)
        if before is not None and before.parent not in (None, now.parent):
            parents.add(str(before.parent))
        if now.parent is not None and stored_runs.get(now.parent, {}).get("inferred_because") is not None:
            parents.add(now.parent)
        starts += _starts(before, now)
    if starts:
        wanted.update(tx.find("runs_before", rows=starts))
    examined = {each.run.seen.key: each for each in _examine(tx, wanted)}
    for each in examined.values():
        parents |= _families_of(each)
    families = _families(tx, parents)
    _update(tx, examined, families)


def _starts(before: RunSeen | None, now: RunSeen) -> Iterable[dict[str, Any]]:
    """Time spans of a query in which a run's start was added, moved or removed, or a run has another parent."""
    if before is not None and (before.query, before.first, before.parent) == (now.query, now.first, now.parent):
        return
    if now.query is not None and now.first is not None:
        until = now.first
        if before is not None and before.query == now.query and before.first is not None:
            until = max(until, before.first)
        yield {"query": now.query, "first": bolt_time(now.first), "until": bolt_time(until)}
    if before is not None and before.query not in (None, now.query) and before.first is not None:
        yield {"query": before.query, "first": bolt_time(before.first), "until": bolt_time(before.first)}


def _families_of(examined: _ExaminedRun) -> set[str]:
    """Keys of runs to examine with all children, because their end or a child's end may change."""
    run, parent = examined.run.seen, examined.parent
    end, out = own_end(run, examined.later), set()
    ended_by_children = end is None and examined.run.because is Because.CHILDREN_CONTINUED
    if ended_by_children or (examined.run.own if examined.run.because is Because.QUERY_CONTINUED else None) != end:
        out.add(run.key)
    if parent is not None:
        elsewhere = end is not None and examined.later is not None and examined.later.parent not in (None, run.parent)
        if elsewhere or parent.because is not None:
            out.add(parent.seen.key)
    return out


def _examine(tx: WriteTransaction, wanted: Iterable[str]) -> list[_ExaminedRun]:
    ordered = sorted(wanted)
    if not ordered:
        return []
    tx.send("lock_runs", keys=ordered)
    return [_examined_run(*row) for row in tx.find("run_ends", keys=ordered)]


def _families(tx: WriteTransaction, wanted: Iterable[str]) -> list[_Family]:
    ordered = sorted(wanted)
    if not ordered:
        return []
    tx.send("lock_runs", keys=ordered)
    tx.send("lock_children", keys=ordered)
    out = []
    for own, later, parent, last, children in tx.find("run_families", keys=ordered):
        of_run = [_examined_run(child, after, own) for child, after in children]
        out.append(_Family(_examined_run(own, later, parent), from_bolt({"last_seen": last}).get("last_seen"), of_run))
    return out


def _update(tx: WriteTransaction, examined: Mapping[str, _ExaminedRun], families: Iterable[_Family]) -> None:
    """Set the properties that differ.

    A run's state in a family replaces the state that was read without its children.
    """
    everyone = dict(examined)
    own_ends: dict[str, RunEnd | None] = {}
    for family in families:
        run = family.own.run.seen
        everyone |= {each.run.seen.key: each for each in family.children}
        everyone[run.key] = family.own
        times = [time for time in (run.last, family.last) if time is not None]
        below = [(child.run.seen, child.later) for child in family.children]
        own_ends[run.key] = own_end(run, family.own.later) or application_end(run, below, max(times, default=None))
    rows = []
    for key, each in sorted(everyone.items()):
        run = each.run.seen
        # A run whose family wasn't examined keeps the values that its children reported.
        end = own_ends[key] if key in own_ends else own_end(run, each.later) or _end_by_children(each.run)
        above = None
        if each.parent is not None:
            above = own_ends.get(each.parent.seen.key, each.parent.own)
        shown = end_properties(run, end or child_end(run, above))
        changed = {name: shown.get(name) for name in _DERIVED if shown.get(name) != each.run.shown.get(name)}
        if changed:
            rows.append({"key": key, "properties": to_bolt(changed)})
    tx.send_rows("update_run_ends", rows)


def _end_by_children(run: _Stored) -> RunEnd | None:
    """Stored end of a run that its children showed; None if there is none, or the run has reported its end."""
    return run.own if run.because is Because.CHILDREN_CONTINUED and not run.seen.reported else None


def _examined_run(
    run: Mapping[str, Any], later: Mapping[str, Any] | None, parent: Mapping[str, Any] | None
) -> _ExaminedRun:
    return _ExaminedRun(
        _stored(from_bolt(run)),
        None if later is None else _stored(from_bolt(later)).seen,
        None if parent is None else _stored(from_bolt(parent)),
    )


def _stored(properties: Mapping[str, Any]) -> _Stored:
    parent = properties.get("parent_run_id")
    of = RunSeen(
        properties["key"],
        properties["run_id"],
        properties.get("state") in TERMINAL,
        properties.get("first_seen"),
        properties.get("last_seen"),
        None if parent is None else keys.run_key(properties["tenant"], parent),
        properties.get("_query"),
    )
    return _Stored(of, {name: properties[name] for name in _DERIVED if name in properties})
