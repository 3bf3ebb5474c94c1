"""Every event put where it belongs, as it came: what of it holds is decided by `graph`, once all of them are there."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from headwater_schemas import identity
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    IntervalEntry,
    JobRef,
    LineageEvent,
    RunEvent,
    SchemaDefinition,
    SchemaField,
    Versions,
)
from support.graph.reference.values import (
    PROVENANCES,
    Node,
    Props,
    Stamp,
    claims_nothing,
    given,
    key_of,
    or_empty,
    position_props,
    quality_props,
)


class Batch:
    """The reports of one micro-batch that agree in its source end positions."""

    def __init__(self, tenant: str, query: str, query_id: str, batch_id: int, digest: str) -> None:
        self.tenant, self.query, self.query_id = tenant, query, query_id
        self.batch_id, self.digest = batch_id, digest
        self.key = ""
        self.is_conflict = False
        self.reports: list[tuple[Stamp, LineageEvent, IntervalEntry, str | None]] = []

    @property
    def stamp(self) -> Stamp:
        return max(report[0] for report in self.reports)


class Reports:
    """Reports of the events by node and relationship; nothing is decided here."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.links: set[tuple[str, str, str]] = set()
        self.run_jobs: dict[str, set[str]] = defaultdict(set)
        self.uses: dict[str, dict[tuple[str, str, int], list[tuple[Stamp, DatasetUse]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self.batches: dict[tuple[str, int], dict[str, Batch]] = defaultdict(dict)
        # Of an output of a run: whether each report of it counts.
        self.claims: dict[tuple[str, str, int], list[bool]] = defaultdict(list)
        self.plan_uses: dict[str, list[tuple[str, datetime | None]]] = defaultdict(list)
        self.lineages: dict[str, tuple[str, ColumnLineage]] = {}
        self.schemas: dict[str, list[tuple[Stamp, datetime, list[str]]]] = defaultdict(list)
        self.lives: dict[str, list[tuple[Stamp, datetime, str]]] = defaultdict(list)
        self.symlinks: dict[str, list[tuple[Stamp, list[tuple[str, str]]]]] = defaultdict(list)
        self.renames: dict[tuple[str, str], set[datetime]] = defaultdict(set)
        self.columns_renamed: dict[tuple[str, str], set[datetime]] = defaultdict(set)
        self.columns_dropped: dict[tuple[str, str], set[datetime]] = defaultdict(set)
        self.parents: dict[str, list[tuple[Stamp, str]]] = defaultdict(list)
        # Start, type, dataset (FEEDS: job, source, target) ⇒ times it was observed.
        self.observed: dict[tuple[str, str, str], set[datetime]] = {}
        self.feeds: dict[tuple[str, str, str], set[datetime]] = {}
        self.possible: dict[tuple[str, str, str], set[datetime]] = {}
        self.excluded: set[tuple[str, str, str]] = set()
        self.known_batches: dict[str, set[int]] = defaultdict(set)
        self.retentions: list[LineageEvent] = []
        self.summary_uses: dict[tuple[str, str, str, str], Props] = {}
        self.declared: list[tuple[LineageEvent, Stamp]] = []
        self.declared_columns: dict[tuple[str, str], Props] = {}
        self.seen_plans: dict[str, set[datetime]] = defaultdict(set)

    # Nodes.

    def node(self, label: str, key: str, **fixed: Any) -> str:
        if key not in self.nodes:
            self.nodes[key] = Node(label, {"key": key, **fixed})
        return key

    def dataset(self, tenant: str, ref: DatasetRef) -> str:
        last = ref.name.rstrip("/").split("/")[-1] or ref.name
        return self.node(
            "Dataset",
            key_of(tenant, "dataset", ref.namespace, ref.name),
            tenant=tenant,
            namespace=ref.namespace,
            name=ref.name,
            title=last,
        )

    def column(self, tenant: str, dataset: str, path: str) -> str:
        return self.node("Column", key_of(tenant, "column", dataset, path), tenant=tenant, dataset=dataset, name=path)

    def version(self, tenant: str, dataset: str, format_: str, version: str) -> str:
        key = key_of(tenant, "version", dataset, format_, version)
        return self.node("Version", key, tenant=tenant, dataset=dataset, format=format_, version=version, name=version)

    def schema_version(self, tenant: str, dataset: str, fields: Sequence[SchemaField]) -> Node:
        """A schema differs from others by the path, type and nullability of its fields, in order."""
        digest = identity.schema_digest(SchemaDefinition(tuple(fields)))
        key = key_of(tenant, "schema", dataset, digest)
        words = {None: "", True: "true", False: "false"}
        self.node(
            "SchemaVersion",
            key,
            tenant=tenant,
            dataset=dataset,
            digest=digest,
            name=digest[:8],
            columns=[field.path for field in fields],
            data_types=[or_empty(field.type) for field in fields],
            nullable=[words[field.nullable] for field in fields],
        )
        self.link(key, "OF", dataset)
        return self.nodes[key]

    def job(self, tenant: str, ref: JobRef) -> str:
        key = key_of(tenant, "job", ref.namespace, ref.name)
        return self.node("Job", key, tenant=tenant, namespace=ref.namespace, name=ref.name)

    def plan(self, tenant: str, job: str, digest: str) -> str:
        key = key_of(tenant, "plan", job, digest)
        name = f"{self.nodes[job].fixed['name']} {digest[:8]}"
        self.node("Plan", key, tenant=tenant, job=job, digest=digest, name=name)
        self.link(key, "OF", job)
        return key

    def run(self, tenant: str, run_id: str) -> str:
        return self.node("Run", key_of(tenant, "run", run_id), tenant=tenant, run_id=run_id)

    def query(self, tenant: str, query_id: str) -> str:
        return self.node("Query", key_of(tenant, "query", query_id), tenant=tenant, query_id=query_id)

    def alias(self, tenant: str, namespace: str, name: str) -> str:
        key = key_of(tenant, "alias", namespace, name)
        return self.node("Alias", key, tenant=tenant, namespace=namespace, name=name)

    def link(self, start: str, type_: str, end: str) -> None:
        self.links.add((start, type_, end))

    # Events.

    def add(self, event: LineageEvent) -> None:
        is_recovered = event.run_event is not None and event.run_event.provenance.value == "RECONCILED"
        stamp = (1 if is_recovered else 2, event.event_time, event.event_id)
        if event.kind == "RUN":
            self.add_run(event, stamp)
        elif event.kind == "INTERVAL":
            self.add_interval(event)
        elif event.kind == "PLAN":
            assert event.job is not None
            assert event.plan_event is not None
            job = self.job(event.tenant, event.job)
            plan = self.add_lineage(event.tenant, job, event.plan_event.lineage, stamp)
            self.nodes[job].seen.add(event.event_time)
            self.nodes[plan].seen.add(event.event_time)
            self.seen_plans[plan].add(event.event_time)
        elif event.kind == "DATASET":
            self.add_dataset(event, stamp)
        elif event.kind == "JOB":
            self.add_job(event, stamp)
        elif event.kind == "RETENTION":
            self.retentions.append(event)
        elif event.kind in ("DECLARATION", "DECLARATION_SET"):
            self.declared.append((event, stamp))

    def context(self, node: Node, stamp: Stamp, body: RunEvent) -> None:
        names = ("script", "repository", "branch", "package", "image", "user", "service", "campaign", "statement")
        for name in names:
            node.report(name, stamp, given(name, getattr(body.context, name, None)))
        if body.quality:
            node.report("quality", stamp, quality_props(body.quality))

    def add_run(self, event: LineageEvent, stamp: Stamp) -> None:
        body, tenant, time = event.run_event, event.tenant, event.event_time
        assert body is not None
        assert event.run is not None
        assert event.job is not None
        job, run = self.job(tenant, event.job), self.run(tenant, event.run.run_id)
        node = self.nodes[run]
        self.run_jobs[run].add(job)
        self.link(run, "OF", job)
        node.seen.add(time)
        self.nodes[job].seen.add(time)
        node.report("job", (1, *stamp), {"job_namespace": event.job.namespace, "job_name": event.job.name})
        kind = body.type.value
        ended = {"state": kind, "ended_at": body.ended_at or time, "provenance": body.provenance.value}
        node.report("_state", stamp, ended)
        if kind == "START" or body.started_at is not None:
            node.report("started_at", stamp, {"started_at": body.started_at or time})
        if body.processing_type.value != "UNKNOWN":
            node.report("processing_type", stamp, {"processing_type": body.processing_type.value})
            self.nodes[job].report("processing_type", stamp, {"processing_type": body.processing_type.value})
        for name in (
            *("nominal_start", "nominal_end", "plan_digest", "query_id", "checkpoint_location", "rows_rejected"),
        ):
            node.report(name, stamp, given(name, getattr(body, name)))
        self.context(node, stamp, body)
        self.versions(node, stamp, body.versions)
        self.add_above(tenant, run, body, stamp)
        if body.error is not None:
            error = body.error
            values = {"error_type": error.type, "error_message": error.message, "error_stack": error.stack_trace}
            node.report("error", stamp, values)
        if body.publication.value != "UNKNOWN":
            node.report("publication", stamp, {"publication": body.publication.value})
        node.report("producer", stamp, {"producer": event.producer})
        self.facets(node, stamp, body.run_facets)
        self.facets(self.nodes[job], stamp, body.job_facets)
        if body.query_id is not None:
            self.in_query(tenant, run, job, body.query_id, time)
            query = self.query(tenant, body.query_id)
            location = given("checkpoint_location", body.checkpoint_location)
            self.nodes[query].report("checkpoint_location", stamp, location)
            # What an output lists was read, whatever became of the output.
            read = [*body.inputs, *(DatasetUse(dataset=ref) for use in body.outputs for ref in use.inputs or ())]
            written = [use for use in body.outputs if not claims_nothing(body, use)]
            self.flow((), query, tenant, read, written, time)
        if body.plan_digest is not None:
            plan = self.plan(tenant, job, body.plan_digest)
            self.plan_uses[plan].append((run, time))
            self.nodes[plan].seen.add(time)
        self.add_uses(tenant, run, body.inputs, body.outputs, stamp, of_run=True)
        times_used: dict[str, int] = defaultdict(int)
        for use in body.outputs:
            dataset = self.dataset(tenant, use.dataset)
            self.claims[run, dataset, times_used[dataset]].append(not claims_nothing(body, use))
            times_used[dataset] += 1

    def add_above(self, tenant: str, run: str, body: RunEvent, stamp: Stamp) -> None:
        """The parent and the root: runs that are there because another names them."""
        for name, above in (("parent", body.parent), ("root", body.root)):
            if above is not None:
                values = {
                    f"{name}_run_id": above.run_id,
                    f"{name}_job_namespace": above.job.namespace,
                    f"{name}_job_name": above.job.name,
                }
                self.nodes[run].report(name, stamp, values)
                other, other_job = self.run(tenant, above.run_id), self.job(tenant, above.job)
                self.run_jobs[other].add(other_job)
                self.link(other, "OF", other_job)
                mention = {"job_namespace": above.job.namespace, "job_name": above.job.name}
                self.nodes[other].report("job", (0, *stamp[1:]), mention)
        if body.parent is not None:
            self.parents[run].append((stamp, self.run(tenant, body.parent.run_id)))

    def in_query(self, tenant: str, run: str, job: str, query_id: str, time: datetime | None) -> None:
        query = self.query(tenant, query_id)
        self.link(run, "IN_QUERY", query)
        self.link(query, "OF", job)
        if time is not None:
            self.nodes[query].seen.add(time)

    def versions(self, node: Node, stamp: Stamp, versions: Versions | None) -> None:
        if versions is None:
            return
        node.report("code_version", stamp, given("code_version", versions.code))
        node.report("config_version", stamp, given("config_version", versions.config))
        node.report("capture_version", stamp, given("capture_version", versions.capture))
        if versions.engine is not None:
            engine = {"engine": versions.engine.name, "engine_version": versions.engine.version}
            node.report("engine", stamp, engine)

    def facets(self, node: Node, stamp: Stamp, facets: dict[str, str]) -> None:
        for name, content in facets.items():
            node.report(f"_facet {name}", stamp, {"text": content})

    def add_uses(
        self,
        tenant: str,
        owner: str,
        inputs: Iterable[DatasetUse],
        outputs: Iterable[DatasetUse],
        stamp: Stamp,
        *,
        of_run: bool,
    ) -> None:
        for type_, uses in (("CONSUMED", inputs), ("PRODUCED", outputs)):
            times_used: dict[str, int] = defaultdict(int)
            for use in uses:
                dataset = self.dataset(tenant, use.dataset)
                self.uses[owner][type_, dataset, times_used[dataset]].append((stamp, use))
                times_used[dataset] += 1
                self.add_version(tenant, dataset, use, stamp)
        for use in outputs:
            for source in use.inputs or ():
                dataset = self.dataset(tenant, source)
                if of_run:
                    self.uses[owner]["CONSUMED", dataset, 0]  # consumed; nothing more is known of it

    def add_version(self, tenant: str, dataset: str, use: DatasetUse, stamp: Stamp) -> None:
        version = self.version_of(tenant, dataset, position_props(use))
        if version is None or use.position is None:
            return
        self.link(version, "OF", dataset)
        node = self.nodes[version]
        if (snapshot := use.position.table_snapshot) is not None:
            node.report("parent_id", stamp, given("parent_id", snapshot.parent_id))
            node.report("operation", stamp, given("operation", snapshot.operation))
            node.report("partitions", stamp, given("partitions", sorted(set(snapshot.partitions)) or None))
        elif (files := use.position.files) is not None:
            node.report("file_count", stamp, given("file_count", files.count))
            node.report("file_bytes", stamp, given("file_bytes", files.bytes))

    def version_of(self, tenant: str, dataset: str, position: Props) -> str | None:
        """The version that a position names."""
        if position.get("position") == "table_snapshot":
            return self.version(tenant, dataset, position["format"], position["snapshot_id"])
        if position.get("position") == "files" and position["manifest_digest"] is not None:
            return self.version(tenant, dataset, "files", position["manifest_digest"])
        return None

    def flow(
        self,
        jobs: Iterable[str],
        query: str,
        tenant: str,
        inputs: Iterable[DatasetUse],
        outputs: Iterable[DatasetUse],
        time: datetime | None,
    ) -> None:
        """Add the reads, writes and flows of one report of a micro-batch, or of a run of a query."""
        times = set() if time is None else {time}
        read = {self.dataset(tenant, use.dataset) for use in inputs}
        everything = set(read)
        for use in outputs:
            target = self.dataset(tenant, use.dataset)
            sources = read if use.inputs is None else {self.dataset(tenant, ref) for ref in use.inputs}
            everything |= sources
            for start in (*jobs, query):
                self.observed.setdefault((start, "WRITES", target), set()).update(times)
            into = self.possible if use.inputs is None and use.possible else self.feeds
            for job in jobs:
                for source in sources:
                    into.setdefault((job, source, target), set()).update(times)
                self.excluded.update((job, source, target) for source in read - sources)
        for start in (*jobs, query):
            for source in everything:
                self.observed.setdefault((start, "READS", source), set()).update(times)

    def add_interval(self, event: LineageEvent) -> None:
        body, tenant = event.interval_event, event.tenant
        assert body is not None
        assert event.job is not None
        rank = PROVENANCES.index(body.provenance.value)
        observed = body.provenance.value == "OBSERVED"
        stamp = (rank, event.event_time, event.event_id)
        job, query = self.job(tenant, event.job), self.query(tenant, body.query_id)
        self.nodes[job].report("processing_type", stamp, {"processing_type": "STREAMING"})
        self.link(query, "OF", job)
        node = self.nodes[query]
        node.report("query_name", stamp, given("query_name", body.query_name))
        node.report("checkpoint_location", stamp, given("checkpoint_location", body.checkpoint_location))
        run = None
        if event.run is not None and observed:
            run = self.run(tenant, event.run.run_id)
            self.run_jobs[run].add(job)
            self.link(run, "OF", job)
            self.in_query(tenant, run, job, body.query_id, None)
            mine = {"job_namespace": event.job.namespace, "job_name": event.job.name}
            self.nodes[run].report("job", (1, *stamp), mine)
            self.nodes[run].report("query_id", stamp, {"query_id": body.query_id})
        for entry in body.entries:
            time = entry.processing_time or (event.event_time if observed else None)
            digest = identity.source_end_digest(entry.inputs)
            batch = self.batches[query, entry.batch_id].get(digest)
            if batch is None:
                batch = Batch(tenant, query, body.query_id, entry.batch_id, digest)
                self.batches[query, entry.batch_id][digest] = batch
            batch.reports.append((stamp, event, entry, run))
            for owner in (query, run):
                if owner is not None:
                    self.known_batches[owner].add(entry.batch_id)
            for seen in (job, query, run):
                if seen is not None and time is not None:
                    self.nodes[seen].seen.add(time)
            self.flow((job,), query, tenant, entry.inputs, entry.outputs, time)
            if entry.plan_digest is not None:
                plan = self.plan(tenant, job, entry.plan_digest)
                self.plan_uses[plan].append((run or query, time))
                if time is not None:
                    self.nodes[plan].seen.add(time)

    def add_lineage(self, tenant: str, job: str, lineage: ColumnLineage, stamp: Stamp) -> str:
        digest = identity.plan_digest(lineage)
        plan = self.plan(tenant, job, digest)
        self.lineages[plan] = (tenant, lineage)
        for ref in lineage.datasets:
            self.dataset(tenant, ref)
        expressions = sorted(lineage.expressions)
        values = {
            "complete": lineage.complete,
            "incomplete_reason": lineage.incomplete_reason,
            "edges": len(set(lineage.edges)),
            "expression_ids": [expression.id for expression in expressions],
            "expressions": [expression.text for expression in expressions],
        }
        self.nodes[plan].report("lineage", stamp, values)
        return plan

    def add_dataset(self, event: LineageEvent, stamp: Stamp) -> None:
        body, tenant, time = event.dataset_event, event.tenant, event.event_time
        assert body is not None
        dataset = self.dataset(tenant, body.dataset)
        node = self.nodes[dataset]
        if event.job is not None:
            self.job(tenant, event.job)
        for name in ("type", "description", "classification", "criticality", "source_uri"):
            node.report(name, stamp, given(name, getattr(body, name)))
        self.owners_and_tags(node, stamp, body.owners, body.tags)
        if body.storage is not None:
            values = {"storage_layer": body.storage.layer, "storage_format": body.storage.format}
            node.report("storage", stamp, values)
        if body.symlinks is not None:
            rows = sorted({(link.name, link.namespace, or_empty(link.type)) for link in body.symlinks})
            names: Props = {
                "symlinks": [row[0] for row in rows],
                "symlink_namespaces": [row[1] for row in rows],
                "symlink_types": [row[2] for row in rows],
            }
            node.report("symlinks", stamp, names)
            aliases = [(self.alias(tenant, namespace, name), type_) for name, namespace, type_ in rows]
            self.symlinks[dataset].append((stamp, aliases))
        if body.lifecycle is not None:
            if body.lifecycle.value != "UNKNOWN":
                node.report("lifecycle", stamp, {"lifecycle": body.lifecycle.value})
            self.lives[dataset].append((stamp, time, body.lifecycle.value))
            if body.lifecycle.value == "RENAME" and body.previous is not None:
                previous = self.dataset(tenant, body.previous)
                node.report("renamed_from", stamp, {"renamed_from": previous})
                self.renames[previous, dataset].add(time)
                self.lives[previous].append((stamp, time, "RENAMED AWAY"))
        if body.schema is not None:
            paths = [field.path for field in body.schema.fields]
            node.report("columns", stamp, {"columns": paths})
            self.schemas[dataset].append((stamp, time, paths))
            self.schema_version(tenant, dataset, body.schema.fields).seen.add(time)
            for position, field in enumerate(body.schema.fields):
                column = self.nodes[self.column(tenant, dataset, field.path)]
                attributes: Props = {
                    "data_type": field.type,
                    "nullable": field.nullable,
                    "description": field.description,
                    "position": position,
                }
                column.report("field", stamp, attributes)
        self.facets(node, stamp, body.facets)
        self.column_changes(tenant, dataset, body, time)

    def column_changes(self, tenant: str, dataset: str, body: DatasetEvent, time: datetime) -> None:
        if body.lifecycle is None or body.lifecycle.value != "ALTER":
            return
        stated = json.loads(body.facets.get("headwater_columns") or "{}")
        if not all(isinstance(each, list) for each in stated.values()):
            return

        def column(path: str) -> str:
            key = self.column(tenant, dataset, path)
            self.link(dataset, "HAS_COLUMN", key)
            return key

        for pair in stated.get("renamed", ()):
            self.columns_renamed[column(pair["previous"]), column(pair["path"])].add(time)
        for path in stated.get("dropped", ()):
            self.columns_dropped[dataset, column(path)].add(time)

    def owners_and_tags(self, node: Node, stamp: Stamp, owners: Any, tags: Any) -> None:
        if owners is not None:
            rows = sorted({(owner.name, or_empty(owner.type)) for owner in owners})
            values = {"owners": [row[0] for row in rows], "owner_types": [row[1] for row in rows]}
            node.report("owners", stamp, values)
        if tags is not None:
            cells = sorted({(t.key, or_empty(t.value), or_empty(t.source), or_empty(t.field)) for t in tags})
            names = ("tags", "tag_values", "tag_sources", "tag_fields")
            node.report("tags", stamp, {name: [row[n] for row in cells] for n, name in enumerate(names)})

    def add_job(self, event: LineageEvent, stamp: Stamp) -> None:
        body, tenant = event.job_event, event.tenant
        assert body is not None
        assert event.job is not None
        job = self.job(tenant, event.job)
        node = self.nodes[job]
        if body.processing_type is not None and body.processing_type.value != "UNKNOWN":
            node.report("processing_type", stamp, {"processing_type": body.processing_type.value})
        for name in ("integration", "job_type", "description", "criticality"):
            node.report(name, stamp, given(name, getattr(body, name)))
        self.owners_and_tags(node, stamp, body.owners, body.tags)
        if body.source is not None:
            source = body.source
            values = {
                "source_type": source.type,
                "source_url": source.url,
                "source_repo": source.repo_url,
                "source_path": source.path,
                "source_version": source.version,
                "source_branch": source.branch,
            }
            node.report("source", stamp, values)
        for name, refs in (("declared_inputs", body.inputs), ("declared_outputs", body.outputs)):
            if refs is not None:
                keys = sorted({self.dataset(tenant, ref) for ref in refs})
                node.report(name, stamp, {name: keys})
        if body.lineage is not None:
            self.add_lineage(tenant, job, body.lineage, stamp)
            node.report("declared_plan", stamp, {"declared_plan": identity.plan_digest(body.lineage)})
            pairs = self.fed_by(tenant, body.lineage)
            node.report("_declared_pairs", stamp, {"pairs": sorted(pairs)})
        self.facets(node, stamp, body.facets)

    def fed_by(self, tenant: str, lineage: ColumnLineage) -> set[tuple[str, str]]:
        """Pairs of datasets of which the first feeds the second, by the edges of a lineage."""
        keys = [self.dataset(tenant, ref) for ref in lineage.datasets]
        return {(keys[edge.input], keys[edge.output]) for edge in lineage.edges if edge.input is not None}
