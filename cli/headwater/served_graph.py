"""Configured graph of the HTTP app, for `headwater serve` and `headwater mcp`."""

from __future__ import annotations

from pathlib import Path

from headwater.events_topic import kept, topic_ends
from headwater.exempting import exemptions_of
from headwater.graph_reader import translated
from headwater.kafka_arrivals import KafkaArrivals
from headwater.settings import Settings
from headwater_analysis.checks import Exemption
from headwater_analysis.errors import AnalysisError
from headwater_analysis.impact import Policy, load_policy
from headwater_analysis.reader import reading_driver
from headwater_audit.audit import Audit
from headwater_graph.connection import Neo4jTarget
from headwater_openlineage.intake.sink import IntakeSink
from headwater_server.asking import Graph
from headwater_server.authorization import Authorization
from headwater_server.settings import ServeSettings


def policy_and_exemptions(serve: ServeSettings) -> tuple[Policy | None, tuple[Exemption, ...]]:
    """Read the policy of impacts (None: Headwater's own) and the accepted findings of `headwater check`.

    Raises:
        HeadwaterError: a file can't be read, or has a mistake.
    """
    try:
        policy = None if serve.policy is None else load_policy(Path(serve.policy))
    except AnalysisError as error:
        raise translated(error) from error
    return policy, () if serve.exemptions is None else exemptions_of(Path(serve.exemptions))


def served_graph(
    settings: Settings,
    policy_and_exemptions: tuple[Policy | None, tuple[Exemption, ...]],
    *,
    audit: Audit | None,
    sink: IntakeSink | None = None,
    authorization: Authorization | None = None,
) -> Graph:
    """Make the `Graph` of the configured database. The caller closes its driver.

    Args:
        audit: audit of requests; None: requests aren't recorded.
        sink: sink of accepted events and declarations; None: none are accepted.
        authorization: decisions about visible assets; None: everybody sees everything.

    Raises:
        HeadwaterError: the driver doesn't accept the address of the database.
    """
    neo4j, (policy, exemptions) = settings.neo4j, policy_and_exemptions
    target = Neo4jTarget(neo4j.require_uri(), neo4j.user, neo4j.password.get_secret_value(), neo4j.database)
    try:
        driver = reading_driver(target)
    except AnalysisError as error:
        raise translated(error) from error
    return Graph(
        driver,
        target,
        settings.analysis,
        settings.serve,
        policy,
        sink,
        settings.openlineage,
        exemptions,
        kept(topic_ends(settings.kafka)),
        KafkaArrivals(settings.kafka, follows_names=False),
        authorization,
        audit,
    )
