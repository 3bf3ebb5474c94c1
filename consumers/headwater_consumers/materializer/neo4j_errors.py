"""Classification of the Neo4j driver's exceptions: retry, split, probe or stop.

| exception                                                       | translated to                                |
|-----------------------------------------------------------------|----------------------------------------------|
| ServiceUnavailable, because of an untrusted certificate         | CredentialsRefusedError                      |
| ServiceUnavailable, SessionExpired, sockets, `TransientError.*` | GraphUnavailableError                        |
| `*OutOfMemory*`, `*TransactionTimedOut*`, whatever their class  | OverCapacityError                            |
| `ClientError.Schema.ConstraintValidationFailed`, EntityNotFound | GraphUnavailableError: a race with a sibling |
| `ClientError.Schema.*AlreadyExists`                             | GraphUnavailableError: a race, in spite of   |
|                                                                 | `IF NOT EXISTS`                              |
| `ClientError.Transaction.*`, read-only, expired authorization   | GraphUnavailableError                        |
| `ClientError.Security.*`                                        | CredentialsRefusedError                      |
| no such database, another graph version, unknown statements     | GraphUnusableError                           |
| any other `ClientError.*`; values that the driver can't encode  | EventRefusedError                            |
| `DatabaseError.*`                                               | UndecidedError                               |

Codes are from Neo4j 5's `Status` and the driver's `neo4j.exceptions`. Messages of the server may quote property values,
so they are dropped.
"""

from __future__ import annotations

from enum import StrEnum

from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    CertificateConfigurationError,
    ConfigurationError,
    DriverError,
    Forbidden,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
    TokenExpired,
    UnsupportedServerProduct,
)

from headwater_consumers.kafka.notices import RetryCause
from headwater_consumers.materializer.errors import (
    EventRefusedError,
    FoldFailedError,
    GraphUnavailableError,
    GraphUnusableError,
    OverCapacityError,
    UndecidedError,
)
from headwater_graph.connection import CERTIFICATE_SETTINGS, untrusted_certificate
from headwater_schemas.errors import CredentialsRefusedError, LineageError

_CAPACITY = ("OutOfMemory", "TransactionTimedOut", "StackOverFlow", "TransactionMemoryLimit")
# Endings of codes, because the driver rewrites some classifications, for example ClientError to TransientError.
_RACES = (
    "ConstraintValidationFailed",
    "EntityNotFound",
    "DeadlockDetected",
    "Outdated",
    # Two consumers that create the schema at the same time.
    "EquivalentSchemaRuleAlreadyExists",
    "ConstraintAlreadyExists",
    "IndexAlreadyExists",
)
_TEMPORARY = (
    "AuthorizationExpired",
    "TokenExpired",
    "AuthenticationRateLimit",
    "NotALeader",
    "ReadOnly",
    "ForbiddenOnReadOnlyDatabase",
    "WriteOnReadOnlyAccessDatabase",
    "WriteOnReadOnlyAccessDb",
    "DatabaseUnavailable",
)
_OUR_STATEMENTS = ("SyntaxError", "SemanticError", "ParameterMissing", "FeatureDeprecationWarning", "ProcedureNotFound")


