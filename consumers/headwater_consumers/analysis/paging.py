"""How much of an answer may be asked for."""

from __future__ import annotations

from headwater_consumers.analysis.errors import QuestionError

MOST_ON_A_PAGE = 1_000


def check_depth(depth: int | None) -> None:
    """Refuse a depth that reaches nothing.

    Raises:
        QuestionError: it is below 1.
    """
    if depth is not None and depth < 1:
        raise QuestionError("`depth` is the most hops, 1 or more; leave it open for all.", field="depth")


def check_limit(limit: int, most: int = MOST_ON_A_PAGE) -> None:
    """Refuse a page of nothing, or of more than is good for anybody.

    Raises:
        QuestionError: it is below 1, or over `most`.
    """
    if not 1 <= limit <= most:
        raise QuestionError(f"`limit` is from 1 to {most:,}.", field="limit")
