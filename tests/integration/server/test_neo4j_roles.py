"""`headwater policy neo4j` on a real graph and a real Neo4j, whose Community edition parses what Enterprise runs."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from neo4j.exceptions import ClientError

from headwater.cli import main
from headwater.errors import ExitCode
from headwater_analysis.filtered import FREE, OF_JOBS, OF_QUERIES
from headwater_graph.facts.model import PREFIX, STORED_LABELS, RelType
from headwater_graph.fold import fold
from headwater_graph.write import GraphWriter
from headwater_server.authorization.neo4j_roles import GRANTED, WITHHELD
from support.events import (
    full_dataset_event,
    full_interval_event,
    full_job_event,
    full_plan_event,
    full_run_event,
)
from support.graph.cases import load_cases
from support.graph.colliding import colliding_events

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300), pytest.mark.usefixtures("settings_of_stack")]

POLICIES = r"""
permit(principal in Group::"ops", action == Action::"everything", resource);
permit(principal in Group::"CORP\\u000a`team; //", action == Action::"read", resource is Dataset)
when { resource.name like "flights.*" && resource.name != "flights.departed" };
permit(principal in Group::"jobs", action == Action::"read", resource)
unless { resource is Dataset && resource.name == "daily_report" };
"""
SHOWN = {
    *("key", "tenant", "name", "namespace", "title", "type", "description", "owners", "owner_types", "tags"),
    *("tag_values", "tag_sources", "tag_fields", "classification", "criticality", "storage_layer", "storage_format"),
    *("symlinks", "symlink_namespaces", "symlink_types", "lifecycle", "dropped", "dropped_at", "emptied_at"),
    *("columns", "data_types", "nullable", "dataset", "data_type", "position", "format", "version", "parent_id"),
    *("operation", "partitions", "file_count", "file_bytes", "digest", "first_seen", "last_seen", "processing_type"),
    *("integration", "job_type", "source_type", "source_url", "source_repo", "source_path", "source_version"),
    *("source_branch", "declared_plan", "job", "complete", "incomplete_reason", "expression_ids", "expression_id"),
    *("run_id", "job_namespace", "job_name", "state", "provenance", "started_at", "ended_at", "nominal_start"),
    *("nominal_end", "code_version", "config_version", "engine", "engine_version", "capture_version", "error_type"),
    *("publication", "plan_digest", "query_id", "query_name", "producer", "script", "repository", "branch"),
    *("package", "image", "user", "service", "campaign", "rows_rejected", "first_batch", "last_batch", "open"),
    *("inferred_state", "inferred_ended_at", "inferred_because", "set", "subject", "subject_type", "current"),
    *("glossary", "sensitivity", "certified", "freshness_seconds", "deadline", "notice_days", "on_call", "contact"),
    *("url", "keep_days", "reference", "marks", "mark_versions", "mark_spreads", "mark_reasons", "plan"),
    *("smallest_group", "approval_covers", "approval_sensitivity", "approval_by", "approval_reason"),
    *("approval_until", "observed", "declared", "declarations", "possible", "uncommitted", "wide", "certainty"),
    *("topic", "topic_id", "from", "to_exclusive", "snapshot_id", "partition_paths", "from_version", "to_version"),
    *("manifest_digest", "system", "from_cdc", "to_cdc", "from_cursor", "to_cursor", "from_time"),
    *("to_time_exclusive", "rows", "bytes", "files", "schema_digest", "ordinal", "subtype", "kind", "masking"),
    # Of the same asset: its words, stamps, and keys.
    *("_asset", "_scope", "_words", "_owner_words", "_tag_words", "_stamp", "_stamps", "_schema", "_marks", "_own"),
    *("_job", "_query", "_checked", "_campaign", "_id_start", "_l", "_inferred_before"),
}
"""Properties that name no other asset, and are no texts of jobs."""


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    file = tmp_path / "access.cedar"
    file.write_text(POLICIES, encoding="utf-8")
    return file


def roles_of(policies: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    assert main(["policy", "neo4j", str(policies), "--json"]) == ExitCode.DONE
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {each["role"]: each["statements"] for each in document["roles"]}


def error_of(driver: Driver, text: str) -> str:
    with driver.session(database="system") as session, pytest.raises(ClientError) as caught:
        session.run(text).consume()
    return str(caught.value.code).rpartition(".")[2]


def values(statements: list[str], begins: str, name: str) -> list[str]:
    """Values of a condition."""
    found = [each for each in statements if each.startswith(begins) and f"n.{name} IN" in each]
    return re.findall(r"'(\w+)'", found[0]) if found else []


def test_neo4j_parses_every_statement(
    read_demo: Driver, policies: Path, capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    for wrong in (
        "CREATE OR REPLACE ROL `a`",
        "GRANT MATCH {*} ON GRAPH `neo4j` FOR (n) WHERE n._scope = 'a' OR n._asset = 'b' TO `a`",
        "// \\u000aIS NO COMMENT\nCREATE ROLE `a`",
    ):
        assert error_of(read_demo, wrong) == "SyntaxError"
    assert main(["policy", "neo4j", str(policies)]) == ExitCode.DONE
    # With the comments in front of each.
    statements = capsys.readouterr().out.split(";\n")
    assert statements.pop().strip() == ""
    assert len(statements) == sum(map(len, roles_of(policies, capsys).values()))
    for text in statements:
        with subtests.test(text.splitlines()[-1][:60]):
            assert error_of(read_demo, text) == "UnsupportedAdministrationCommand"


def test_the_conditions_hold_for_what_a_group_may_see(
    read_demo: Driver, policies: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = roles_of(policies, capsys)
    assert set(made) == {"headwater_CORP_u000a_team____", "headwater_jobs", "headwater_ops"}

    def names(role: str) -> set[str]:
        given = {
            "scopes": values(made[role], "GRANT MATCH", "_scope"),
            "hidden": values(made[role], "DENY TRAVERSE", "_asset"),
            "also": values(made[role], "GRANT MATCH", "_asset"),
        }
        with read_demo.session(database="neo4j") as session:
            found = session.run(
                "MATCH (n:HwDataset|HwJob) WHERE n._scope IN $scopes OR n._asset IN $also "
                "WITH n WHERE NOT n._asset IN $hidden RETURN collect(n.name) AS names",
                given,
            ).single(strict=True)
            return set(found["names"])

    with read_demo.session(database="neo4j") as session:
        everything = set(session.run("MATCH (n:HwDataset) RETURN collect(n.name)").single(strict=True).value())
        jobs = set(session.run("MATCH (n:HwJob) RETURN collect(n.name)").single(strict=True).value())
    flights = {name for name in everything if name.startswith("flights.")}
    assert "flights.departed" in flights
    assert names("headwater_CORP_u000a_team____") == flights - {"flights.departed"}
    assert names("headwater_jobs") == jobs | everything - {"daily_report"}
    assert any(" FEEDS" in each for each in made["headwater_jobs"])
    assert not any(" FEEDS" in each for each in made["headwater_CORP_u000a_team____"])


def test_everything_that_a_graph_has_is_granted_or_withheld(clean_database: Driver) -> None:
    """A new property, label or type: is it about its own asset alone?"""
    events = colliding_events(random.Random(1), 400)
    events += [full_run_event(), full_interval_event(), full_plan_event(), full_dataset_event(), full_job_event()]
    events += [event for case in load_cases() for event in case.events]
    writer = GraphWriter(clean_database, "neo4j")
    writer.ensure_schema()
    writer.apply(fold(events))
    with clean_database.session(database="neo4j") as session:
        nodes = list(
            session.run("MATCH (n) WHERE n._scope IS NOT NULL RETURN DISTINCT labels(n) AS of, keys(n) AS names")
        )
        edges = list(
            session.run(
                "MATCH (a)-[r]->(b) WHERE a._scope IS NOT NULL AND b._scope IS NOT NULL "
                "RETURN DISTINCT type(r) AS of, keys(r) AS names"
            )
        )
    labels = {label for each in nodes for label in each["of"]}
    withheld = {f"{PREFIX}Incident"}  # whose scope names several assets
    assert labels | {f"{PREFIX}Consumer"} == STORED_LABELS - FREE - OF_QUERIES - withheld
    assert {each["of"] for each in edges} <= {*GRANTED} | OF_JOBS
    without_scope = {
        RelType.CONCERNS,
        RelType.IN_SET,
        RelType.KNOWN_AS,
        RelType.IN_RUN,
        RelType.NEXT,
        RelType.CONFLICTS_WITH,
        RelType.REACHED,
    }
    assert {*GRANTED} | OF_JOBS | without_scope == {*RelType}
    assert {name for each in (*nodes, *edges) for name in each["names"]} - SHOWN - {*WITHHELD} == set()
    assert SHOWN & {*WITHHELD} == set()


def test_groups_that_become_no_role_end_the_command(policies: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policies.write_text("permit(principal, action, resource);", encoding="utf-8")
    assert main(["policy", "neo4j", str(policies)]) == ExitCode.BAD_INPUT
    assert "No policy names a group" in capsys.readouterr().err
