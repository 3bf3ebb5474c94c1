"""A file of any supported format ⇒ its schema."""

from __future__ import annotations

import re
from itertools import islice

from headwater_analysis.data_types import TypedField, within
from headwater_analysis.declaring.problems import DeclarationError, FileProblem
from headwater_review.reading.avro import read_avro
from headwater_review.reading.columns import read_columns
from headwater_review.reading.contract import read_contract_table
from headwater_review.reading.ddl import read_ddl
from headwater_review.reading.document import JsonDocument, YamlDocument
from headwater_review.reading.json_schema import read_json_schema
from headwater_review.reading.spark import read_spark
from headwater_review.schema import (
    DESCRIPTION,
    ENUM,
    MEANING,
    NULLABLE,
    PARTITIONING,
    UNIT,
    Schema,
    schema_of,
)

MOST_COLUMNS = 20_000
"""Maximum number of columns, nested ones included; only a mistake or multiplying references lead to more."""
_ALL = (NULLABLE, ENUM, UNIT, MEANING, DESCRIPTION)
_FORMATS = "Spark's StructType, an Avro record, a JSON Schema, a list of columns, a data contract or DDL"
# A key at the top of a document, in YAML or JSON.
_CONTRACT = re.compile(
    r"""^["']?kind["']?\s*:\s*["']?DataContract\b|^\s*\{[^{}\[\]]*"kind"\s*:\s*"DataContract\"""", re.MULTILINE
)


def read_schema(file: str, text: str, table: str | None = None) -> Schema:
    """Read the schema of a file; its content shows its format.

    Args:
        file: name of the file, for messages.
        table: table of a data contract; None: the only table.

    Raises:
        DeclarationError: the format is unknown, or the file has mistakes; the error has their lines and fields.
    """
    try:
        fields, states, partitioning = _read(file, text.removeprefix("\ufeff"), table)
        if not fields:
            raise DeclarationError([FileProblem(file, 1, (), "has no columns")])
        # Checked before types are rendered as texts: each text repeats the types of all its fields.
        if next(islice(within(fields), MOST_COLUMNS, None), None) is not None:
            raise DeclarationError([FileProblem(file, 1, (), f"has more than {MOST_COLUMNS:,} columns")])
        schema = schema_of(file, fields, states, partitioning)
    except RecursionError as error:
        raise DeclarationError([FileProblem(file, 1, (), "nested too deep, references followed")]) from error
    except ValueError as error:
        path = str(error)
        line = max((field.line for field in fields if field.name == path), default=1) or 1
        raise DeclarationError([FileProblem(file, line, (path,), "is there twice")]) from error
    return schema


def _read(file: str, text: str, table: str | None) -> tuple[tuple[TypedField, ...], tuple[str, ...], tuple[str, ...]]:
    if not text.strip():
        raise DeclarationError([FileProblem(file, 1, (), f"is empty: a schema is {_FORMATS}")])
    if _CONTRACT.search(text):
        fields, parts = read_contract_table(YamlDocument(file, text), table)
        return fields, _ALL if parts is None else (*_ALL, PARTITIONING), parts or ()
    if table is not None:
        raise DeclarationError([FileProblem(file, 1, (), "is no data contract: leave --table out")])
    if text.lstrip()[0] not in "{[":
        fields, parts = read_ddl(file, text)
        states = (NULLABLE, DESCRIPTION) if parts is None else (NULLABLE, DESCRIPTION, PARTITIONING)
        return fields, states, parts or ()
    document = JsonDocument(file, text)
    value = document.value
    if isinstance(value, list) or ("type" not in value and ("fields" in value or "columns" in value)):
        fields, parts = read_columns(document)
        return fields, (*_ALL, *(() if parts is None else (PARTITIONING,))), parts or ()
    if value.get("type") == "struct":
        return read_spark(document), _ALL, ()
    if value.get("type") in ("record", "error"):
        return read_avro(document), _ALL, ()
    if "$schema" in value or "properties" in value or "$ref" in value or "allOf" in value or "items" in value:
        return read_json_schema(document), _ALL, ()
    raise DeclarationError([FileProblem(file, 1, (), f"is no schema: a schema is {_FORMATS}")])
