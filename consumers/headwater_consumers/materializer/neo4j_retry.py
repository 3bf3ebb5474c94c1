"""Neo4jRetry: what kind of trouble with Neo4j a retry came of. For the metric: nothing is decided by it."""

from __future__ import annotations

from enum import StrEnum


class Neo4jRetry(StrEnum):
    """The closed label of the retries of Neo4j.

    UNREACHABLE   no connection, or it broke: the driver's own exceptions
    UNAVAILABLE   the server answers, and the database can't serve now: starting, stopping, a transaction given up
    READ_ONLY     it takes no writes
    DEADLOCK      another transaction held what this one wanted, and the other way round
    CONFLICT      another transaction was first: a uniqueness constraint, a node that has gone, an index that is there
    SICK          it blames itself: `Neo.DatabaseError.*`, a full disk say
    OTHER         any other
    """

    UNREACHABLE = "UNREACHABLE"
    UNAVAILABLE = "UNAVAILABLE"
    READ_ONLY = "READ_ONLY"
    DEADLOCK = "DEADLOCK"
    CONFLICT = "CONFLICT"
    SICK = "SICK"
    OTHER = "OTHER"


_CONFLICTS = ("ConstraintValidationFailed", "EntityNotFound", "Outdated", "AlreadyExists")
_UNAVAILABLE = ("Unavailable", "Terminated", "NotALeader", "LockClientStopped", "BookmarkTimeout")


def neo4j_retry(code: str) -> Neo4jRetry:
    """Of an error's code.

    Args:
        code: `Neo.TransientError.Transaction.DeadlockDetected`; or the class of what the driver raised.
    """
    if not code.startswith("Neo."):
        return Neo4jRetry.UNREACHABLE if code else Neo4jRetry.OTHER
    title = code.rpartition(".")[2]
    if title == "DeadlockDetected":
        return Neo4jRetry.DEADLOCK
    if any(part in title for part in _CONFLICTS):
        return Neo4jRetry.CONFLICT
    if "ReadOnly" in title:
        return Neo4jRetry.READ_ONLY
    if any(part in title for part in _UNAVAILABLE):
        return Neo4jRetry.UNAVAILABLE
    return Neo4jRetry.SICK if code.startswith("Neo.DatabaseError.") else Neo4jRetry.OTHER
