"""The table of `neo4j_errors`, row by row, with the codes that Neo4j 5.26 and its driver send."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neo4j.exceptions import AuthConfigurationError, ConfigurationError, Neo4jError, ServiceUnavailable, SessionExpired

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.materializer.errors import (
    EventRefusedError,
    FoldFailedError,
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    UndecidedError,
)
from headwater_consumers.materializer.neo4j_errors import classify
from headwater_schemas.errors import CredentialsRefusedError, LineageError

if TYPE_CHECKING:
    import pytest

REFUSED = ServiceUnavailable("refused")  # type: ignore[no-untyped-call]
GONE = SessionExpired("gone")  # type: ignore[no-untyped-call]
SECRET = "Node(12) already exists with label `Job` and property `name` = 'payroll'"


def meaning(error: Exception) -> LineageError:
    return classify(error, uri="bolt://db:7687", user="ada", database="lineage")


def of_server(code: str) -> Neo4jError:
    """Error in the form that the driver makes of a FAILURE message."""
    return Neo4jError._hydrate_neo4j(code=code, message=SECRET)


CODES: list[tuple[str, type[LineageError]]] = [
    ("Neo.TransientError.Transaction.DeadlockDetected", GraphUnavailableError),
    ("Neo.TransientError.Transaction.LockAcquisitionTimeout", GraphUnavailableError),
    ("Neo.TransientError.Transaction.Outdated", GraphUnavailableError),
    ("Neo.TransientError.General.DatabaseUnavailable", GraphUnavailableError),
    ("Neo.TransientError.Request.NoThreadsAvailable", GraphUnavailableError),
    ("Neo.TransientError.Cluster.ReplicationFailure", GraphUnavailableError),
    ("Neo.ClientError.Schema.ConstraintValidationFailed", GraphUnavailableError),
    ("Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists", GraphUnavailableError),
    ("Neo.ClientError.Statement.EntityNotFound", GraphUnavailableError),
    ("Neo.ClientError.Transaction.Terminated", GraphUnavailableError),
    ("Neo.ClientError.Transaction.TransactionNotFound", GraphUnavailableError),
    ("Neo.ClientError.Cluster.NotALeader", GraphUnavailableError),
    ("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase", GraphUnavailableError),
    ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", GraphUnavailableError),
    ("Neo.ClientError.Security.AuthorizationExpired", GraphUnavailableError),
    ("Neo.ClientError.Security.TokenExpired", GraphUnavailableError),
    ("Neo.ClientError.Security.AuthenticationRateLimit", GraphUnavailableError),
    ("Neo.TransientError.General.OutOfMemoryError", OverCapacityError),
    ("Neo.TransientError.General.MemoryPoolOutOfMemoryError", OverCapacityError),
    ("Neo.ClientError.General.TransactionOutOfMemoryError", OverCapacityError),
    ("Neo.TransientError.General.StackOverFlowError", OverCapacityError),
    ("Neo.ClientError.Transaction.TransactionTimedOut", OverCapacityError),
    ("Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration", OverCapacityError),
    ("Neo.ClientError.Security.Unauthorized", CredentialsRefusedError),
    ("Neo.ClientError.Security.CredentialsExpired", CredentialsRefusedError),
    ("Neo.ClientError.Security.Forbidden", CredentialsRefusedError),
    ("Neo.ClientError.Database.DatabaseNotFound", GraphUnusableError),
    ("Neo.ClientError.Statement.SyntaxError", GraphUnusableError),
    ("Neo.ClientError.Statement.ParameterMissing", GraphUnusableError),
    ("Neo.ClientError.Statement.TypeError", EventRefusedError),
    ("Neo.ClientError.Statement.ArgumentError", EventRefusedError),
    ("Neo.ClientError.Statement.ArithmeticError", EventRefusedError),
    ("Neo.ClientError.Request.Invalid", EventRefusedError),
    ("Neo.DatabaseError.General.UnknownError", UndecidedError),
    ("Neo.DatabaseError.Statement.ExecutionFailed", UndecidedError),
    ("Neo.DatabaseError.Transaction.TransactionCommitFailed", UndecidedError),
]


def test_a_code_of_the_server(subtests: pytest.Subtests) -> None:
    for code, expected in CODES:
        with subtests.test(code):
            error = meaning(of_server(code))
            assert type(error) is expected
            # The driver says NotALeader and a few others as TransientError; category and title stay.
            assert error.code.split(".")[2:] == code.split(".")[2:]
            assert "payroll" not in str(error), "the server's text may quote a payload"


EXCEPTIONS: list[tuple[Exception, type[LineageError]]] = [
    (REFUSED, GraphUnavailableError),
    (GONE, GraphUnavailableError),
    (ConnectionResetError("reset"), GraphUnavailableError),
    (TimeoutError("timed out"), GraphUnavailableError),
    (AuthConfigurationError("no scheme"), CredentialsRefusedError),
    (ConfigurationError("no scheme"), GraphUnusableError),
    (OverflowError("Integer out of range"), EventRefusedError),
    (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), EventRefusedError),
    (TypeError("Values of type <class 'set'> are not supported"), EventRefusedError),
    (KeyError("a defect"), FoldFailedError),
]


def test_an_exception_of_the_driver_or_of_our_own(subtests: pytest.Subtests) -> None:
    for error, expected in EXCEPTIONS:
        with subtests.test(error=error):
            assert type(meaning(error)) is expected


def test_a_lost_race_is_distinguished_from_an_outage() -> None:
    race = meaning(of_server("Neo.ClientError.Schema.ConstraintValidationFailed"))
    outage = meaning(REFUSED)
    assert isinstance(race, GraphUnavailableError)
    assert isinstance(outage, GraphUnavailableError)
    assert (race.cause, outage.cause) == (RetryCause.RACE, RetryCause.GRAPH)


SETTINGS_TO_LOOK_AT: list[tuple[str, str]] = [
    ("Neo.ClientError.Security.Unauthorized", "HEADWATER_NEO4J_PASSWORD"),
    ("Neo.ClientError.Security.Forbidden", "HEADWATER_NEO4J_USER"),
    ("Neo.ClientError.Database.DatabaseNotFound", "HEADWATER_NEO4J_DATABASE"),
    ("Neo.ClientError.Statement.SyntaxError", "HEADWATER_NEO4J_URI"),
]


def test_a_fatal_error_names_the_setting_to_look_at(subtests: pytest.Subtests) -> None:
    for code, setting in SETTINGS_TO_LOOK_AT:
        with subtests.test(code):
            error = meaning(of_server(code))
            assert isinstance(error, CredentialsRefusedError | GraphUnusableError)
            assert error.setting == setting


def test_an_error_of_our_tree_stays_what_it_is() -> None:
    error = UndecidedError("x")
    assert meaning(error) is error
