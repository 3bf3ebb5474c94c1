"""Changes that a revision of a set makes to the declarations in the graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from headwater_analysis.declared import Contradiction, Declaration
from headwater_analysis.declared.stored_declarations import edge_text, stated, with_column
from headwater_analysis.declaring.sets import PRODUCER
from headwater_graph import keys
from headwater_graph.fold import fold
from headwater_schemas.events import DatasetRef, DeclarationEvent
from headwater_schemas.events.build import lineage_event
from headwater_schemas.identity import plan_digest
from headwater_schemas.naming import spelling

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ChangedValue:
    """A value that changes.

    Attributes:
        column: path of the column; None: the subject itself.
        property: name of the property; `declared`: a column without properties, which only one of the revisions has.
        before: value in the graph; None: not declared. For `column_lineage`, only the withdrawn edges.
        after: value in the revision; None: not declared. For `column_lineage`, only the added edges.
    """

    column: str | None
    property: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class ChangedDeclaration:
    """A dataset, job or consumer whose declaration changes.

    Attributes:
        change: `added`, `withdrawn` or `changed`.
        subject_type: `dataset`, `job` or `consumer`.
        namespace: namespace of the subject; None for a consumer.
        name: name of the subject.
        values: changed values, if both revisions declare the subject.
    """

    change: Literal["added", "withdrawn", "changed"]
    subject_type: str
    namespace: str | None
    name: str
    values: list[ChangedValue] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SetResult:
    """Outcome of declaring a set.

    Attributes:
        set: id of the set.
        revision: number of the revision.
        declarations: number of declarations in the set.
        published: number of events that were published; 0: nothing changed, or publishing was off.
        in_graph: whether the graph has this revision; False if it wasn't published, or if the command didn't wait for
            it.
        changes: declarations that change.
        unknown_datasets: datasets that the set names and that the graph didn't have, by namespace and name.
        contradictions: properties for which other sets declare other values.
        cycles: cycles of datasets that declared jobs derive from each other.
        unchecked_names: names without a namespace that weren't looked up, because the graph wasn't used.
    """

    set: str
    revision: int
    declarations: int
    published: int
    in_graph: bool
    changes: list[ChangedDeclaration]
    unknown_datasets: list[str]
    contradictions: list[Contradiction]
    cycles: list[list[str]]
    unchecked_names: list[str] = field(default_factory=list)


Edges: TypeAlias = Mapping[tuple[str, str], Collection[str]]
"""Edges of column lineage, as `edge_text`, by key of the job and digest of the plan."""


def difference(
    after: Iterable[Declaration],
    before: Iterable[Declaration],
    *,
    added: Iterable[DeclarationEvent] = (),
    edges: Edges | None = None,
) -> list[ChangedDeclaration]:
    """List the changes of a set, in order of type, namespace and name.

    Args:
        after: declarations of the set's next revision (`made`).
        before: declarations of the set in the graph.
        added: further declarations of the next revision, for subjects without a declaration in the graph.
        edges: edges of column lineage in both revisions.
    """
    old = {one.subject: one for one in before}
    new = {one.subject: one for one in after}
    out = [ChangedDeclaration("added", *_subject(body)) for body in added]
    for subject in old.keys() | new.keys():
        one, other = old.get(subject), new.get(subject)
        shown = other or one
        assert shown is not None  # noqa: S101 - `old` or `new` has the subject; for the type checker
        about = (shown.subject_type, shown.namespace, shown.name)
        if one is None:
            out.append(ChangedDeclaration("added", *about))
        elif other is None:
            out.append(ChangedDeclaration("withdrawn", *about))
        elif one.key != other.key:
            out.append(ChangedDeclaration("changed", *about, _changed(one, other, edges or {})))
    return sorted(out, key=lambda change: (change.subject_type, change.namespace or "", change.name))


def made(
    bodies: Mapping[str, DeclarationEvent], *, tenant: str, shown: Mapping[str, str] | None = None
) -> list[Declaration]:
    """Declarations in the form that the graph has after the revision.

    Args:
        bodies: bodies of events by the declaration's key.
        shown: display names, by key, of datasets that answers show under another name.
    """
    out = []
    events = [lineage_event(body, producer=PRODUCER, event_time=_EPOCH, tenant=tenant) for body in bodies.values()]
    for key, facts in fold(events).declarations.items():
        body = bodies[key]
        subject = body.dataset or body.job
        paths = [column.path for column in body.columns or ()]
        out.append(
            Declaration(
                key,
                body.set,
                facts.subject,
                str(facts.properties["subject_type"]),
                None if subject is None else subject.namespace,
                body.consumer or "" if subject is None else subject.name,
                stated(facts.properties, _names(body, tenant, shown or {})),
                {path: stated(values) for path, (_, values) in zip(paths, facts.columns, strict=True)},
            )
        )
    return out


def _names(body: DeclarationEvent, tenant: str, shown: Mapping[str, str]) -> dict[str, tuple[str, str | None]]:
    """Names, by key, of the datasets that a declaration names, and of the columns that it reads."""
    out: dict[str, tuple[str, str | None]] = {}
    for dataset in named_datasets([body]):
        key = keys.dataset_key(tenant, dataset.namespace, dataset.name)
        out[key] = (shown.get(key, spelling(dataset.namespace, dataset.name)), None)
    for read in body.reads or ():
        key = keys.dataset_key(tenant, read.dataset.namespace, read.dataset.name)
        out |= {keys.column_key(tenant, key, column): (out[key][0], column) for column in read.columns}
    return out


def _subject(body: DeclarationEvent) -> tuple[str, str | None, str]:
    if body.dataset is not None:
        return "dataset", body.dataset.namespace, body.dataset.name
    if body.job is not None:
        return "job", body.job.namespace, body.job.name
    return "consumer", None, body.consumer or ""


def subject_key(body: DeclarationEvent, *, tenant: str) -> str:
    """Key of the dataset, job or consumer that is declared."""
    if body.dataset is not None:
        return keys.dataset_key(tenant, body.dataset.namespace, body.dataset.name)
    if body.job is not None:
        return keys.job_key(tenant, body.job.namespace, body.job.name)
    return keys.consumer_key(tenant, body.consumer or "")


def named_datasets(declarations: Iterable[DeclarationEvent]) -> set[DatasetRef]:
    """Datasets that these declarations name."""
    out: set[DatasetRef] = set()
    for body in declarations:
        out |= {body.dataset} if body.dataset is not None else set()
        out |= {*(body.inputs or ()), *(body.outputs or ()), *(read.dataset for read in body.reads or ())}
        out |= set(() if body.lineage is None else body.lineage.datasets)
        out |= {dataset for part in body.partitions or () for dataset in (part.input, part.output)}
    return out


def edges_of(bodies: Mapping[str, DeclarationEvent], *, tenant: str) -> dict[tuple[str, str], set[str]]:
    """Edges of the column lineage of declarations."""
    out = {}
    for body in bodies.values():
        if (lineage := body.lineage) is None:
            continue
        names = [spelling(dataset.namespace, dataset.name) for dataset in lineage.datasets]
        texts = {expression.id: expression.text for expression in lineage.expressions}
        out[subject_key(body, tenant=tenant), plan_digest(lineage)] = {
            edge_text(
                with_column(names[edge.output], edge.output_field),
                with_column(names[edge.input], edge.input_field),
                edge.kind,
                texts.get(edge.expression or ""),
                masking=bool(edge.masking),
            )
            for edge in lineage.edges
            if edge.input is not None
        }
    return out


def _changed(one: Declaration, other: Declaration, edges: Edges) -> list[ChangedValue]:
    pairs: list[tuple[str | None, dict[str, Any], dict[str, Any]]] = [(None, one.values, other.values)]
    pairs += [
        (path, _of_column(one, path), _of_column(other, path))
        for path in sorted(one.columns.keys() | other.columns.keys())
    ]
    values = [
        ChangedValue(column, name, before.get(name), after.get(name))
        for column, before, after in pairs
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]
    return [_by_edges(value, one.subject, edges) if value.property == "plan" else value for value in values]


def _by_edges(value: ChangedValue, job: str, edges: Edges) -> ChangedValue:
    """Change of column lineage, with only the withdrawn and the added edges, if these are known."""
    before, after = (set(edges.get((job, digest or ""), ())) for digest in (value.before, value.after))
    if before == after:
        return value
    return ChangedValue(None, "column_lineage", sorted(before - after), sorted(after - before))


def _of_column(declaration: Declaration, path: str) -> dict[str, Any]:
    found = declaration.columns.get(path)
    return {} if found is None else found or {"declared": True}
