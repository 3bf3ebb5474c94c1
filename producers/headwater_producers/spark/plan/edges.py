"""Edges of a `ColumnLineage`, from columns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from headwater_producers.spark.plan.column import (
    CONSTANT,
    REST,
    VALUE,
    DataType,
    DirectSource,
    FieldRef,
    Indirect,
    Path,
    ValueLineage,
    clip,
    member_key,
)
from headwater_producers.spark.plan.lattice import subtype
from headwater_producers.spark.plan.schema import path_text, type_parts
from headwater_producers.spark.plan.structure import members, part
from headwater_schemas.events import ColumnEdge, ColumnLineage, DatasetRef, Expression, TransformationType
from headwater_schemas.events import TransformationKind as Kind


@dataclass(frozen=True, slots=True)
class OutputField:
    """Top-level field of an output, with its lineage."""

    name: str
    column: ValueLineage
    type: DataType = None
    branch: str | None = None
    """WHEN of a MERGE that sets the field: each branch has separate edges."""


@dataclass(frozen=True, slots=True)
class OutputFields:
    """Output dataset and its fields in order; two may share a name."""

    dataset: DatasetRef
    fields: tuple[OutputField, ...] = ()
    payload: bool = False
    """True for a topic: the parts of an encoded field, such as `value`, are fields of the dataset."""


def unfold(field: OutputField, *, payload: bool = False) -> Iterator[tuple[Path, ValueLineage]]:
    """Yield the field and all parts in its type, parents first; for a topic's payload, also the encoded parts."""
    yield from _unfold((field.name,), field.column, field.type)
    encoded = field.column.encoded
    if payload and encoded is not None:
        for step, inner, _ in type_parts(encoded.type):
            yield from _unfold((field.name, step), part(encoded, step), inner)


def _unfold(path: Path, column: ValueLineage, data_type: DataType) -> Iterator[tuple[Path, ValueLineage]]:
    yield path, column
    for step, inner, _ in type_parts(data_type):
        yield from _unfold((*path, step), part(column, step), inner)


def unfold_all(field: OutputField) -> Iterator[tuple[Path, ValueLineage]]:
    """Yield the field and all its parts: of its type, of its encoded value, and map values by known key."""
    yield from _unfold_all((field.name,), field.column, field.type)


def _unfold_all(path: Path, column: ValueLineage, data_type: DataType) -> Iterator[tuple[Path, ValueLineage]]:
    yield path, column
    parts = type_parts(data_type)
    if not parts and column.encoded is not None:
        column = column.encoded
        parts = type_parts(column.type)
    for step, inner, _ in parts:
        known = members(column, VALUE) if step == VALUE else {}
        keys = {member_key(name): member for name, member in known.items()}
        for key, member in keys.items():
            if key != REST:
                yield from _unfold_all((*path, key), member, inner)
        if not keys:
            yield from _unfold_all((*path, step), part(column, step), inner)


def column_lineage(
    targets: Iterable[OutputFields], influences: frozenset[Indirect], problems: Iterable[str] = ()
) -> ColumnLineage:
    """Build the edges into `targets`. Influences on all rows are stored once for each target."""
    collector = _EdgeCollector()
    for target in targets:
        collector.see(target.dataset)
        for influence in influences:
            collector.indirect(target.dataset, None, influence)
        for field in target.fields:
            for path, column in unfold(field, payload=target.payload):
                collector.column(target.dataset, path, column, field.branch)
    return collector.lineage(tuple(problems))


def whole_lineage(
    outputs: Iterable[DatasetRef], inputs: Iterable[DatasetRef], problems: Iterable[str]
) -> ColumnLineage:
    """Build the fallback lineage for unreadable columns: each output may come from each input, kind UNKNOWN."""
    collector = _EdgeCollector()
    sources = list(inputs)
    for output in outputs:
        collector.see(output)
        for source in sources:
            collector.direct(output, None, DirectSource(FieldRef(source), Kind.UNKNOWN), None)
    return collector.lineage(tuple(problems))


