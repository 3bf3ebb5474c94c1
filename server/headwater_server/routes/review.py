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
from headwater_server.asking import Ask, area

router = area("review")


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ReviewBody:
    """Two schemas of a dataset.

    Attributes:
        dataset: its key, or its name, with its namespace or alone.
        new: its schema to be: Spark's, an Avro record, a JSON Schema, a list of columns and a data contract as JSON,
            DDL and a contract in YAML as a text.
        old: its schema as it is, in the same or another format; null: the one in the graph.
        renames: columns that are renamed, old path to new path.
        at: path of the column that the schemas are of; null: a topic's `value`, and of any other dataset all of it.
        table: which table of data contracts that have several.
    """

    dataset: str
    new: dict[str, Any] | list[Any] | str
    old: dict[str, Any] | list[Any] | str | None = None
    renames: dict[str, str] = field(default_factory=dict)
    at: str | None = None
    table: str | None = None


@router.post("/review", response_model=Review, operation_id="review")
def reviewed(ask: Ask, body: Annotated[ReviewBody, Body()]) -> Response:
    """Every difference of two schemas, with all that it does downstream, whom to notify, and a verdict."""
    for name in ("dataset", "renames", "at", "table"):
        _text(name, getattr(body, name))
    old = None if body.old is None else _schema("old", body.old, body.table)
    question = Question(body.dataset, _schema("new", body.new, body.table), old, body.renames, body.at)
    return ask(lambda reader: review(reader, question, ask.graph.policy))


def _text(name: str, given: object) -> str:
    """A field as a file has it.

    Raises:
        QuestionError: it has what JSON can spell, but a text in UTF-8, as Neo4j's protocol has it, can't, or is nested
            deeper than anybody reads.
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
