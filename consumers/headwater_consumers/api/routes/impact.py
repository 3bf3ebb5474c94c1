"""What a change does downstream."""

from __future__ import annotations

from dataclasses import astuple, dataclass, fields
from typing import Annotated

from fastapi import Body
from pydantic import AfterValidator, ConfigDict, with_config
from starlette.responses import Response

from headwater_consumers.analysis.impact import Change, Extent, Impact, Page, analyze
from headwater_consumers.api.area import area
from headwater_consumers.api.asking import Ask
from headwater_consumers.api.parameters import Cursor, Depth, Limit, Time, hops

router = area("impact")


# The bodies are the questions as they are, and take no other fields: a misspelt one would silently change the answer.
@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ExtentBody(Extent):
    """A part of the dataset's data. Each that is given narrows it.

    Attributes:
        partition: a topic's, `3`, or a table's or folder's, `day=2013-01-02`.
        first_offset: of a topic's partition, the first.
        end_offset: of a topic's partition, the one after the last; null: all from `first_offset` on.
        since: written at this time or later.
        until: written before this time.
    """

    since: Time | None = None
    until: Time | None = None


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, slots=True)
class ChangeBody(Change):
    """A change of a dataset, or of one of its columns.

    Attributes:
        dataset: its key, or its name, with its namespace or alone.
        column: field path of the column; null: the dataset as a whole.
        type: what sort of change; of a schema change it follows from the rest.
        schema: what happens to the column, if it is a schema change.
        new_name: of a RENAMED column, if that is known.
        new_type: of a RETYPED or ADDED one.
        nullable: whether the column may hold nulls from then on, if NULLABILITY changes.
        extent: which data, where it isn't all.
    """

    extent: ExtentBody | None = None

    def change(self) -> Change:
        """The question."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.extent is not None:
            given["extent"] = Extent(**{field.name: getattr(self.extent, field.name) for field in fields(self.extent)})
        return Change(**given)


def _storable(body: ChangeBody) -> ChangeBody:
    # JSON can spell half of a surrogate pair; Neo4j's protocol, UTF-8, can't.
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
    """What breaks, what is tainted, whom to tell: by column, with the way there, totals, and a text for a ticket."""
    page = Page(hops(depth), ask.page(limit), cursor)
    return ask(lambda reader: analyze(reader, change.change(), ask.graph.policy, page))
