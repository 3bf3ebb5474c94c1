"""Kinds of trouble with Neo4j, by the codes of Neo4j 5 and the names of the driver's exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_consumers.materializer.neo4j_errors import Neo4jRetry, neo4j_retry

if TYPE_CHECKING:
    import pytest

KINDS = {
    Neo4jRetry.UNREACHABLE: ["ServiceUnavailable", "SessionExpired", "ConnectionResetError"],
    Neo4jRetry.UNAVAILABLE: [
        "Neo.TransientError.General.DatabaseUnavailable",
        "Neo.TransientError.Transaction.Terminated",
        "Neo.ClientError.Cluster.NotALeader",
    ],
    Neo4jRetry.READ_ONLY: [
        "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
        "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
    ],
    Neo4jRetry.DEADLOCK: ["Neo.TransientError.Transaction.DeadlockDetected"],
    Neo4jRetry.CONFLICT: [
        "Neo.ClientError.Schema.ConstraintValidationFailed",
        "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists",
        "Neo.TransientError.Transaction.Outdated",
        "Neo.ClientError.Statement.EntityNotFound",
    ],
    Neo4jRetry.SICK: ["Neo.DatabaseError.Transaction.TransactionLogError", "Neo.DatabaseError.General.UnknownError"],
    Neo4jRetry.OTHER: ["", "Neo.TransientError.Something.New"],
}


ALL_CODES: list[tuple[Neo4jRetry, str]] = [(kind, code) for kind, codes in KINDS.items() for code in codes]


def test_a_code_has_a_kind(subtests: pytest.Subtests) -> None:
    for kind, code in ALL_CODES:
        with subtests.test(code):
            assert neo4j_retry(code) is kind


def test_every_kind_has_a_code() -> None:
    assert set(KINDS) == set(Neo4jRetry)
