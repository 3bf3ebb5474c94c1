"""Parser of Headwater's own files: text → declaration set, or all mistakes with line and field."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from headwater_analysis.declaring import model
from headwater_analysis.declaring.names import Names, UnresolvedNameError
from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path
from headwater_analysis.declaring.sets import MOST_DECLARATIONS, MOST_PAIRS, DeclaredSet
from headwater_analysis.declaring.yaml_lines import LocatedDocument, parse_yaml
from headwater_schemas.events import (
    Approval,
    ColumnEdge,
    ColumnLineage,
    DatasetMark,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    DeclaredColumn,
    Expression,
    JobRef,
    Owner,
    PartitionMapping,
    Tag,
    TransformationKind,
    TransformationType,
)
from headwater_schemas.identity import canonical_lineage, declaration_digest
from headwater_schemas.redacted_values import redacted

_MOST_PROBLEMS: Final = 100
_ROW_STEPS: Final = 2
"""Number of steps in the path of a single dataset, job or consumer."""
_FORMS_READ: Final = frozenset({model.Read.__name__, model.Named.__name__})
_INDIRECT: Final = frozenset(
    kind for kind in TransformationKind if kind.value.endswith("_DEPENDENCY") or kind is TransformationKind.CONDITIONAL
)
_REST: Final = re.compile(r"[^(<]*[)>]+")
"""Key that YAML sees behind the comma of `{type: decimal(10,2)}`."""
_COPIED: Final = ("description", "classification", "sensitivity", "criticality", "certified", "deadline")
_MESSAGES: Final = {
    "string_type": "must be a text",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "greater_than_equal": "must be 1 or more",
    "bool_type": "must be true or false",
    "less_than_equal": "is too large",
    "int_type": "must be a whole number",
    "string_too_short": "is empty",
}


def read_set(file: str, text: str, names: Names | None = None) -> DeclaredSet:
    """Read the declaration set of a file in Headwater's own format.

    Args:
        file: name of the file, for messages.
        text: YAML or JSON.
        names: lookup of datasets without a namespace; None: such names are mistakes.

    Raises:
        DeclarationError: the file has mistakes.
    """
    document = parse_yaml(file, text)
    if not isinstance(document.value, dict):
        raise DeclarationError([FileProblem(file, 1, (), "a declaration file is a mapping that begins with `set:`")])
    try:
        found = model.Declarations.model_validate(document.value)
    except ValidationError as error:
        raise DeclarationError(_problems_of(file, document, error)) from error
    return _Builder(file, document, found, names).declared_set()


class _Builder:
    """Builder of event bodies from a well-formed file."""

    def __init__(self, file: str, document: LocatedDocument, found: model.Declarations, names: Names | None) -> None:
        self._file, self._document, self._found, self._names = file, document, found, names
        self._problems: list[FileProblem] = []

    def declared_set(self) -> DeclaredSet:
        declarations: dict[str, DeclarationEvent] = {}
        lines: dict[str, int] = {}
        subjects: dict[object, int] = {}
        for key, make in (("datasets", self._dataset), ("jobs", self._job), ("consumers", self._consumer)):
            for index, one in enumerate(getattr(self._found, key)):
                path: Path = (key, index)
                body = redacted(make(one, path))
                line = self._document.line(path)
                subject = (body.dataset, body.job, body.consumer)
                if subject in subjects:
                    self._wrong((*path, "name"), f"is declared in line {subjects[subject]} already")
                    continue
                subjects[subject] = line
                digest = declaration_digest(body)
                declarations[digest], lines[digest] = body, line
        if len(declarations) > MOST_DECLARATIONS:
            count = f"{len(declarations):,} datasets, jobs and consumers"
            self._wrong(
                (), f"a set may have {MOST_DECLARATIONS:,} declarations, this one has {count}: use several sets"
            )
        if self._problems:
            raise DeclarationError(self._problems[:_MOST_PROBLEMS])
        return DeclaredSet(self._found.set, declarations, self._found.revision, lines=lines)

    def _wrong(self, path: Path, message: str) -> None:
        self._problems.append(FileProblem(self._file, self._document.line(path), path, message))

    def _dataset(self, one: model.Dataset, path: Path) -> DeclarationEvent:
        return DeclarationEvent(
            **self._described(one),
            dataset=self._named(one.namespace, one.name, path),
            keep_days=one.keep,
            reference=one.reference,
            columns=_columns(one.columns),
            marks=_marks(one.marks),
        )

    def _job(self, one: model.Job, path: Path) -> DeclarationEvent:
        if (pairs := len(one.inputs or ()) * len(one.outputs or ())) > MOST_PAIRS:
            self._wrong(path, f"every input feeds every output: {pairs:,} pairs, at most {MOST_PAIRS:,}; split the job")
        return DeclarationEvent(
            **self._described(one),
            job=JobRef(self._namespace(one.namespace, path), one.name),
            inputs=self._refs(one.inputs, (*path, "inputs")),
            outputs=self._refs(one.outputs, (*path, "outputs")),
            lineage=None if one.columns is None else self._lineage(one.columns, (*path, "columns")),
            partitions=self._partitions(one.partitions, (*path, "partitions")),
        )

    def _consumer(self, one: model.Consumer, path: Path) -> DeclarationEvent:
        reads = None
        if one.reads is not None:
            rows = [self._read(read, (*path, "reads", index)) for index, read in enumerate(one.reads)]
            reads = tuple(sorted(set(rows)))
        return DeclarationEvent(**self._described(one), consumer=one.name, type=one.type, reads=reads)

    def _described(self, one: model._Described) -> dict[str, Any]:
        return {
            "set": self._found.set,
            **{name: getattr(one, name) for name in _COPIED},
            "owners": _owners(one.owners),
            "tags": _tags(one.tags),
            "glossary": _sorted(one.glossary),
            "freshness_seconds": one.freshness,
            "notice_days": one.notice,
            "on_call": one.on_call,
            "contact": one.contact,
            "url": one.url,
        }

    def _namespace(self, own: str | None, path: Path) -> str:
        if own is not None:
            return own
        if self._found.namespace is None:
            self._wrong(path, "has no namespace: add `namespace` here, or to the file for all names")
            return ""
        return self._found.namespace

    def _named(self, namespace: str | None, name: str, path: Path) -> DatasetRef:
        if namespace is not None or self._found.namespace is not None or self._names is None:
            return DatasetRef(self._namespace(namespace, path), name)
        try:
            return self._names.dataset(name)
        except UnresolvedNameError as error:
            self._wrong(path, f"{error}; or add `namespace` here, or to the file for all names")
            return DatasetRef("", name)

    def _ref(self, ref: model.Ref, path: Path) -> DatasetRef:
        if isinstance(ref, str):
            return self._named(None, ref, path)
        return DatasetRef(ref.namespace, ref.name)

    def _refs(self, refs: Sequence[model.Ref] | None, path: Path) -> tuple[DatasetRef, ...] | None:
        if refs is None:
            return None
        return tuple(sorted({self._ref(ref, (*path, index)) for index, ref in enumerate(refs)}))

    def _read(self, read: str | model.Named | model.Read, path: Path) -> DatasetRead:
        if isinstance(read, model.Read):
            return DatasetRead(self._ref(read.dataset, (*path, "dataset")), tuple(sorted(set(read.columns or ()))))
        return DatasetRead(self._ref(read, path))

    def _partitions(
        self, partitions: Sequence[model.Partitions] | None, path: Path
    ) -> tuple[PartitionMapping, ...] | None:
        if partitions is None:
            return None
        return tuple(
            sorted(
                PartitionMapping(
                    input=self._ref(one.input, (*path, index, "input")),
                    output=self._ref(one.output, (*path, index, "output")),
                    input_field=one.input_field,
                    output_field=one.output_field,
                    transform=one.transform,
                )
                for index, one in enumerate(partitions)
            )
        )

    def _lineage(self, outputs: Sequence[model.ColumnOutput], path: Path) -> ColumnLineage:
        rows = [
            (
                (self._ref(output.dataset, (*path, number, "dataset")), output.column),
                (self._ref(source.dataset, (*path, number, "inputs", index, "dataset")), source.column),
                source,
            )
            for number, output in enumerate(outputs)
            for index, source in enumerate(output.inputs)
        ]
        return column_lineage(
            (target, origin, source.kind, source.masking, source.expression) for target, origin, source in rows
        )


ColumnOf = tuple[DatasetRef, str | None]


def column_lineage(
    rows: Iterable[tuple[ColumnOf, ColumnOf, TransformationKind, bool, str | None]],
) -> ColumnLineage:
    """Build column lineage from rows: output, input (each dataset and column), kind, masking, expression."""
    datasets: dict[DatasetRef, int] = {}
    expressions: dict[str, Expression] = {}
    edges = []
    for (target, output_field), (source, input_field), kind, masking, text in rows:
        if text is not None:
            expressions[text] = (
                Expression(f"declared:{len(expressions)}", text) if text not in expressions else (expressions[text])
            )
        edges.append(
            ColumnEdge(
                output=datasets.setdefault(target, len(datasets)),
                output_field=output_field,
                input=datasets.setdefault(source, len(datasets)),
                input_field=input_field,
                type=TransformationType.INDIRECT if kind in _INDIRECT else TransformationType.DIRECT,
                kind=kind,
                masking=masking,
                expression=None if text is None else expressions[text].id,
            )
        )
    return canonical_lineage(
        ColumnLineage(datasets=tuple(datasets), edges=tuple(edges), expressions=tuple(expressions.values()))
    )


def _owners(owners: Sequence[str | model.OwnerOf] | None) -> tuple[Owner, ...] | None:
    if owners is None:
        return None
    found = {Owner(owner) if isinstance(owner, str) else Owner(owner.name, owner.type) for owner in owners}
    return tuple(sorted(found, key=lambda owner: (owner.name, owner.type or "")))


def _tags(tags: dict[str, str | None] | None) -> tuple[Tag, ...] | None:
    return None if tags is None else tuple(Tag(key=key, value=value) for key, value in sorted(tags.items()))


def _sorted(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(sorted(set(texts)))


def _marks(marks: Sequence[str | model.Mark] | None) -> tuple[DatasetMark, ...] | None:
    if marks is None:
        return None
    found = {mark if isinstance(mark, model.Mark) else model.Mark(mark=mark) for mark in marks}
    rows = sorted(found, key=lambda one: (one.mark, one.version or "", one.spread, one.reason or ""))
    return tuple(DatasetMark(mark=one.mark, version=one.version, spread=one.spread, reason=one.reason) for one in rows)


def _columns(columns: dict[str, model.Column | None] | None) -> tuple[DeclaredColumn, ...] | None:
    if columns is None:
        return None
    rows = ((path, column or model.Column()) for path, column in sorted(columns.items()))
    return tuple(
        DeclaredColumn(
            path=path,
            description=column.description,
            classification=column.classification,
            sensitivity=column.sensitivity,
            tags=_tags(column.tags),
            glossary=_sorted(column.glossary),
            approval=None if column.approval is None else Approval(**column.approval.model_dump()),
            smallest_group=column.smallest_group,
            type=column.type,
        )
        for path, column in rows
    )


class Form(BaseModel):
    """Required form of a document in another format; fields that aren't read may have any content."""

    model_config = ConfigDict(extra="ignore", strict=True)