def edge_kind(direct: DirectSource, name: str) -> Kind:
    """Return the kind of a direct edge into a field of this name: a COPY under another name is a RENAME."""
    source = direct.field
    if direct.kind is Kind.COPY and isinstance(source, FieldRef) and source.path and source.path[-1] != name:
        return Kind.RENAME
    return direct.kind


def edge_sources(column: ValueLineage) -> Iterator[DirectSource]:
    """Yield the direct sources that get an edge: a constant only if it is the value's only source."""
    only_constant = column.direct == CONSTANT and not column.indirect
    for direct in column.direct:
        if direct.field is not None or direct.kind is not Kind.CONSTANT or only_constant:
            yield direct


def expression_of(text: str) -> Expression:
    """Return a text with its id; equal texts have equal ids."""
    return Expression(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest(), text)


class _EdgeCollector:
    """Collector of edges by dataset; indices are assigned at the end, when the datasets are known and sorted."""

    def __init__(self) -> None:
        self._datasets: dict[DatasetRef, None] = {}
        self._expressions: dict[str, Expression] = {}
        self._edges: set[tuple[DatasetRef, DatasetRef | None, ColumnEdge]] = set()

    def see(self, dataset: DatasetRef) -> None:
        self._datasets.setdefault(dataset)

    def column(self, output: DatasetRef, path: Path, column: ValueLineage, branch: str | None = None) -> None:
        for direct in edge_sources(column):
            self.direct(output, path, direct, column.text, branch)
        for indirect in column.indirect:
            self.indirect(output, path, indirect)

    def direct(
        self, output: DatasetRef, path: Path | None, direct: DirectSource, text: str | None, branch: str | None = None
    ) -> None:
        kind = edge_kind(direct, path[-1] if path else "")
        shown = None if kind in (Kind.COPY, Kind.RENAME) and branch is None else text
        shown = clip(f"{branch}: {shown}") if branch else shown
        self._edge(output, path, direct.field, TransformationType.DIRECT, kind, shown, masking=direct.masking)

    def indirect(self, output: DatasetRef, path: Path | None, indirect: Indirect) -> None:
        type_ = TransformationType.INDIRECT
        self._edge(output, path, indirect.field, type_, indirect.kind, indirect.text, masking=indirect.masking)

    def _edge(
        self,
        output: DatasetRef,
        path: Path | None,
        source: object,
        type_: TransformationType,
        kind: Kind,
        text: str | None,
        *,
        masking: bool,
    ) -> None:
        field = source if isinstance(source, FieldRef) else None
        self.see(output)
        if field is not None:
            self.see(field.dataset)
        edge = ColumnEdge(
            output=-1,
            output_field=path_text(path) if path else None,
            input_field=path_text(field.path) if field and field.path else None,
            type=type_,
            subtype=subtype(kind),
            kind=kind,
            masking=masking,
            expression=self._expression(text),
        )
        self._edges.add((output, field.dataset if field else None, edge))

    def _expression(self, text: str | None) -> str | None:
        if not text:
            return None
        expression = expression_of(text)
        self._expressions[expression.id] = expression
        return expression.id

    def lineage(self, problems: tuple[str, ...]) -> ColumnLineage:
        datasets = tuple(sorted(self._datasets))
        index: Mapping[DatasetRef, int] = {dataset: i for i, dataset in enumerate(datasets)}
        edges = [
            msgspec.structs.replace(edge, output=index[output], input=None if source is None else index[source])
            for output, source, edge in self._edges
        ]
        return ColumnLineage(
            datasets=datasets,
            edges=tuple(sorted(edges, key=_order)),
            expressions=tuple(sorted(self._expressions.values())),
            complete=not problems,
            incomplete_reason="; ".join(problems) or None,
        )


def _order(edge: ColumnEdge) -> tuple[object, ...]:
    # Nulls first: comparing edges directly would compare None with text.
    return (
        edge.output,
        edge.output_field or "",
        -1 if edge.input is None else edge.input,
        edge.input_field or "",
        edge.type,
        edge.kind,
        edge.masking,
        edge.expression or "",
    )
