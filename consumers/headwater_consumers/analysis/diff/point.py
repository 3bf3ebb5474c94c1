"""Point: one side of a comparison, as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from headwater_consumers.analysis.errors import QuestionError


@dataclass(frozen=True, slots=True)
class Point:
    """A time, a run or a code version of a job; none of them: now.

    Attributes:
        time: aware.
        run: a run's id.
        code_version: of a job that is named.

    Raises:
        QuestionError: more than one of them is given.
    """

    time: datetime | None = None
    run: str | None = None
    code_version: str | None = None

    def __post_init__(self) -> None:
        """Only one of them."""
        if sum(part is not None for part in (self.time, self.run, self.code_version)) > 1:
            raise QuestionError("Compare times, runs or code versions, one of them on a side.", field="before")

    @property
    def is_time(self) -> bool:
        """Whether it is a time, now included."""
        return self.run is None and self.code_version is None