def require_form(file: str, document: LocatedDocument, form: type[Form]) -> None:
    """Check a document of another format.

    Raises:
        DeclarationError: the document doesn't have the form; the error has all mistakes.
    """
    try:
        form.model_validate(document.value)
    except ValidationError as error:
        raise DeclarationError(_problems_of(file, document, error)) from error


def _problems_of(file: str, document: LocatedDocument, error: ValidationError) -> list[FileProblem]:
    """Convert pydantic's errors to problems, one for each path, in the file's own words."""
    found: dict[Path, list[Any]] = {}
    for one in error.errors(include_url=False):
        if _is_of_intended_form(document.value, one["loc"]):
            found.setdefault(_path_of(document.value, one), []).append(one)
    # A path whose parts have errors needs no error of its own: it only follows from them, as for a union of types.
    parents = {path[:end] for path in found for end in range(len(path))}
    paths = [path for path in found if path not in parents]
    return [FileProblem(file, document.line(path), path, _message(found[path])) for path in paths[:_MOST_PROBLEMS]]


def _is_of_intended_form(value: Any, loc: Sequence[str | int]) -> bool:
    """Return whether an error belongs to the form that the file intends: a mapping with `dataset` intends a `Read`."""
    for step in loc:
        if step in _FORMS_READ and isinstance(value, dict):
            return step == (model.Read if "dataset" in value else model.Named).__name__
        if _has(value, step):
            value = value[step]
    return True


