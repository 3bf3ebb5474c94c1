"""DeclarationEvent and DeclarationSetEvent: declarations, nodes that they name, and the latest revision of a set."""

from __future__ import annotations

from collections.abc import Iterable

from headwater_graph import keys
from headwater_graph.declarations import feeds_of
from headwater_graph.facts.declarations import DeclarationFacts, Revision, SetFacts
from headwater_graph.facts.nodes import ColumnFacts
from headwater_graph.facts.registers import Props
from headwater_graph.fold.builder import Builder, known, owners_cell
from headwater_graph.fold.plan import dataset_pairs, fold_lineage
from headwater_schemas.events import (
    Approval,
    DatasetMark,
    DatasetRef,
    DeclarationEvent,
    DeclarationSetEvent,
    DeclaredColumn,
    JobRef,
    LineageEvent,
    PartitionMapping,
    Tag,
)
from headwater_schemas.identity import declaration_digest, plan_digest

_PLAIN = (
    *("description", "classification", "criticality", "certified", "freshness_seconds", "deadline", "notice_days"),
    *("on_call", "contact", "url", "keep_days", "reference"),
)
"""Fields of a declaration that are properties of the same name and value."""


def fold_declaration(into: Builder, event: LineageEvent, body: DeclarationEvent, stamp: str) -> None:
    """Fold a DeclarationEvent into `into`. A declaration isn't an observation, so it widens no span."""
    tenant = event.tenant
    set_key, _ = into.declaration_set(tenant, body.set)
    digest = declaration_digest(body)
    key = keys.declaration_key(tenant, set_key, digest)
    of_subject: Props
    columns: tuple[tuple[str, Props], ...] = ()
    if body.dataset is not None:
        name, kind = body.dataset.name, "dataset"
        subject, of_subject = _dataset(into, tenant, body.dataset, body.columns or ())
        of_subject |= _marks(body.marks or ()) | keys.owner_of(into.delta.datasets[subject].identity)
        columns = tuple(
            (keys.column_key(tenant, subject, column.path), _column(column)) for column in body.columns or ()
        )
    elif body.job is not None:
        name, kind = body.job.name, "job"
        subject, of_subject = _job(into, tenant, body.job, body, stamp)
        of_subject |= keys.owner_of(into.delta.jobs[subject].identity)
    else:
        name, kind = body.consumer or "", "consumer"
        subject, of_subject = _consumer(into, tenant, name, body)
        of_subject |= keys.owner_of(into.delta.consumers[subject].identity)
    properties: Props = {
        "key": key,
        "name": f"{body.set}: {name} {digest[:8]}",
        "tenant": tenant,
        "set": body.set,
        "subject": subject,
        "subject_type": kind,
        **of_subject,
    }
    for field in _PLAIN:
        if (value := getattr(body, field)) is not None:
            properties[field] = value
    if (sensitivity := known(body.sensitivity)) is not None:
        properties["sensitivity"] = sensitivity
    if (owners := owners_cell(body.owners)) is not None:
        properties |= {name: value for name, value in owners.items() if not name.startswith("_")}
    properties |= _words(body.tags, body.glossary)
    into.delta.declarations[key] = DeclarationFacts(properties, set_key, subject, columns)


def fold_declaration_set(into: Builder, event: LineageEvent, body: DeclarationSetEvent, stamp: str) -> None:
    """Fold a DeclarationSetEvent into `into`."""
    tenant = event.tenant
    set_key, node = into.declaration_set(tenant, body.set)
    properties: Props = {"declared_at": event.event_time}
    for field in ("format", "source", "document"):
        if (value := getattr(body, field)) is not None:
            properties[field] = value
    items = tuple(sorted(keys.declaration_key(tenant, set_key, digest) for digest in body.items))
    node.join(SetFacts({}, Revision(body.revision, stamp, items, properties)))


def _dataset(into: Builder, tenant: str, dataset: DatasetRef, columns: Iterable[DeclaredColumn]) -> tuple[str, Props]:
    key, node = into.dataset(tenant, dataset)
    paths = [column.path for column in columns]
    for path in paths:
        node.columns.setdefault(path, ColumnFacts())
    return key, {"columns": paths} if paths else {}


def _column(column: DeclaredColumn) -> Props:
    out: Props = {}
    for field in ("description", "classification", "smallest_group", "type"):
        if (value := getattr(column, field)) is not None:
            out[field] = value
    if (sensitivity := known(column.sensitivity)) is not None:
        out["sensitivity"] = sensitivity
    if column.approval is not None:
        out |= _approval(column.approval)
    return out | _words(column.tags, column.glossary)


def _approval(approval: Approval) -> Props:
    values = {
        "covers": known(approval.covers),
        "sensitivity": known(approval.sensitivity),
        "by": approval.by,
        "reason": approval.reason,
        "until": approval.until,
    }
    return {f"approval_{name}": value for name, value in values.items() if value is not None}


def _marks(marks: Iterable[DatasetMark]) -> Props:
    rows = sorted({(mark.mark, mark.version or "", known(mark.spread) or "", mark.reason or "") for mark in marks})
    names = ("marks", "mark_versions", "mark_spreads", "mark_reasons")
    return {name: [row[number] for row in rows] for number, name in enumerate(names)} if rows else {}


def _words(tags: Iterable[Tag] | None, glossary: Iterable[str] | None) -> Props:
    out: Props = {}
    if tags is not None:
        rows = sorted({(tag.key, tag.value or "") for tag in tags})
        out["tags"], out["tag_values"] = [row[0] for row in rows], [row[1] for row in rows]
    if glossary is not None:
        out["glossary"] = sorted(set(glossary))
    return out


def _job(into: Builder, tenant: str, job: JobRef, body: DeclarationEvent, stamp: str) -> tuple[str, Props]:
    key, _ = into.job(tenant, job)
    inputs = {into.dataset(tenant, dataset)[0] for dataset in body.inputs or ()}
    outputs = {into.dataset(tenant, dataset)[0] for dataset in body.outputs or ()}
    pairs: set[tuple[str, str]] = set()
    out: Props = {"_job": job.name}
    if body.lineage is not None:
        digest = plan_digest(body.lineage)
        _, plan = into.plan(tenant, key, job, digest)
        pairs = dataset_pairs(body.lineage, fold_lineage(into, tenant, plan, body.lineage, stamp))
        out["plan"] = digest
    out |= feeds_of(inputs, outputs, pairs)
    if body.partitions:
        out |= _partitions(into, tenant, body.partitions)
    return key, out


def _partitions(into: Builder, tenant: str, partitions: Iterable[PartitionMapping]) -> Props:
    rows = sorted(
        (
            into.dataset(tenant, mapping.input)[0],
            into.dataset(tenant, mapping.output)[0],
            mapping.input_field,
            mapping.output_field,
            mapping.transform,
        )
        for mapping in partitions
    )
    names = ("inputs", "outputs", "input_fields", "output_fields", "transforms")
    return {f"partition_{name}": [row[number] for row in rows] for number, name in enumerate(names)}


def _consumer(into: Builder, tenant: str, name: str, body: DeclarationEvent) -> tuple[str, Props]:
    key, _ = into.consumer(tenant, name)
    consumes: set[str] = set()
    for read in body.reads or ():
        dataset, node = into.dataset(tenant, read.dataset)
        consumes.add(dataset)
        for path in read.columns:
            node.columns.setdefault(path, ColumnFacts())
            consumes.add(keys.column_key(tenant, dataset, path))
    out: Props = {"_consumes": sorted(consumes)} if consumes else {}
    if (type_ := known(body.type)) is not None:
        out["type"] = type_
    return key, out
