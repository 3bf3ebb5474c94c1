"""Final graph of all reports: which values hold, and everything derived from them."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from headwater_schemas.events import ColumnLineage, DatasetUse, LineageEvent
from support.graph.reference.declarations import Declared
from support.graph.reference.reports import Batch
from support.graph.reference.values import (
    ENDS,
    Node,
    Props,
    as_text,
    facets_of,
    given,
    key_of,
    micros,
    position_props,
    quality_props,
    span_of,
)


def reference_lines(events: Iterable[LineageEvent]) -> list[str]:
    """The canonical dump of the graph that docs/graph.md promises for these events, sorted by key."""
    graph = _Graph()
    for event in events:
        graph.add(event)
    return graph.lines()


class _Graph(Declared):
    """The graph of the reports."""

    by_sets: dict[tuple[str, str, str, str], list[str]]

    def lines(self) -> list[str]:
        self.by_sets = self.declare()
        self.retain()
        self.settle_batches()
        found: dict[tuple[str, str, str, str | None], Props] = {}

        def relate(start: str, type_: str, end: str, props: Props) -> None:
            found[start, type_, end, props.get("key")] = props

        for start, type_, end in self.links:
            relate(start, type_, end, {})
        for (start, type_, end, _), props in self.summary_uses.items():
            relate(start, type_, end, props)
        self.relate_uses(relate)
        self.relate_assets(relate)
        self.relate_columns(relate)
        self.relate_schemas(relate)
        self.relate_plans(relate)
        self.relate_names(relate)
        self.relate_chains(relate)
        for (declaration, column), props in self.declared_columns.items():
            relate(declaration, "DECLARES", column, props)
        for (start, type_, end, _), declarations in self.by_sets.items():
            if type_ == "CONSUMES":
                relate(start, type_, end, {"declarations": declarations})
        self.relate_runs(relate)
        nodes = {key: self.properties(node) for key, node in self.nodes.items()}
        self.infer_ends(nodes)
        rows = []
        for key, props in nodes.items():
            rows.append((key, {"key": key, "labels": [self.nodes[key].label], "properties": present(props)}))
        for (start, type_, end, own), props in found.items():
            key = "/".join((start, type_, end) if own is None else (start, type_, end, own))
            rows.append((key, {"key": key, "type": type_, "start": start, "end": end, "properties": present(props)}))
        return [
            json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=micros)
            for _, row in sorted(rows, key=lambda row: row[0])
        ]

    def settle_batches(self) -> None:
        for (query, _), reports in self.batches.items():
            best = max(reports.values(), key=lambda batch: (batch.stamp, batch.digest))
            for batch in reports.values():
                self.settle(batch, is_conflict=batch is not best)
            for batch in reports.values():
                if batch is not best:
                    self.link(batch.key, "CONFLICTS_WITH", best.key)
            self.link(best.key, "IN_QUERY", query)

    def settle(self, batch: Batch, *, is_conflict: bool) -> None:
        """Make the node, now that it is known which of the reports is the Interval."""
        batch.is_conflict = is_conflict
        label = "Conflict" if is_conflict else "Interval"
        parts = (batch.digest,) if is_conflict else ()
        batch.key = key_of(batch.tenant, label.lower(), batch.query, batch.batch_id, *parts)
        self.node(
            label,
            batch.key,
            tenant=batch.tenant,
            query=batch.query,
            query_id=batch.query_id,
            batch_id=batch.batch_id,
            name=f"batch {batch.batch_id} (conflict)" if is_conflict else f"batch {batch.batch_id}",
            source_end_digest=batch.digest,
        )
        node = self.nodes[batch.key]
        for stamp, event, entry, run in batch.reports:
            body = event.interval_event
            assert body is not None
            node.report("provenance", stamp, {"provenance": body.provenance.value})
            for name in (
                "processing_time",
                "watermark_before",
                "watermark_after",
                "duration_ms",
                "rows_in",
                "rows_out",
                "rows_dropped_late",
                "state_rows",
                "state_bytes",
                "plan_digest",
            ):
                node.report(name, stamp, given(name, getattr(entry, name)))
            if run is not None:
                assert event.run is not None
                node.report("run_id", stamp, {"run_id": event.run.run_id})
            self.versions(node, stamp, body.versions)
            if body.reason.value != "UNKNOWN":
                node.report("reason", stamp, {"reason": body.reason.value})
            if entry.quality:
                node.report("quality", stamp, quality_props(entry.quality))
            self.add_uses(batch.tenant, batch.key, entry.inputs, entry.outputs, stamp, of_run=False)
        if "run_id" in node.reports:
            self.link(batch.key, "IN_RUN", self.run(batch.tenant, node.winner("run_id")["run_id"]))

    def properties(self, node: Node) -> Props:
        props = node.settled()
        facets = sorted(r.removeprefix("_facet ") for r in node.reports if r.startswith("_facet "))
        if facets:
            props["facet_names"] = facets
            props["facets"] = [node.winner(f"_facet {name}")["text"] for name in facets]
        if batches := self.known_batches.get(props["key"]):
            props["first_batch"], props["last_batch"] = min(batches), max(batches)
        match node.label:
            case "Run":
                self.run_properties(node, props)
            case "Query":
                props["name"] = props.get("query_name") or props["query_id"]
            case "Dataset":
                self.dataset_properties(node, props)
            case "Alias":
                dataset = key_of(props["tenant"], "dataset", props["namespace"], props["name"])
                props["dataset"] = dataset
        return props

    def run_properties(self, node: Node, props: Props) -> None:
        props["name"] = f"{props.get('job_name', '')} {props['run_id'][:8]}"
        reports = node.reports.get("_state", [])
        ends = [(stamp, values) for stamp, values in reports if values["state"] in ENDS]
        order = ("UNKNOWN", "OTHER", "START", "RUNNING")
        if ends:
            _, end = max(ends, key=lambda report: (report[0], report[1]["state"]))
            props["state"], props["ended_at"] = end["state"], end["ended_at"]
            if end["provenance"] == "RECONCILED":
                props["provenance"] = "RECONCILED"
        else:
            props["state"] = max((values["state"] for _, values in reports), key=order.index, default=None)

    def dataset_properties(self, node: Node, props: Props) -> None:
        lives, gone = self.lives[props["key"]], {"DROP", "RENAMED AWAY"}
        deciding = [life for life in lives if life[2] in {*gone, "CREATE", "OVERWRITE", "RENAME"}]
        if deciding:
            _, time, change = max(deciding)
            props["dropped"] = change in gone
            props["dropped_at"] = time if change in gone else None
        emptied = [(stamp, time) for stamp, time, change in lives if change in {"DROP", "TRUNCATE"}]
        props["emptied_at"] = max(emptied)[1] if emptied else None

    def relate_uses(self, relate: Any) -> None:
        for owner, uses in self.uses.items():
            tenant = self.nodes[owner].fixed["tenant"]
            for (type_, dataset, ordinal), reports in uses.items():
                props: Props = {"key": key_of(tenant, type_, owner, dataset, ordinal)}
                if ordinal:
                    props["ordinal"] = ordinal
                position = self.position_of(owner, (type_, dataset, ordinal))
                props.update(position)
                if (version := self.version_of(tenant, dataset, position)) is not None:
                    relate(owner, {"CONSUMED": "READ", "PRODUCED": "WROTE"}[type_], version, {})
                stated = [(stamp, facets_of(use)) for stamp, use in reports]
                facets = {name for _, each in stated for name in each}
                if facets:
                    props["facet_names"] = sorted(facets)
                    props["facets"] = [
                        max((stamp, each[name]) for stamp, each in stated if name in each)[1] for name in sorted(facets)
                    ]
                for name in ("rows", "bytes", "files", "schema_digest"):
                    values = [(stamp, getattr(use, name)) for stamp, use in reports if getattr(use, name) is not None]
                    if values:
                        props[name] = max(values)[1]
                if type_ == "PRODUCED":
                    props.update(self.sources_of(tenant, [use for _, use in reports]))
                if type_ == "PRODUCED" and self.is_uncommitted(owner, dataset, ordinal):
                    props["uncommitted"] = True
                relate(owner, type_, dataset, props)

    def sources_of(self, tenant: str, reports: list[DatasetUse]) -> Props:
        known = knowledge(reports)
        if known == "listed":
            return {"inputs": sorted({self.dataset(tenant, ref) for use in reports for ref in use.inputs or ()})}
        return {"possible": True} if known == "possible" else {}

    def is_uncommitted(self, owner: str, dataset: str, ordinal: int) -> bool:
        """True for an output that only failed reports of its run name, none of them with a commit."""
        claims = self.claims.get((owner, dataset, ordinal))
        return bool(claims) and not any(claims or ())

    def flowing(self, run: str) -> list[tuple[str, str]]:
        """Its uses that count as flow."""
        return [
            (type_, dataset)
            for type_, dataset, ordinal in self.uses[run]
            if type_ == "CONSUMED" or not self.is_uncommitted(run, dataset, ordinal)
        ]

    def made_from(self, owner: str) -> list[tuple[str, str, str]]:
        """Source, target and what is known of the two ("excluded": not this one), of one run."""
        uses = self.uses[owner]
        tenant = self.nodes[owner].fixed["tenant"]
        consumed = {dataset for type_, dataset, _ in uses if type_ == "CONSUMED"}
        pairs = []
        for (type_, dataset, ordinal), reports in uses.items():
            if type_ == "PRODUCED" and not self.is_uncommitted(owner, dataset, ordinal):
                known = knowledge(use for _, use in reports)
                sources = consumed
                if known == "listed":
                    sources = {self.dataset(tenant, ref) for _, use in reports for ref in use.inputs or ()}
                    pairs += [(source, dataset, "excluded") for source in consumed - sources]
                pairs += [(source, dataset, known) for source in sources]
        return pairs

    def relate_assets(self, relate: Any) -> None:
        """READS, WRITES and FEEDS of jobs and queries."""
        self.observe_plans()
        observed, feeds = self.observed, self.feeds
        for run, node in list(self.nodes.items()):
            if node.label != "Run" or run not in self.uses:
                continue
            for job in self.run_jobs[run]:
                for type_, dataset in self.flowing(run):
                    link = {"CONSUMED": "READS", "PRODUCED": "WRITES"}[type_]
                    observed.setdefault((job, link, dataset), set()).update(node.seen)
                self.relate_flow(job, run, node)
        # What is known better isn't possible any more.
        better = self.excluded.union(feeds)
        self.possible = {feed: times for feed, times in self.possible.items() if feed not in better}
        for key, node in list(self.nodes.items()):
            if node.label == "Job":
                self.relate_job(key, node, relate)
        for (start, type_, dataset), times in observed.items():
            if self.nodes[start].label == "Query":
                relate(start, type_, dataset, {"observed": True, **span_of(times)})

    def relate_flow(self, job: str, run: str, node: Node) -> None:
        for source, target, known in self.made_from(run):
            if known == "excluded":
                self.excluded.add((job, source, target))
            else:
                into = self.possible if known == "possible" else self.feeds
                into.setdefault((job, source, target), set()).update(node.seen)

    def observe_plans(self) -> None:
        for plan, times in self.seen_plans.items():
            tenant, lineage = self.lineages[plan]
            job = self.nodes[plan].fixed["job"]
            for edge in lineage.edges:
                target = self.dataset(tenant, lineage.datasets[edge.output])
                self.observed.setdefault((job, "WRITES", target), set()).update(times)
                if edge.input is not None:
                    source = self.dataset(tenant, lineage.datasets[edge.input])
                    self.observed.setdefault((job, "READS", source), set()).update(times)
                    self.feeds.setdefault((job, source, target), set()).update(times)

    def relate_job(self, key: str, node: Node, relate: Any) -> None:
        """READS, WRITES and FEEDS of one job: what was observed, and what it declares now."""
        observed, feeds = self.observed, self.feeds
        sources = set(node.winner("declared_inputs").get("declared_inputs", ()))
        targets = set(node.winner("declared_outputs").get("declared_outputs", ()))
        declared_pairs = {(source, target) for source in sources for target in targets}
        by_plan = set(node.winner("_declared_pairs").get("pairs", ()))
        sources |= {source for source, _ in by_plan}
        targets |= {target for _, target in by_plan}
        declared = {(key, "READS", d) for d in sources} | {(key, "WRITES", d) for d in targets}
        sets = {link[:3]: found for link, found in self.by_sets.items() if link[0] == key}
        for link in declared | sets.keys() | {link for link in observed if link[0] == key}:
            props: Props = {"observed": link in observed or None, "declarations": sets.get(link)}
            props["declared"] = link in declared or link in sets or None
            relate(*link, {**props, **span_of(observed.get(link, ()))})
        declared_feeds = {(key, source, target) for source, target in declared_pairs | by_plan}
        by_sets = {(key, start, end): found for (start, _, end, job), found in self.by_sets.items() if job == key}
        for feed in declared_feeds | by_sets.keys() | {feed for feed in (*feeds, *self.possible) if feed[0] == key}:
            source, target = feed[1:]
            props = {
                "key": key_of(node.fixed["tenant"], "FEEDS", key, source, target),
                "job": key,
                "job_name": node.fixed["name"],
                "observed": feed in feeds or None,
                "possible": feed in self.possible or None,
                "declarations": by_sets.get(feed),
                "declared": feed in declared_feeds or feed in by_sets or None,
            }
            times = feeds.get(feed, self.possible.get(feed, ()))
            relate(source, "FEEDS", target, {**props, **span_of(times)})

    def relate_columns(self, relate: Any) -> None:
        for plan, (tenant, lineage) in self.lineages.items():
            node = self.nodes[plan]
            words = node.winner("lineage")
            texts = dict(zip(words["expression_ids"], words["expressions"], strict=True))

            def end(index: int, path: str | None, lineage: ColumnLineage = lineage, tenant: str = tenant) -> str:
                dataset = self.dataset(tenant, lineage.datasets[index])
                if path is None:
                    return dataset
                column = self.column(tenant, dataset, path)
                self.link(dataset, "HAS_COLUMN", column)
                relate(dataset, "HAS_COLUMN", column, {})
                return column

            for edge in lineage.edges:
                target = end(edge.output, edge.output_field)
                if edge.input is None:
                    source, type_ = plan, "GENERATES"
                else:
                    source = end(edge.input, edge.input_field)
                    type_ = "DERIVES" if edge.output_field is not None else "INFLUENCES"
                stated = (edge.type.value, edge.subtype, edge.kind.value, int(edge.masking), edge.expression)
                props = {
                    "key": key_of(tenant, type_, plan, source, target, *stated),
                    "plan": plan,
                    "job": node.fixed["job"],
                    "type": edge.type.value,
                    "subtype": edge.subtype,
                    "kind": edge.kind.value,
                    "masking": edge.masking,
                    "expression_id": edge.expression,
                    "expression": texts.get(edge.expression) if edge.expression is not None else None,
                }
                relate(source, type_, target, props)

    def relate_schemas(self, relate: Any) -> None:
        for dataset, schemas in self.schemas.items():
            tenant = self.nodes[dataset].fixed["tenant"]
            current = max(schemas)[2]
            for path in {path for _, _, paths in schemas for path in paths}:
                times = [time for _, time, paths in schemas if path in paths]
                props: Props = {"current": path in current or None, "first_seen": min(times)}
                if path not in current:
                    props["last_seen"] = max(times)
                relate(dataset, "HAS_COLUMN", self.column(tenant, dataset, path), props)

    def relate_plans(self, relate: Any) -> None:
        spans: dict[tuple[str, str], set[datetime]] = defaultdict(set)
        for plan, uses in self.plan_uses.items():
            for owner, time in uses:
                spans[owner, plan] |= {time} if time is not None else set()
        for (owner, plan), times in spans.items():
            relate(owner, "USED", plan, span_of(times))

    def relate_names(self, relate: Any) -> None:
        for dataset, reports in self.symlinks.items():
            for alias, type_ in max(reports)[1]:
                relate(dataset, "KNOWN_AS", alias, {"type": type_})
        for (previous, dataset), times in self.renames.items():
            relate(previous, "RENAMED_TO", dataset, span_of(times))
        for (previous, column), times in self.columns_renamed.items():
            relate(previous, "RENAMED_TO", column, span_of(times))
        for (dataset, column), times in self.columns_dropped.items():
            relate(dataset, "DROPPED", column, span_of(times))

    def relate_chains(self, relate: Any) -> None:
        chains: dict[str, list[tuple[int, Batch]]] = defaultdict(list)
        for (query, batch_id), reports in self.batches.items():
            [best] = [batch for batch in reports.values() if not batch.is_conflict]
            chains[query].append((batch_id, best))
        for query, chain in chains.items():
            chain.sort(key=lambda link: link[0])
            for (first, before), (second, after) in itertools.pairwise(chain):
                props = self.compared(query, before, after, second - first - 1)
                relate(before.key, "NEXT", after.key, props)

    def compared(  # noqa: C901 - a rule a line
        self, query: str, before: Batch, after: Batch, missing: int
    ) -> Props:
        props: Props = {"missing": missing or None}
        faults: dict[str, list[tuple[str, int, int, int, int]]] = {"gap": [], "overlap": []}
        for type_, dataset, ordinal in self.uses[after.key]:
            ours = self.position_of(after.key, (type_, dataset, ordinal))
            theirs = self.position_of(before.key, (type_, dataset, ordinal))
            if ours.get("position") != "kafka" or theirs.get("position") != "kafka":
                continue
            if None not in (ours["topic_id"], theirs["topic_id"]) and ours["topic_id"] != theirs["topic_id"]:
                props["rewinds"] = query
                continue
            old = {
                p: (a, b) for p, a, b in zip(theirs["partitions"], theirs["from"], theirs["to_exclusive"], strict=True)
            }
            for partition, begin, stop in zip(ours["partitions"], ours["from"], ours["to_exclusive"], strict=True):
                if partition not in old:
                    continue
                was_begin, was_stop = old[partition]
                if begin < was_begin or stop < was_stop:
                    props["rewinds"] = query
                sure = {ours["certainty"], theirs["certainty"]} <= {"EXACT", "INFERRED"}
                if type_ == "PRODUCED" or missing or not sure:
                    continue
                if begin > was_stop:
                    faults["gap"].append((dataset, ordinal, partition, was_stop, begin))
                if begin < was_stop:
                    faults["overlap"].append((dataset, ordinal, partition, begin, was_stop))
        for name, rows in faults.items():
            if rows:
                rows.sort()
                for n, part in ((0, "datasets"), (2, "partitions"), (3, "from"), (4, "to_exclusive")):
                    props[f"{name}_{part}"] = [row[n] for row in rows]
        return props

    def position_of(self, owner: str, use: tuple[str, str, int]) -> Props:
        reports = [(stamp, position_props(u)) for stamp, u in self.uses[owner].get(use, ()) if position_props(u)]
        return max(reports, key=lambda report: (report[0], as_text(report[1])))[1] if reports else {}

    def relate_runs(self, relate: Any) -> None:
        for run, reports in self.parents.items():
            relate(run, "CHILD_OF", max(reports)[1], {})

    def infer_ends(self, nodes: dict[str, Props]) -> None:
        """Runs that report no end."""
        runs = {key: props for key, props in nodes.items() if self.nodes[key].label == "Run"}
        parent_of = {run: max(reports)[1] for run, reports in self.parents.items()}
        unended = {key for key, run in runs.items() if run.get("state") not in ENDS}
        silent = {key for key in unended if "last_seen" in runs[key]}
        later: dict[str, str] = {}
        for key, run in runs.items():
            followers = [
                (other["first_seen"], other_key)
                for other_key, other in runs.items()
                if "query_id" in run
                and other.get("query_id") == run["query_id"]
                and other["tenant"] == run["tenant"]
                and "first_seen" in other
                and "last_seen" in run
                and other["first_seen"] > run["last_seen"]
            ]
            if followers:
                later[key] = min(followers)[1]
        ended = {key: ("QUERY_CONTINUED", runs[key]["last_seen"], later[key]) for key in silent if key in later}
        for key in unended - ended.keys():
            children = [child for child, parent in parent_of.items() if parent == key]
            times = [runs[run]["last_seen"] for run in (key, *children) if "last_seen" in runs[run]]
            proofs = [
                (runs[later[child]]["first_seen"], later[child])
                for child in children
                if child in silent
                and child in later
                and parent_of.get(later[child]) not in {None, key}
                and runs[later[child]]["first_seen"] > max(times)
            ]
            if proofs:
                ended[key] = ("CHILDREN_CONTINUED", max(times), min(proofs)[1])
        for key in silent - ended.keys():
            above = ended.get(parent_of.get(key, ""))
            if above is not None and above[0] != "PARENT_ENDED":
                proof = above[2]
                if runs[key]["last_seen"] < runs[proof]["first_seen"]:
                    ended[key] = ("PARENT_ENDED", runs[key]["last_seen"], proof)
        for key in silent | ended.keys():
            if key in ended:
                because, at, proof = ended[key]
                runs[key].update(inferred_state="ABORT", inferred_ended_at=at, inferred_because=because)
                runs[key]["inferred_by"] = runs[proof]["run_id"]
            else:
                runs[key]["open"] = True


def knowledge(reports: Iterable[DatasetUse]) -> str:
    """Knowledge that reports of an output have of its sources: all inputs, those listed, or possibly any of them."""
    known = {"listed" if use.inputs is not None else "possible" if use.possible else "all" for use in reports}
    return next((word for word in ("all", "listed", "possible") if word in known), "all")


def present(props: Props) -> Props:
    return {name: value for name, value in props.items() if value is not None}
