"""Driver for commands that read or replace the whole graph; its errors become errors of the command."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.connection import Neo4jSettings
from headwater.errors import ConfigurationError, HeadwaterError, InputError, SubjectNotFoundError, UnreachableError
from headwater.lean_imports import without
from headwater_graph.segments.segment import SegmentDamagedError

with without("numpy", "pandas"):
    import neo4j.exceptions
    from neo4j import GraphDatabase, NotificationMinimumSeverity
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    from headwater_graph.connection import CERTIFICATE_SETTINGS, untrusted_certificate
    from headwater_graph.schema import GraphVersionMismatch, require_version, version_mismatch

if TYPE_CHECKING:
    from neo4j import Driver


@contextmanager
def graph_driver(settings: Neo4jSettings) -> Iterator[Driver]:
    """Connected driver; the driver's errors within the block end the command with exit code and fix."""
    uri = settings.require_uri()
    try:
        with GraphDatabase.driver(
            uri,
            auth=(settings.user, settings.password.get_secret_value()),
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            connection_timeout=5.0,
        ) as driver:
            driver.verify_connectivity()
            yield driver
    except AuthError as error:
        raise ConfigurationError(
            f"Neo4j at {uri} refuses the user {settings.user!r} or the password.",
            fix="Check HEADWATER_NEO4J_USER and HEADWATER_NEO4J_PASSWORD.",
        ) from error
    except Neo4jError as error:
        if (error.code or "").endswith("DatabaseNotFound"):
            raise SubjectNotFoundError(
                f"Neo4j at {uri} has no database {settings.database!r}.",
                fix="Check HEADWATER_NEO4J_DATABASE.",
            ) from error
        raise HeadwaterError(f"Neo4j at {uri} failed: {error.code}.") from error
    except (neo4j.exceptions.ConfigurationError, ValueError) as error:
        raise InputError(f"{uri!r} is no address of a Neo4j.", fix="Check HEADWATER_NEO4J_URI.") from error
    except DriverError as error:
        if (untrusted := untrusted_certificate(error, uri)) is not None:
            raise ConfigurationError(f"{untrusted}.", fix=f"Check {CERTIFICATE_SETTINGS}.") from error
        raise UnreachableError(
            f"Neo4j doesn't answer at {uri}.",
            fix="Start it with `headwater up`, or check HEADWATER_NEO4J_URI.",
        ) from error


@contextmanager
def current_graph(settings: Neo4jSettings) -> Iterator[Driver]:
    """Connect to a graph of this release's version. `graph_driver` connects to a graph of any version."""
    with graph_driver(settings) as driver:
        try:
            require_version(driver, settings.database)
        except GraphVersionMismatch as error:
            raise ConfigurationError(
                version_mismatch(error.found, verb="reads", at=f" at {settings.require_uri()}"),
                fix="Or check HEADWATER_NEO4J_URI and HEADWATER_NEO4J_DATABASE.",
            ) from error
        try:
            yield driver
        except SegmentDamagedError as error:
            raise HeadwaterError(str(error), fix="`headwater graph rebuild` makes the graph anew.") from error
