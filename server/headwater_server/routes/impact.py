"""Routes for the downstream impact of a change."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, fields
from typing import Annotated, Literal

from fastapi import Body, Depends, Query
from pydantic import AfterValidator, ConfigDict, with_config
from starlette.responses import Response

from headwater_analysis.impact import (
    ChangeType,
    Extent,
    Impact,
    ImpactChange,
    ImpactPage,
    SchemaChange,
    analyze,
)
from headwater_schemas.ranges import MOST_OFFSET
from headwater_server.asking import Ask, Asking, area, note_body
from headwater_server.identity import Scope
from headwater_server.parameters import (
    LONGEST_NAME,
    AnyCase,
    AssetQuery,
    Cursor,
    Depth,
    Limit,
    ReadTime,
    Time,
    hops,
)

router = area("impact", needs=Scope.READ)


# Bodies have exactly the fields of the questions. Unknown fields are refused: a misspelt one would silently change the
# answer.
@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ExtentBody(Extent):
    """A part of the dataset's data. Each that is given narrows it.

    Attributes:
        partition: a topic's, `3`, or a table's or folder's, `day=2013-01-02`.
        first_offset: of a topic's partition, the first.
        end_offset: of a topic's partition, the one after the last; null: all from `first_offset` on.
        since: arrived in Kafka at this time or later.
        until: arrived before this time.
        read_time: the two are when jobs read it, in place of when it arrived.
    """

    since: Time | None = None
    until: Time | None = None


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ChangeBody(ImpactChange):
    """A change of a dataset, or of one of its columns.

    Attributes:
        dataset: key of the dataset, or its name, with or without its namespace.
        column: field path of the column; null: the dataset as a whole.
        type: type of the change; that of a schema change follows from the rest.
        schema: change of the column, if it is a schema change.
        new_name: new name of a RENAMED column, if it is known.
        new_type: type of a RETYPED or ADDED column.
        nullable: true if the column may hold nulls from then on, if NULLABILITY changes.
        extent: the data that changes, if it isn't all.
    """

    type: Annotated[ChangeType, AnyCase] | None = None
    schema: Annotated[SchemaChange, AnyCase] | None = None
    extent: ExtentBody | None = None

    def change(self) -> ImpactChange:
        """Convert the body to the question."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.extent is not None:
            given["extent"] = Extent(**{field.name: getattr(self.extent, field.name) for field in fields(self.extent)})
        return ImpactChange(**given)


def _storable(body: ChangeBody) -> ChangeBody:
    # JSON can contain half of a surrogate pair; Neo4j's protocol (UTF-8) can't.
    for text in (*astuple(body), *(() if body.extent is None else astuple(body.extent))):
        if isinstance(text, str) and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ValueError("half of a surrogate pair is no character") from None
    return body


@router.post("/impact/analyze", response_model=Impact, operation_id="impact_analyze")
def impact(
    ask: Ask,
    change: Annotated[ChangeBody, Body(), AfterValidator(_storable)],
    depth: Depth = "all",
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """Analyze a change: what breaks, what is tainted, whom to notify; by column, with paths and a text for a ticket."""
    given = asdict(change)
    note_body(ask.request, {**given, "extent": None, **(given["extent"] or {})})
    return _impact(ask, change.change(), depth, limit, cursor)


Text = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
Offset = Annotated[int | None, Query(ge=0, le=MOST_OFFSET)]


async def _change(
    *,
    dataset: AssetQuery,
    column: Annotated[Text, Query(description="Field path of the column; without, the dataset as a whole.")] = None,
    type: Annotated[  # noqa: A002  the parameter's name
        Annotated[ChangeType, AnyCase] | None,
        Query(description="What sort of change; of a schema change it follows from the rest."),
    ] = None,
    schema: Annotated[
        Annotated[SchemaChange, AnyCase] | None,
        Query(description="What happens to the column, if it is a schema change."),
    ] = None,
    new_name: Annotated[Text, Query(description="Of a RENAMED column, if that is known.")] = None,
    new_type: Annotated[Text, Query(description="Of a RETYPED or ADDED one.")] = None,
    nullable: Annotated[
        bool | None, Query(description="Whether the column may hold nulls from then on, if NULLABILITY changes.")
    ] = None,
    partition: Annotated[
        Text, Query(description="Only data of this partition: a topic's, `3`, or a table's, `day=2013-01-02`.")
    ] = None,
    first_offset: Annotated[Offset, Query(description="Only records from this offset of the partition on.")] = None,
    end_offset: Annotated[Offset, Query(description="Only records before this one; needs `first_offset`.")] = None,
    since: Annotated[Time | None, Query(description="Only data that arrived at this time or later.")] = None,
    until: Annotated[Time | None, Query(description="Only data that arrived before this time.")] = None,
    read_time: ReadTime = False,
) -> ImpactChange:
    extent = Extent(partition, first_offset, end_offset, since, until, read_time)
    narrowed = extent if extent != Extent() else None
    return ImpactChange(dataset, column, type, schema, new_name, new_type, nullable, narrowed)


@router.get("/impact", response_model=Impact, operation_id="impact")
def impact_of(
    ask: Ask,
    change: Annotated[ImpactChange, Depends(_change)],
    *,
    depth: Depth = "all",
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """Link to `/impact/analyze`: the change comes in the query, its `extent` field by field."""
    return _impact(ask, change, depth, limit, cursor)


def _impact(
    ask: Asking, change: ImpactChange, depth: int | Literal["all"], limit: int | None, cursor: str | None
) -> Response:
    page = ImpactPage(hops(depth), ask.page(limit), cursor)
    return ask(lambda reader: analyze(reader, change, ask.graph.policy, page, ask.graph.arrivals))
