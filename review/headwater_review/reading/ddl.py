"""DDL: a CREATE TABLE, or only columns in the form of Spark's `StructType.fromDDL`: `id BIGINT NOT NULL, day DATE`."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from headwater_analysis.data_types import ArrayOf, Atom, DataType, MapOf, StructOf, TypedField, atom
from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path

if TYPE_CHECKING:
    from sqlglot import exp

_CREATE = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(CREATE|REPLACE)\b", re.IGNORECASE | re.DOTALL)
_BEFORE, _AFTER = "CREATE TABLE t (", "\n)"
_MOST_CHARACTERS = 262_144
"""Maximum length of DDL: sqlglot needs some hundred times the memory of the text."""
_WORDS = {"timestamptz": "timestamp", "timestampntz": "timestamp_ntz"}


def read_ddl(file: str, text: str) -> tuple[tuple[TypedField, ...], tuple[str, ...] | None]:
    """Parse the columns and the partitioning (None if not stated) of a table.

    Args:
        file: name of the file, for messages.

    Raises:
        DeclarationError: the text isn't DDL, is too long, or has no columns.
    """
    if len(text) > _MOST_CHARACTERS:
        raise _wrong(
            file,
            1,
            f"has {len(text):,} characters; DDL may have {_MOST_CHARACTERS:,}. "
            "A wider table can be a JSON document (df.schema.json()).",
        )
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    whole = _CREATE.match(text) is not None
    # sqlglot logs a statement that it can't parse, and keeps it as a text.
    logger = logging.getLogger("sqlglot")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        parsed = sqlglot.parse(text if whole else _BEFORE + text.rstrip().rstrip(";") + _AFTER, dialect="spark")
    except SqlglotError as error:
        first: dict[str, Any] = next(iter(getattr(error, "errors", ())), {})
        line = min(int(first.get("line") or 1), text.rstrip().count("\n") + 1)
        reason = first.get("description") or "not SQL"
        raise _wrong(file, line, f"not DDL of Spark ({reason}), nor JSON or a data contract") from error
    except RecursionError as error:
        raise _wrong(file, 1, "nested too deep") from error
    finally:
        logger.setLevel(level)
    statements = [each for each in parsed if each is not None]
    if len(statements) != 1:
        raise _wrong(file, 1, f"has {len(statements)} statements: one CREATE TABLE is a schema")
    statement = statements[0]
    if not isinstance(statement, exp.Create) or not isinstance(statement.this, exp.Schema):
        raise _wrong(file, 1, "is no CREATE TABLE with a list of columns")
    return _columns_and_partitions(file, text, statement, whole=whole)


def _columns_and_partitions(
    file: str, text: str, statement: exp.Create, *, whole: bool
) -> tuple[tuple[TypedField, ...], tuple[str, ...] | None]:
    from sqlglot import exp

    lines = _Lines(text)
    fields: list[TypedField] = []
    keys: set[str] = set()
    for each in statement.this.expressions:
        if isinstance(each, exp.ColumnDef):
            fields.append(_field(file, each, lines))
        elif isinstance(each, exp.PrimaryKey | exp.Constraint):
            primary = each.find(exp.PrimaryKey)
            keys |= set() if primary is None else {named.name.lower() for named in primary.find_all(exp.Identifier)}
        elif isinstance(each, exp.Identifier | exp.Column):
            raise _wrong(file, lines.of(each.name), "has no type", (each.name,))
        elif not isinstance(each, exp.ForeignKey | exp.UniqueColumnConstraint | exp.CheckColumnConstraint):
            raise _wrong(file, 1, f"{each.sql('spark')} is neither a column nor a known constraint")
    fields = [replace(each, nullable=False) if each.name.lower() in keys else each for each in fields]
    partitioned_by = statement.find(exp.PartitionedByProperty)
    parts: list[str] = []
    for each in () if partitioned_by is None else partitioned_by.this.expressions:
        if isinstance(each, exp.ColumnDef):
            # A partition column that is declared only here, as in Hive.
            fields.append(_field(file, each, lines))
            parts.append(each.name)
        else:
            parts.append(each.name if isinstance(each, exp.Identifier | exp.Column) else each.sql("spark").lower())
    if not fields:
        raise _wrong(file, 1, "has no columns")
    return tuple(fields), tuple(parts) if whole else None


class _Lines:
    """Lines of columns: the next occurrence of each name as a word."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._line = text.lower(), 0, 1

    def of(self, name: str) -> int:
        word = name.lower()
        found = self._text.find(word, self._at)
        while found >= 0 and (self._is_letter(found - 1) or self._is_letter(found + len(word))):
            found = self._text.find(word, found + 1)
        if found >= 0:
            self._line += self._text.count("\n", self._at, found)
            self._at = found
        return self._line

    def _is_letter(self, place: int) -> bool:
        return 0 <= place < len(self._text) and (self._text[place].isalnum() or self._text[place] == "_")


