"""Routes for differences in lineage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.responses import Response

from headwater_analysis.diff import Diff, Point, diff
from headwater_analysis.reader import Reader
from headwater_server.asking import Ask, Paged, area
from headwater_server.identity import Scope
from headwater_server.parameters import LONGEST_NAME, Time

router = area("diff", needs=Scope.READ)

Named = Annotated[str | None, Query(min_length=1, max_length=LONGEST_NAME)]
When = Annotated[Time | None, Query(description="Lineage at this time. Without an `after…`, the other side is now.")]


@dataclass(frozen=True, slots=True)
class Sides:
    """Query parameters of the two sides of a comparison."""

    before: Time | None
    after: Time | None
    before_run: str | None
    after_run: str | None
    before_version: str | None
    after_version: str | None

    def points(self) -> tuple[Point, Point]:
        """Return both sides.

        Raises:
            QuestionError: a side is given in two ways.
        """
        return (
            Point(self.before, self.before_run, self.before_version),
            Point(self.after, self.after_run, self.after_version),
        )


async def _sides(
    before: When = None,
    after: When = None,
    before_run: Annotated[Named, Query(description="A run, by its id, whose lineage is compared.")] = None,
    after_run: Annotated[Named, Query(description="The other run.")] = None,
    before_version: Annotated[Named, Query(description="A code version of `job`.")] = None,
    after_version: Annotated[Named, Query(description="The other code version.")] = None,
) -> Sides:
    return Sides(before, after, before_run, after_run, before_version, after_version)


@router.get("/diff", response_model=Diff, operation_id="diff")
def difference(
    page: Paged,
    ask: Ask,
    sides: Annotated[Sides, Depends(_sides)],
    *,
    job: Annotated[Named, Query(description="Job whose lineage is compared, by key or name; not for runs.")] = None,
    dataset: Annotated[
        Named, Query(description="Dataset whose lineage is compared, by all jobs that write it.")
    ] = None,
) -> Response:
    """Compare lineage between two times, two runs, or two code versions of a job."""

    def question(reader: Reader) -> Diff:
        before, after = sides.points()
        return diff(reader, before, after, job=job, dataset=dataset, **page)

    return ask(question)
