"""Route for traces: the micro-batches that read a record, and their outputs; or the records behind a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.errors import QuestionError
from headwater_analysis.trace import Path, Starts, Trace, TraceDirection, VersionOf, trace
from headwater_server.asking import Ask, area
from headwater_server.identity import Scope
from headwater_server.parameters import AnyCase, Depth, Horizon, hops, seconds
from headwater_server.records import Named, RecordsQuery, records_query

router = area("traces", needs=Scope.READ)

_WAYS = (
    "Name one start: `topic`, `partition`, `offset`; or `topic`, `range`; or `topic`, `time`; or `path`; or "
    "`dataset`, `version`."
)


@dataclass(frozen=True, slots=True)
class TraceQuery:
    """Query parameters that name the start of a trace."""

    path: str | None
    dataset: str | None
    version: str | None
    format: str | None
    records: RecordsQuery

    def start(self) -> Starts:
        """Return the only given start.

        Raises:
            QuestionError: no start is given, or several.
        """
        of_version = {"dataset", "version", "format"}
        own = {name for name in ("path", *of_version) if getattr(self, name) is not None}
        given = own | self.records.given()
        match self:
            case TraceQuery(path=str(path)) if given == {"path"}:
                return Path(path)
            case TraceQuery(dataset=str(dataset), version=str(version)) if given <= of_version:
                return VersionOf(dataset, version, self.format)
        if not own and (records := self.records.chosen()) is not None:
            return records
        raise QuestionError(_WAYS, field=min(given, default="topic"))


async def _asked(
    records: Annotated[RecordsQuery, Depends(records_query)],
    *,
    path: Annotated[Named, Query(description="A file, or a partition of files, by path.")] = None,
    dataset: Annotated[Named, Query(description="A table, by key or name.")] = None,
    version: Annotated[Named, Query(description="Snapshot id or version number of the table.")] = None,
    format_: Annotated[
        Named,
        Query(
            alias="format",
            description="Format of the table. Needed only for formats other than delta, iceberg and hudi.",
        ),
    ] = None,
) -> TraceQuery:
    return TraceQuery(path, dataset, version, format_, records)


@router.get("/traces", response_model=Trace, operation_id="traces")
def traces(
    ask: Ask,
    asked: Annotated[TraceQuery, Depends(_asked)],
    *,
    direction: Annotated[
        TraceDirection,
        AnyCase,
        Query(description="FORWARD: what was derived from the start. BACKWARD: what the start was derived from."),
    ] = TraceDirection.FORWARD,
    depth: Depth = 1,
    limit: Annotated[int | None, Query(ge=1, le=1_000, description="Maximum number of steps.")] = None,
    horizon: Horizon = None,
) -> Response:
    """Trace records (by offset or time of arrival), a file or a table's version, forward or back."""
    return ask(
        lambda reader: trace(
            reader,
            asked.start(),
            direction=direction,
            depth=hops(depth),
            limit=ask.page(limit),
            horizon=seconds(horizon),
            arrivals=ask.graph.arrivals,
        )
    )