def _has(value: Any, step: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, dict) and step in value


def _path_of(value: Any, error: Any) -> Path:
    """Path of an error in the document: existing steps, and a missing key; names of types are left out."""
    path: Path = ()
    for step in error["loc"]:
        if _has(value, step):
            path, value = (*path, step), value[step]
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _message(errors: Sequence[Any]) -> str:
    for error in errors:
        if error["type"] == "extra_forbidden":
            return _unknown(error["loc"])
        if error["type"] == "missing":
            return "is missing"
    error = errors[0]
    if len(errors) > 1:
        if "marks" in error["loc"]:
            return "must be a mark, or a mapping with `mark`"
        or_mapping = "" if "owners" in error["loc"] else ", or a mapping with `namespace` and `name`"
        return f"must be a name{or_mapping}"
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return _MESSAGES.get(error["type"], str(error["msg"])) + _hint(error)


def _hint(error: Any) -> str:
    """Suggest a correction for a value of the wrong type, if there is an obvious one."""
    type_, value = error["type"], error["input"]
    if type_ == "string_type" and isinstance(value, bool | int | float):
        return ": put it into quotes"
    if type_ == "list_type" and isinstance(value, str):
        return ": put it into [ ]"
    if type_ == "dict_type" and isinstance(value, list):
        return ": `name: value`, without a dash before it"
    if type_ == "model_type" and isinstance(value, str) and len(error["loc"]) == _ROW_STEPS:
        return " that begins with `name:`"
    return ""