def _field(file: str, column: exp.ColumnDef, lines: _Lines) -> TypedField:
    from sqlglot import exp

    if not isinstance(column.kind, exp.DataType):
        raise _wrong(file, lines.of(column.name), "has no type", (column.name,))
    line = lines.of(column.name)
    kinds = [each.kind for each in column.constraints]
    comments = [each.name for each in kinds if isinstance(each, exp.CommentColumnConstraint)]
    return TypedField(
        column.name,
        _type(file, column.kind, line, lines),
        not any(
            (isinstance(each, exp.NotNullColumnConstraint) and not each.args.get("allow_null"))
            or isinstance(each, exp.PrimaryKeyColumnConstraint)
            for each in kinds
        ),
        any(isinstance(each, exp.DefaultColumnConstraint | exp.GeneratedAsIdentityColumnConstraint) for each in kinds),
        description=comments[0] if comments and comments[0] else None,
        line=line,
    )


def _type(file: str, type_: exp.DataType, line: int, lines: _Lines) -> DataType:
    from sqlglot import exp

    match type_.this:
        case exp.DType.STRUCT:
            return StructOf(tuple(_struct_field(file, each, lines) for each in type_.expressions))
        case exp.DType.ARRAY | exp.DType.MAP:
            parts = list(_parts(file, type_, line, lines))
            if type_.this is exp.DType.ARRAY and len(parts) == 1:
                return ArrayOf(parts[0], nullable=True)
            if len(parts) == 2:
                return MapOf(parts[0], parts[1], nullable=True)
            raise _wrong(file, line, f"{type_.sql('spark')} isn't a whole type")
    plain = isinstance(type_.this, exp.DType) and not type_.expressions
    word = _word(type_.this) if plain else type_.sql("spark").lower()
    name = type_.this.value.lower() if isinstance(type_.this, exp.DType) else ""
    if name in _WORDS:
        return Atom(_WORDS[name])
    if name == "userdefined":
        raise _wrong(file, line, f"{word} is no type of Spark")
    return atom(word)


@cache
def _word(type_: exp.DType) -> str:
    """Return a type without parameters as Spark writes it. Cached: thousands of columns have few different types."""
    from sqlglot import exp

    return exp.DataType(this=type_).sql("spark").lower()


def _struct_field(file: str, column: exp.Expression, lines: _Lines) -> TypedField:
    from sqlglot import exp

    if not isinstance(column, exp.ColumnDef):
        raise _wrong(file, lines.of(column.name), "a field of a struct has a name and a type")
    return _field(file, column, lines)


def _parts(file: str, type_: exp.DataType, line: int, lines: _Lines) -> Iterator[DataType]:
    from sqlglot import exp

    for each in type_.expressions:
        if not isinstance(each, exp.DataType):
            raise _wrong(file, line, f"{type_.sql('spark')} isn't a whole type")
        yield _type(file, each, line, lines)


def _wrong(file: str, line: int, message: str, path: Path = ()) -> DeclarationError:
    return DeclarationError([FileProblem(file, line, path, message)])
