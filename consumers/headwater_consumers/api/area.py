"""What the routes of every area have in common: where they stand, what they refuse, what they may answer with."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from headwater_consumers.api.documented import problem_responses
from headwater_consumers.api.parameters import known_only
from headwater_consumers.api.problems import ProblemType

BELOW = "/api/v1"

_PROBLEMS = problem_responses(
    *(kind for kind in ProblemType if kind not in (ProblemType.NO_SUCH_PATH, ProblemType.METHOD))
)


def area(tag: str) -> APIRouter:
    """A router for the routes of one area."""
    return APIRouter(prefix=BELOW, tags=[tag], dependencies=[Depends(known_only)], responses=_PROBLEMS)