def classify(error: Exception, *, uri: str, user: str, database: str) -> LineageError:
    """Translate an error of the driver into an error of Headwater.

    Args:
        error: exception of the driver, or of the code that calls it.
        uri: address of the database, for the message.
        user: user of the connection, for the message.
        database: name of the database, for the message.
    """
    if isinstance(error, LineageError):
        return error
    if isinstance(error, Neo4jError):
        return _of_code(error, uri=uri, user=user, database=database)
    code = type(error).__name__
    if (untrusted := untrusted_certificate(error, uri)) is not None:
        return CredentialsRefusedError(f"{untrusted}.", setting=CERTIFICATE_SETTINGS, code=code)
    if isinstance(error, ServiceUnavailable | SessionExpired | OSError):
        return GraphUnavailableError(f"Neo4j at {uri} doesn't answer ({code}).", code=code, broke=True)
    if isinstance(error, UnsupportedServerProduct):
        return GraphUnusableError(f"The server at {uri} isn't Neo4j.", setting="HEADWATER_NEO4J_URI", code=code)
    if isinstance(error, AuthConfigurationError):
        return CredentialsRefusedError(f"Credentials for {uri}: {error}", setting="HEADWATER_NEO4J_PASSWORD", code=code)
    if isinstance(error, CertificateConfigurationError | ConfigurationError):
        return GraphUnusableError(f"Neo4j address {uri}: {error}", setting="HEADWATER_NEO4J_URI", code=code)
    if isinstance(error, DriverError):
        return GraphUnavailableError(f"The connection to Neo4j at {uri} broke ({code}).", code=code, broke=True)
    if isinstance(error, ValueError | TypeError | OverflowError):
        return EventRefusedError(f"The Neo4j driver can't encode a value ({code}).", code=code)
    return FoldFailedError(f"Writing failed with {code}.", code=code)


def _of_code(error: Neo4jError, *, uri: str, user: str, database: str) -> LineageError:
    code = error.code or type(error).__name__
    *_, classification, category, title = ("", "", *code.split("."))
    if any(part in title for part in _CAPACITY):
        return OverCapacityError(f"The write needs more than one Neo4j transaction may use ({code}).", code=code)
    if title in _RACES:
        return GraphUnavailableError(
            f"The write lost a race with another write ({code}).", code=code, cause=RetryCause.RACE
        )
    if title in _TEMPORARY or isinstance(error, TokenExpired):
        return GraphUnavailableError(f"Neo4j at {uri} can't accept writes now ({code}).", code=code)
    if isinstance(error, AuthError | Forbidden) or category == "Security":
        return _refused(code, uri=uri, user=user)
    if title == "DatabaseNotFound":
        return GraphUnusableError(
            f"Neo4j at {uri} has no database {database!r} ({code}).", setting="HEADWATER_NEO4J_DATABASE", code=code
        )
    if title in _OUR_STATEMENTS:
        return GraphUnusableError(
            f"Neo4j at {uri} doesn't understand a statement of this release ({code}); Neo4j 5.26 does.",
            setting="HEADWATER_NEO4J_URI",
            code=code,
        )
    match classification, category:
        case "ClientError", "Transaction" | "Cluster" | "Database":
            return GraphUnavailableError(f"Neo4j at {uri} ended the transaction ({code}).", code=code)
        case "ClientError", _:
            return EventRefusedError(f"Neo4j refuses the data ({code}).", code=code)
        case "DatabaseError", _:
            return UndecidedError(f"Neo4j at {uri} reported an internal error ({code}).", code=code)
    return GraphUnavailableError(f"Neo4j at {uri} can't accept the write now ({code}).", code=code)


def _refused(code: str, *, uri: str, user: str) -> CredentialsRefusedError:
    if code.endswith("Forbidden"):
        return CredentialsRefusedError(
            f"Neo4j at {uri} doesn't let user {user!r} write ({code}).", setting="HEADWATER_NEO4J_USER", code=code
        )
    return CredentialsRefusedError(
        f"Neo4j at {uri} refuses the password of user {user!r} ({code}).",
        setting="HEADWATER_NEO4J_PASSWORD",
        code=code,
    )


class Neo4jRetry(StrEnum):
    """Closed label of the metric of Neo4j's retries.

    UNREACHABLE   no connection, or a broken one: the driver's own exceptions
    UNAVAILABLE   the server answers, but the database can't serve now: starting, stopping, an aborted transaction
    READ_ONLY     the database accepts no writes
    DEADLOCK      two transactions waited for each other's locks
    CONFLICT      another transaction was first: uniqueness constraint, deleted node, existing index
    SICK          an internal error of the database: `Neo.DatabaseError.*`, for example a full disk
    OTHER         any other error
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
    """Classify an error's code.

    Args:
        code: code such as `Neo.TransientError.Transaction.DeadlockDetected`, or the class of the driver's exception.
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
