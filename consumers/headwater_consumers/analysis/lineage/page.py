"""The pages of an answer: where one begins and ends."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from headwater_consumers.analysis import cursor

if TYPE_CHECKING:
    from headwater_consumers.analysis.assets import Asset
    from headwater_consumers.analysis.lineage.question import LineageQuestion
    from headwater_consumers.analysis.lineage.search import Reached


@dataclass(frozen=True, slots=True)
class Page:
    """A page as places of the search.

    Attributes:
        places: of its items, in order.
        through: of what lies between the start and them.
        next_cursor: to the next page.
    """

    places: list[int]
    through: list[int]
    next_cursor: str | None


def page_of(reached: Reached, listed: list[int], start: Asset, question: LineageQuestion, *, tenant: str) -> Page:
    """The page that the question asks for. It begins after what the cursor names, be that still in the graph or not.

    Raises:
        QuestionError: the cursor is another question's.
    """
    # By the key of what it is asked of: the same question, however its subject was spelled.
    same = (tenant, start.key, replace(question, asset="", column=None, edges=False, limit=1, cursor=None))

    begin = 0
    if question.cursor is not None:
        after = cursor.decode(question.cursor, question=same, kinds=(int, int, str))
        begin = bisect_right(listed, after, key=reached.order)
    places = listed[begin : begin + question.limit]
    more = begin + question.limit < len(listed)
    next_cursor = cursor.encode(reached.order(places[-1]), question=same) if more else None
    return Page(places, reached.between(places), next_cursor)
