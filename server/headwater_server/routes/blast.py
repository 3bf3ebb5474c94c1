"""Route for the blast radius of bad data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.blast import BadBatches, BadRun, Blast, blast
from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Starts
from headwater_schemas.ranges import MOST_OFFSET
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import Depth, Horizon, hops, seconds
from headwater_server.records import Named, RecordsQuery, records_query

router = area("blast", needs=Scope.READ)

_WAYS = (
    "Name one origin: `run`; or `query`, `first_batch`; or `topic`, `partition`, `offset`; or `topic`, `range`; or "
    "`topic`, `time`."
)

Batch = Annotated[int | None, Query(ge=0, le=MOST_OFFSET)]


@dataclass(frozen=True, slots=True)
class BlastQuery:
    """Origin from the query parameters."""

    run: str | None
    query: str | None
    first_batch: int | None
    last_batch: int | None
    records: RecordsQuery

    def origin(self) -> BadRun | BadBatches | Starts:
        """Return the only given origin.

        Raises:
            QuestionError: no origin is given, or several.
        """
        batches = {"query", "first_batch", "last_batch"}
        own = {name for name in ("run", *batches) if getattr(self, name) is not None}
        given = own | self.records.given()
        match self:
            case BlastQuery(run=str(run)) if given == {"run"}:
                return BadRun(run)
            case BlastQuery(query=str(query), first_batch=int(first)) if given <= batches:
                return BadBatches(query, first, first if self.last_batch is None else self.last_batch)
        if not own and (records := self.records.chosen()) is not None:
            return records
        raise QuestionError(_WAYS, field=min(given, default="run"))


async def _asked(
    records: Annotated[RecordsQuery, Depends(records_query)],
    *,
    run: Annotated[Named, Query(description="A bad run, by its id.")] = None,
    query: Annotated[Named, Query(description="A streaming query with bad micro-batches, by name or id.")] = None,
    first_batch: Annotated[Batch, Query(description="The first bad micro-batch.")] = None,
    last_batch: Annotated[Batch, Query(description="The last bad micro-batch; default: the first one.")] = None,
) -> BlastQuery:
    return BlastQuery(run, query, first_batch, last_batch, records)


@router.get("/blast", response_model=Blast, operation_id="blast")
def radius(
    ask: Ask,
    asked: Annotated[BlastQuery, Depends(_asked)],
    *,
    depth: Depth = "all",
    limit: Annotated[int | None, Query(ge=1, le=1_000, description="Maximum number of steps.")] = None,
    horizon: Horizon = None,
) -> Response:
    """List what a bad run, bad micro-batches or bad records reached, by partition and offsets, minus replaced data."""
    most = ask.page(limit)
    return ask(
        lambda reader: blast(
            reader,
            asked.origin(),
            depth=hops(depth),
            limit=most,
            horizon=seconds(horizon),
            arrivals=ask.graph.arrivals,
        )
    )
