"""Declaration sets: what the latest revision of each lists, and what follows from what it lists."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from typing import Any

import msgspec

from headwater_schemas.events import DeclarationEvent, DeclarationSetEvent, DeclaredColumn, LineageEvent
from support.graph.reference.retention import Retained
from support.graph.reference.values import Props, Stamp, key_of, or_empty


def digest_of(body: DeclarationEvent) -> str:
    """The digest of a declaration's content."""

    def given(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: given(part) for name, part in value.items() if part is not None}
        return [given(part) for part in value] if isinstance(value, list) else value

    content = given(json.loads(msgspec.json.encode(body)))
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


class Declared(Retained):
    """The reports with the declarations of sets."""

    def declare(self) -> dict[tuple[str, str, str, str], list[str]]:
        """Make the nodes; declarations that hold, by what they relate: start, type, end, and the job of FEEDS."""
        sets: dict[str, list[tuple[int, Stamp, DeclarationSetEvent, LineageEvent]]] = {}
        bodies: dict[str, tuple[str, DeclarationEvent, str]] = {}
        for event, stamp in self.declared:
            body = event.declaration_event or event.declaration_set_event
            assert body is not None
            key = key_of(event.tenant, "declaration_set", body.set)
            self.node("DeclarationSet", key, tenant=event.tenant, name=body.set)
            revisions = sets.setdefault(key, [])
            if isinstance(body, DeclarationSetEvent):
                revisions.append((body.revision, stamp, body, event))
            else:
                bodies[key_of(event.tenant, "declaration", key, digest_of(body))] = (event.tenant, body, key)
        made: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
        links = {key: self.declaration(key, *body) for key, body in bodies.items()}
        for key, revisions in sets.items():
            if not revisions:
                continue
            number, _, body, event = max(revisions, key=lambda revision: revision[:2])
            items = sorted(key_of(event.tenant, "declaration", key, digest) for digest in body.items)
            props = self.nodes[key].fixed
            props |= {"revision": number, "declared_at": event.event_time, "declarations": len(items)}
            props |= {"missing": sum(item not in bodies for item in items) or None}
            props |= {"format": body.format, "source": body.source, "document": body.document}
            for item in items:
                if item in bodies:
                    self.nodes[item].fixed["current"] = True
                    for link in links[item]:
                        made[link].append(item)
        return {link: sorted(keys) for link, keys in made.items()}

    def declaration(
        self, key: str, tenant: str, body: DeclarationEvent, set_key: str
    ) -> set[tuple[str, str, str, str]]:
        """The node of one declaration; what it relates while it holds."""
        props: Props = {"tenant": tenant, "set": body.set, "columns": None}
        links: set[tuple[str, str, str, str]] = set()
        if body.dataset is not None:
            subject, name, kind = self.dataset(tenant, body.dataset), body.dataset.name, "dataset"
            marks = body.marks or ()
            props["columns"] = [column.path for column in body.columns or ()] or None
            for column in body.columns or ():
                path = self.column(tenant, subject, column.path)
                self.link(subject, "HAS_COLUMN", path)
                self.declared_columns[key, path] = {
                    "description": column.description,
                    "classification": column.classification,
                    "sensitivity": symbol(column.sensitivity),
                    "smallest_group": column.smallest_group,
                    "type": column.type,
                    **approval_of(column),
                    **words(column.tags, column.glossary),
                }
            rows = sorted({(m.mark, or_empty(m.version), symbol(m.spread) or "", or_empty(m.reason)) for m in marks})
            for number, name_ in enumerate(("marks", "mark_versions", "mark_spreads", "mark_reasons")):
                props[name_] = [row[number] for row in rows] or None
        elif body.job is not None:
            subject, name, kind = self.job(tenant, body.job), body.job.name, "job"
            links = self.of_job(tenant, subject, body)
            props |= self.job_properties(tenant, subject, body, links)
        else:
            assert body.consumer is not None
            subject = self.node(
                "Consumer", key_of(tenant, "consumer", body.consumer), tenant=tenant, name=body.consumer
            )
            name, kind = body.consumer, "consumer"
            props["type"] = symbol(body.type)
            for read in body.reads or ():
                dataset = self.dataset(tenant, read.dataset)
                links.add((subject, "CONSUMES", dataset, ""))
                for path in read.columns:
                    column_key = self.column(tenant, dataset, path)
                    self.link(dataset, "HAS_COLUMN", column_key)
                    links.add((subject, "CONSUMES", column_key, ""))
        props |= {"name": f"{body.set}: {name} {digest_of(body)[:8]}", "subject": subject, "subject_type": kind}
        for field in ("description", "classification", "criticality", "certified", "freshness_seconds", "deadline"):
            props[field] = getattr(body, field)
        for field in ("notice_days", "on_call", "contact", "url", "keep_days", "reference"):
            props[field] = getattr(body, field)
        props |= {"sensitivity": symbol(body.sensitivity), **words(body.tags, body.glossary)}
        if body.owners is not None:
            rows_ = sorted({(owner.name, or_empty(owner.type)) for owner in body.owners})
            props |= {"owners": [row[0] for row in rows_], "owner_types": [row[1] for row in rows_]}
        self.node("Declaration", key, **props)
        self.link(key, "IN_SET", set_key)
        self.link(key, "DECLARES", subject)
        return links

    def job_properties(
        self, tenant: str, job: str, body: DeclarationEvent, links: set[tuple[str, str, str, str]]
    ) -> Props:
        """Properties that only declarations of jobs have."""
        props: Props = {"inputs": sorted(end for _, type_, end, _ in links if type_ == "READS") or None}
        props["outputs"] = sorted(end for _, type_, end, _ in links if type_ == "WRITES") or None
        if body.lineage is not None:
            reports = [s for event, s in self.declared if (event.tenant, event.declaration_event) == (tenant, body)]
            for stamp in reports:
                plan = self.add_lineage(tenant, job, body.lineage, stamp)
                props["plan"] = self.nodes[plan].fixed["digest"]
        rows = []
        for part in body.partitions or ():
            ends = (self.dataset(tenant, part.input), self.dataset(tenant, part.output))
            rows.append((*ends, part.input_field, part.output_field, part.transform))
        for number, name in enumerate(("inputs", "outputs", "input_fields", "output_fields", "transforms")):
            props[f"partition_{name}"] = [row[number] for row in sorted(rows)] or None
        return props

    def of_job(self, tenant: str, job: str, body: DeclarationEvent) -> set[tuple[str, str, str, str]]:
        """READS, WRITES and FEEDS by the declaration of a job."""
        sources = {self.dataset(tenant, ref) for ref in body.inputs or ()}
        targets = {self.dataset(tenant, ref) for ref in body.outputs or ()}
        pairs = {(source, target) for source in sources for target in targets}
        by_columns = set() if body.lineage is None else self.fed_by(tenant, body.lineage)
        sources |= {source for source, _ in by_columns}
        targets |= {target for _, target in by_columns}
        links = {(job, "READS", dataset, "") for dataset in sources}
        links |= {(job, "WRITES", dataset, "") for dataset in targets}
        return links | {(source, "FEEDS", target, job) for source, target in pairs | by_columns}


def approval_of(column: DeclaredColumn) -> Props:
    """A column's approval."""
    given = column.approval
    if given is None:
        return {}
    return {
        "approval_covers": symbol(given.covers),
        "approval_sensitivity": symbol(given.sensitivity),
        "approval_by": given.by,
        "approval_reason": given.reason,
        "approval_until": given.until,
    }


def symbol(value: Any) -> str | None:
    """An enum's symbol; None for none and UNKNOWN."""
    return None if value is None or value.value == "UNKNOWN" else str(value.value)


def words(tags: Any, glossary: Any) -> Props:
    """Tags and terms."""
    props: Props = {}
    if tags is not None:
        rows = sorted({(tag.key, or_empty(tag.value)) for tag in tags})
        props |= {"tags": [row[0] for row in rows], "tag_values": [row[1] for row in rows]}
    return props if glossary is None else {**props, "glossary": sorted(set(glossary))}
