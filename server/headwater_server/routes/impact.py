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
    """A part of the dataset's data. Each field that is given narrows the part.

    Attributes:
        partition: partition of a topic, `3`, or of a table or folder, `day=2013-01-02`.
        first_offset: first offset, in a topic's partition.
        end_offset: offset after the last one, in a topic's partition; null: all from `first_offset` on.
        since: only data that arrived in Kafka at this time or later.
        until: only data that arrived before this time.
        read_time: true: `since` and `until` are times at which jobs read the data, not at which it arrived.
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
        type: type of the change; not needed for a schema change, whose type follows from the other fields.
        schema: change of the column, if it is a schema change.
        new_name: new name of a RENAMED column, if it is known.
        new_type: type of a RETYPED or ADDED column.
        nullable: for a change of NULLABILITY: true if the column may hold nulls afterwards.
        extent: the part of the data that changes; null: all data.
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
        Query(description="Type of the change; that of a schema change follows from the other parameters."),
    ] = None,
    schema: Annotated[
        Annotated[SchemaChange, AnyCase] | None, Query(description="Change of the column, if it is a schema change.")
    ] = None,
    new_name: Annotated[Text, Query(description="New name of a RENAMED column, if it is known.")] = None,
    new_type: Annotated[Text, Query(description="Type of a RETYPED or ADDED column.")] = None,
    nullable: Annotated[
        bool | None, Query(description="For a change of NULLABILITY: true if the column may hold nulls afterwards.")
    ] = None,
    partition: Annotated[
        Text, Query(description="Only data of this partition: a topic's, `3`, or a table's, `day=2013-01-02`.")
    ] = None,
    first_offset: Annotated[Offset, Query(description="Only records from this offset of the partition on.")] = None,
    end_offset: Annotated[Offset, Query(description="Only records before this offset; needs `first_offset`.")] = None,
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
    """Analyze a change as `/impact/analyze` does, from query parameters, so that a link can contain the change."""
    return _impact(ask, change, depth, limit, cursor)


def _impact(
    ask: Asking, change: ImpactChange, depth: int | Literal["all"], limit: int | None, cursor: str | None
) -> Response:
    page = ImpactPage(hops(depth), ask.page(limit), cursor)
    return ask(lambda reader: analyze(reader, change, ask.graph.policy, page, ask.graph.arrivals))
