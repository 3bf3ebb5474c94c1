"""Jobs of the lane, and what an error in one comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from headwater_consumers.materializer.errors import (
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    PermanentError,
    UndecidedError,
)
from headwater_schemas.errors import TransientError


class JobKind(StrEnum):
    """What the lane does."""

    START = "START"
    CHECKPOINT = "CHECKPOINT"
    PING = "PING"


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at something."""

    kind: JobKind
    run: Callable[[], None]


def settled(job: Job, error: BaseException) -> TransientError:
    """The passing trouble that `error` is.

    A checkpoint settles by itself what an event is to blame for. Outside of one there is no event: a database that
    fails inside may be well again later, and one that calls our own statements wrong won't.

    Raises:
        FatalError: it doesn't pass.
        BaseException: it is none of our errors: a defect, as it was raised.
    """
    if isinstance(error, TransientError):
        return error
    if isinstance(error, UndecidedError | OverCapacityError):
        return GraphUnavailableError(str(error), code=error.code)
    if isinstance(error, PermanentError) and job.kind is not JobKind.CHECKPOINT:
        raise GraphUnusableError(str(error), setting="HEADWATER_NEO4J_URI", code=error.code) from error
    raise error
