"""Micro-batches that are no longer kept one by one, and what is left of them."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from typing import Any

from headwater_schemas.events import IntervalEntry, LineageEvent, OffsetRange
from support.graph.reference.reports import Batch, Reports
from support.graph.reference.values import Props, Stamp, key_of


class Retained(Reports):
    """The reports, of which some leave summaries only."""

    def retain(self) -> None:
        """Add the nodes of retention, and take out the micro-batches that are no longer kept."""
        days: dict[tuple[str, str | None, str | None], dict[str, Any]] = defaultdict(dict)
        for event in self.retentions:
            body = event.retention_event
            assert body is not None
            scope = (event.tenant, body.namespace, body.job)
            name = {"SUMMARIZE": "summarize_before", "DROP": "drop_before"}[body.mode.value]
            days[scope][name] = max(body.before, days[scope].get(name, body.before))
        for (tenant, namespace, job), found in days.items():
            name = "all jobs"
            if namespace is not None:
                name = namespace if job is None else f"{namespace}.{job}"
            props = {"tenant": tenant, "namespace": namespace, "job": job, "name": name, **found}
            self.node("Retention", key_of(tenant, "retention", namespace, job), **props)
        old: dict[str, list[tuple[int, list[Batch]]]] = defaultdict(list)
        horizons: dict[str, tuple[date | None, date | None]] = {}
        for (query, batch_id), reports in list(self.batches.items()):
            batches = list(reports.values())
            if query not in horizons:
                horizons[query] = self.horizon(query, batches[0].tenant, days)
            kept_from = horizons[query][0]
            if kept_from is None:
                continue
            stated = [entry.processing_time for batch in batches for _, _, entry, _ in batch.reports]
            if any(time is not None and time.date() < kept_from for time in stated):
                old[query].append((batch_id, batches))
                del self.batches[query, batch_id]
        for query, found_old in old.items():
            self.summarize(query, found_old, horizons[query][1])

    def horizon(
        self, query: str, tenant: str, days: dict[tuple[str, str | None, str | None], dict[str, Any]]
    ) -> tuple[date | None, date | None]:
        """From which day on micro-batches of a query are kept, and from which on days have summaries."""
        scopes = [(tenant, None, None)]
        for start, type_, end in self.links:
            if (start, type_) != (query, "OF"):
                continue
            namespace, job = self.nodes[end].fixed["namespace"], self.nodes[end].fixed["name"]
            scopes += [(tenant, namespace, None), (tenant, namespace, job)]
        found = [days[scope] for scope in scopes if scope in days]
        drops = [one["drop_before"].date() for one in found if "drop_before" in one]
        all_ = drops + [one["summarize_before"].date() for one in found if "summarize_before" in one]
        return max(all_, default=None), max(drops, default=None)

    def summarize(self, query: str, old: list[tuple[int, list[Batch]]], dropped_before: date | None) -> None:
        """The summaries of a query, and the versions that its micro-batches named."""
        days: dict[tuple[str | None, date | None], list[tuple[int, LineageEvent, IntervalEntry]]] = defaultdict(list)
        for batch_id, batches in old:
            for batch in batches:
                for stamp, event, entry, run in batch.reports:
                    self.mention(batch.tenant, entry, stamp)
                    day = None if entry.processing_time is None else entry.processing_time.date()
                    days[run, day].append((batch_id, event, entry))
        for (run, day), reports in days.items():
            if dropped_before is None or (day is not None and day >= dropped_before):
                self.summary(query, run, day, reports)

    def mention(self, tenant: str, entry: IntervalEntry, stamp: Stamp) -> None:
        """Datasets and versions are there, whatever becomes of the micro-batch."""
        for use in (*entry.inputs, *entry.outputs):
            self.add_version(tenant, self.dataset(tenant, use.dataset), use, stamp)
            for source in use.inputs or ():
                self.dataset(tenant, source)

    def summary(
        self, query: str, run: str | None, day: date | None, reports: list[tuple[int, LineageEvent, IntervalEntry]]
    ) -> None:
        """One summary."""
        first = reports[0][1]
        assert first.interval_event is not None
        number = None if day is None else (day - date(1970, 1, 1)).days
        key = key_of(first.tenant, "summary", query, run, number)
        props: Props = {"tenant": first.tenant, "query": query, "query_id": first.interval_event.query_id}
        props |= {"name": "no day" if day is None else day.isoformat(), "day": None if day is None else day.isoformat()}
        if run is not None:
            assert first.run is not None
            props |= {"run_id": first.run.run_id, "name": f"{props['name']} {first.run.run_id[:8]}"}
            self.link(key, "IN_RUN", run)
        ranges = merged([(batch_id, batch_id + 1) for batch_id, _, _ in reports])
        count = sum(b - a for a, b in ranges)
        props |= {"batch_starts": [a for a, _ in ranges], "batch_ends": [b for _, b in ranges], "batches": count}
        props |= {"first_batch": ranges[0][0], "last_batch": ranges[-1][1] - 1}
        props["missing"] = ranges[-1][1] - ranges[0][0] - count
        times = [entry.processing_time for _, _, entry in reports if entry.processing_time is not None]
        if times:
            props |= {"first_time": min(times), "last_time": max(times)}
        self.node("Summary", key, **props)
        self.link(key, "IN_QUERY", query)
        for (type_, dataset, ordinal), offsets in self.offsets(first.tenant, reports).items():
            own = key_of(first.tenant, type_, key, dataset, ordinal)
            self.summary_uses[key, type_, dataset, own] = use_props(own, ordinal, offsets)

    def offsets(
        self, tenant: str, reports: list[tuple[int, LineageEvent, IntervalEntry]]
    ) -> dict[tuple[str, str, int], list[OffsetRange]]:
        """The ranges of each use: type, dataset, which of several."""
        out: dict[tuple[str, str, int], list[OffsetRange]] = {}
        for _, _, entry in reports:
            for type_, listed in (("CONSUMED", entry.inputs), ("PRODUCED", entry.outputs)):
                count: dict[str, int] = defaultdict(int)
                for use in listed:
                    dataset = self.dataset(tenant, use.dataset)
                    found = out.setdefault((type_, dataset, count[dataset]), [])
                    count[dataset] += 1
                    if use.position is not None and use.position.kafka is not None:
                        found += use.position.kafka.ranges
        return out


def use_props(own: str, ordinal: int, offsets: list[OffsetRange]) -> Props:
    """Properties of a use by a summary."""
    props: Props = {"key": own, "ordinal": ordinal or None}
    rows = []
    missing = 0
    for partition in sorted({r.partition for r in offsets}):
        ranges = merged([(r.from_, r.to_exclusive) for r in offsets if r.partition == partition])
        rows += [(partition, a, b) for a, b in ranges]
        missing += ranges[-1][1] - ranges[0][0] - sum(b - a for a, b in ranges) if ranges else 0
    if rows:
        props |= {name: [row[n] for row in rows] for n, name in enumerate(("partitions", "from", "to_exclusive"))}
        props |= {"offsets": sum(b - a for _, a, b in rows), "missing": missing}
    return props


def merged(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open ranges without those that are empty, overlap or touch."""
    out: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if start == end:
            continue
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return out
