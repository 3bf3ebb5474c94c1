"""Connection to Neo4j: address of the graph, a driver for writing and for reading, and refused certificates."""

from __future__ import annotations

import logging
import ssl
from dataclasses import dataclass

from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

# Without a handler, the driver's warnings of lost connections would go to stderr. It also raises errors for them.
logging.getLogger("neo4j").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Neo4jTarget:
    """Address, credentials and database of the graph. The password is left out of its `repr`.

    Example: `Neo4jTarget("bolt://localhost:7687", "neo4j", password, "neo4j")`.
    """

    uri: str
    user: str
    password: str
    database: str

    def __repr__(self) -> str:
        return f"Neo4jTarget({self.uri!r}, {self.user!r}, …, {self.database!r})"


CERTIFICATE_SETTINGS = "HEADWATER_NEO4J_URI, SSL_CERT_FILE"
"""Settings to check where `untrusted_certificate` returns a reason."""


def untrusted_certificate(error: BaseException, uri: str) -> str | None:
    """Explain a driver's error that comes from Neo4j's certificate, with the fix; None for any other error.

    The driver raises the same error for an untrusted certificate and for an unreachable server. For a certificate,
    OpenSSL's error is its cause.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        return None
    return (
        f"Neo4j at {uri} has a certificate that isn't trusted: {cause.verify_message}. Renew it on the server, or name "
        "the file of its authority in SSL_CERT_FILE and start again"
    )


def connect(target: Neo4jTarget, *, user_agent: str, retry_seconds: float, pool_size: int = 100) -> Driver:
    """Make a driver with short timeouts: 5 s to connect, 10 s for a connection from its pool. It doesn't connect yet.

    Args:
        user_agent: name of the connections in Neo4j's query log.
        retry_seconds: time limit of retries of a transaction function after a transient error; 0 for no retries.
        pool_size: maximum number of connections.

    Raises:
        neo4j.exceptions.ConfigurationError, ValueError: the address isn't a Neo4j address.
    """
    return GraphDatabase.driver(
        target.uri,
        auth=(target.user, target.password),
        user_agent=user_agent,
        connection_timeout=5.0,
        connection_acquisition_timeout=10.0,
        # Detects an idle connection that a firewall has dropped, before a transaction begins on it.
        liveness_check_timeout=30.0,
        max_connection_pool_size=pool_size,
        max_transaction_retry_time=retry_seconds,
        notifications_min_severity=NotificationMinimumSeverity.OFF,
        telemetry_disabled=True,
    )