def _unknown(loc: tuple[str | int, ...]) -> str:
    if _REST.fullmatch(str(loc[-1])):
        return "belongs to the previous value, which has a comma: put that value into quotes"
    known = _keys_at(loc)
    near = difflib.get_close_matches(str(loc[-1])[:100], known, n=1)
    meant = f"; did you mean `{near[0]}`?" if near else f"; the keys are {', '.join(known)}" if known else ""
    return f"no such key{meant}"


_MODELS: Final[dict[str, type[BaseModel]]] = {
    "datasets": model.Dataset,
    "jobs": model.Job,
    "consumers": model.Consumer,
    "reads": model.Read,
    "partitions": model.Partitions,
    "owners": model.OwnerOf,
    "marks": model.Mark,
}


def _keys_at(loc: tuple[str | int, ...]) -> list[str]:
    """Allowed keys of a mapping, if the last step of `loc` is an unknown key."""
    names = [step for step in loc[:-1] if isinstance(step, str)]
    every: tuple[type[BaseModel], ...] = (*_MODELS.values(), model.Named)
    labels = {each.__name__: each for each in every}
    if not names:
        return sorted(model.Declarations.model_fields)
    if names[0] == "datasets" and "columns" in names:
        if names[-1] == "approval":
            return sorted(model.ApprovalOf.model_fields)
        return sorted(model.Column.model_fields)
    if names[0] == "jobs" and "columns" in names:
        return sorted(model.ColumnInput.model_fields if "inputs" in names else model.ColumnOutput.model_fields)
    kind = labels.get(names[-1]) or _MODELS.get(names[-1])
    return [] if kind is None else sorted(kind.model_fields)
