"""Tables and plans as events, in few words."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from headwater_schemas.events import (
    ColumnEdge,
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    Expression,
    JobRef,
    LineageEvent,
    SchemaDefinition,
    SchemaField,
    TransformationKind,
    TransformationType,
    build,
)
from support.graph.colliding import PRODUCER, START


def table(name: str, fields: Iterable[str], *, at: datetime = START, **body: object) -> LineageEvent:
    """A dataset, as it is from a time on; `a int` gives a field its type."""
    schema = SchemaDefinition(
        tuple(
            SchemaField(path=path, type=type_ or None) for path, _, type_ in (field.partition(" ") for field in fields)
        )
    )
    about = {"type": "TABLE", **body}
    event = DatasetEvent(dataset=DatasetRef("w", name), schema=schema, **about)  # type: ignore[arg-type]
    return build.lineage_event(event, producer=PRODUCER, event_time=at)


def plan(job: str, *edges: str, seconds: int = 0, complete: bool = True) -> LineageEvent:
    """A plan of edges such as `orders.id > report.id COPY`, `orders.* …` for a dataset as a whole; `!` masks.

    Kinds that end in DEPENDENCY, and CONDITIONAL, are INDIRECT.
    """
    parsed = [edge.split() for edge in edges]
    names = sorted({end.partition(".")[0] for first, _, last, *_ in parsed for end in (first, last)})
    made = []
    for first, _, last, kind, *expression in parsed:
        (source, _, field), (target, _, made_field) = first.partition("."), last.partition(".")
        plain = kind.rstrip("!")
        indirect = plain.endswith("_DEPENDENCY") or plain == "CONDITIONAL"
        made.append(
            ColumnEdge(
                output=names.index(target),
                output_field=None if made_field == "*" else made_field,
                input=names.index(source),
                input_field=None if field == "*" else field,
                type=TransformationType.INDIRECT if indirect else TransformationType.DIRECT,
                kind=TransformationKind(plain),
                masking=kind.endswith("!"),
                expression=expression[0] if expression else None,
            )
        )
    texts = sorted({edge.expression for edge in made if edge.expression})
    lineage = ColumnLineage(
        datasets=tuple(DatasetRef("w", name) for name in names),
        edges=tuple(made),
        expressions=tuple(Expression(text, text) for text in texts),
        complete=complete,
        incomplete_reason=None if complete else "a subquery",
    )
    when = START + timedelta(seconds=seconds)
    return build.lineage_event(lineage, job=JobRef("j", job), producer=PRODUCER, event_time=when)
