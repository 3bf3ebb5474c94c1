"""Health of a running stack's servers."""

from __future__ import annotations

from urllib.parse import urlsplit

from headwater.errors import ConfigurationError
from headwater.stack import kafka, neo4j
from headwater.stack.info import StackInfo


def kafka_answers(info: StackInfo) -> bool:
    """Return True if Kafka answers a metadata request within 5 s."""
    return kafka.answers(info.bootstrap_servers, timeout_seconds=5.0)


def neo4j_answers(info: StackInfo) -> bool:
    """Return True if Neo4j runs a query for the stack's user within 5 s."""
    try:
        return neo4j.answers(urlsplit(info.browser_url).port or 0, info.neo4j_password)
    except ConfigurationError:
        return False
