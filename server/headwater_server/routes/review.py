"""Route for the review of a schema change."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Body
from pydantic import ConfigDict, with_config
from starlette.responses import Response

from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.errors import QuestionError
from headwater_review.reading.files import read_schema
from headwater_review.schema import Schema
from headwater_review.schema_review import Question, Review, review
from headwater_server.asking import Ask, area, note_body
from headwater_server.identity import Scope

router = area("review", needs=Scope.READ)


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ReviewBody:
    """Two schemas of a dataset.

    Attributes:
        dataset: key of the dataset, or its name, with or without its namespace.
        new: the new schema. As JSON: Spark's schema, an Avro record, a JSON Schema, a list of columns or a data
            contract. As a text: DDL, or a contract in YAML.
        old: the current schema, in the same or another format; null: the schema in the graph.
        renames: columns that are renamed, old path to new path.
        at: path of the column that the schemas describe; null: `value` of a topic, and all of any other dataset.
        table: name of the table, for data contracts that have several.
    """

    dataset: str
    new: dict[str, Any] | list[Any] | str
    old: dict[str, Any] | list[Any] | str | None = None
    renames: dict[str, str] = field(default_factory=dict)
    at: str | None = None
    table: str | None = None


@router.post("/review", response_model=Review, operation_id="review")
def reviewed(ask: Ask, body: Annotated[ReviewBody, Body()]) -> Response:
    """Every difference of two schemas, with its effects downstream, whom to notify, and a verdict."""
    for name in ("dataset", "renames", "at", "table"):
        _text(name, getattr(body, name))
    note_body(ask.request, {name: getattr(body, name) for name in ("dataset", "at", "table")})
    old = None if body.old is None else _schema("old", body.old, body.table)
    question = Question(body.dataset, _schema("new", body.new, body.table), old, body.renames, body.at)
    return ask(lambda reader: review(reader, question, ask.graph.policy))


def _text(name: str, given: object) -> str:
    """Text of a field.

    Raises:
        QuestionError: the value has half of a surrogate pair, which Neo4j's protocol (UTF-8) can't contain; or it is
            nested too deep.
    """
    try:
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        raise QuestionError("Half of a surrogate pair is no character.", field=name) from None
    except RecursionError:
        raise QuestionError("Nested too deep.", field=name) from None
    return text


def _schema(name: str, given: dict[str, Any] | list[Any] | str, table: str | None) -> Schema:
    try:
        return read_schema(name, _text(name, given), table)
    except DeclarationError as error:
        raise QuestionError("\n".join(str(problem) for problem in error.problems), field=name) from error
