"""Roles of Neo4j for the groups of a policy file: what they grant, deny and leave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import pytest

from headwater_analysis.filtered import OF_JOBS
from headwater_analysis.reader import Reader
from headwater_graph.keys import dataset_key, job_key, scope_key
from headwater_server.authorization import Policies
from headwater_server.authorization.neo4j_roles import GRANTED, WITHHELD, DatabaseRole, RoleError, roles, script

JOBS = 'permit(principal in Group::"a", action == Action::"read", resource is Job);'
LISTS: dict[str, list[str]] = {"tags": [], "classification": [], "sensitivity": [], "owners": []}


@dataclass
class Estate:
    """Reader of a graph of datasets and jobs, by namespace and name."""

    datasets: Sequence[tuple[str, str]] = ()
    jobs: Sequence[tuple[str, str]] = ()
    tenant: str = "default"

    def read(self, question: Callable[[Any], Any]) -> Any:
        return question(self)

    def rows(self, name: str, *, after: str, limit: int) -> Sequence[Mapping[str, Any]]:
        kinds = {"access/datasets": (self.datasets, dataset_key), "access/jobs": (self.jobs, job_key)}
        assets, key_of = kinds.get(name, ((), job_key))
        keys = sorted((key_of(self.tenant, *each), each) for each in assets)
        return [
            {**LISTS, "key": key, "namespace": namespace, "name": asset, "type": None}
            for key, (namespace, asset) in keys
            if key > after
        ][:limit]


def made(text: str, estate: Estate) -> list[DatabaseRole]:
    return roles(Policies(text), cast("Reader", estate), "neo4j")


def granted(statements: Sequence[str], what: str) -> list[str]:
    return [each for each in statements if what in each]


def test_scopes_are_granted_exceptions_denied_and_single_assets_added() -> None:
    text = """
    permit(principal in Group::"a", action == Action::"read", resource is Dataset)
    when { resource.namespace == "file" || resource.name == "open" };
    forbid(principal, action, resource is Dataset) when { resource.name == "secret" };
    """
    estate = Estate([("file", "x"), ("file", "secret"), ("db", "open"), ("db", "y"), ("db", "z")])
    (role,) = made(text, estate)
    assert (role.group, role.name) == ("a", "headwater_a")
    secret, shown = dataset_key("default", "file", "secret"), dataset_key("default", "db", "open")
    graph, to = "ON GRAPH `neo4j`", "TO `headwater_a`"
    assert role.statements == [
        "CREATE OR REPLACE ROLE `headwater_a`",
        f"DENY READ {{{', '.join(WITHHELD)}}} {graph} ELEMENTS * {to}",
        f"DENY TRAVERSE {graph} FOR (n) WHERE n._asset IN ['{secret}'] {to}",
        f"GRANT MATCH {{*}} {graph} FOR (n) WHERE n._scope IN ['{scope_key('default', 'dataset', 'file')}'] {to}",
        f"GRANT MATCH {{*}} {graph} FOR (n) WHERE n._asset IN ['{shown}'] {to}",
        f"GRANT MATCH {{*}} {graph} RELATIONSHIPS {', '.join(GRANTED)} {to}",
        f"GRANT ACCESS ON DATABASE `neo4j` {to}",
    ]
    assert not {*GRANTED} & OF_JOBS


def test_everything_is_that_of_one_tenant() -> None:
    text = 'permit(principal in Group::"ops", action == Action::"everything", resource);'
    (role,) = made(text, Estate(tenant="it's \\ me"))
    assert role.statements == [
        "CREATE OR REPLACE ROLE `headwater_ops`",
        "GRANT MATCH {*} ON GRAPH `neo4j` FOR (n) WHERE n.tenant = 'it\\'s \\\\ me' TO `headwater_ops`",
        "GRANT MATCH {*} ON GRAPH `neo4j` RELATIONSHIPS * TO `headwater_ops`",
        "GRANT ACCESS ON DATABASE `neo4j` TO `headwater_ops`",
    ]


def test_a_group_that_sees_nothing_has_a_role_without_privileges() -> None:
    (role,) = made('forbid(principal in Group::"a", action, resource);', Estate([("file", "x")]))
    assert role.statements == ["CREATE OR REPLACE ROLE `headwater_a`"]


@pytest.mark.parametrize(
    ("text", "sees"),
    [
        (JOBS, True),
        (JOBS + 'forbid(principal, action, resource is Job) when { resource.name == "hidden" };', False),
        (JOBS.replace(";", ' when { resource.namespace == "n" };'), False),
        (JOBS.replace(";", ' when { resource.name == "j" || resource.name == "hidden" };'), False),
    ],
)
def test_relationships_that_name_a_job_need_every_job(text: str, sees: bool) -> None:
    """Also those of jobs that come later: no job of another namespace is there yet."""
    (role,) = made(text, Estate(jobs=[("n", "j"), ("n", "hidden")]))
    for type_ in OF_JOBS:
        assert bool(granted(role.statements, f" {type_}")) is sees
    assert any("they name jobs" in line for line in role.about) is not sees


def test_groups_are_found_in_heads_and_conditions() -> None:
    text = f"""
    {JOBS}
    permit(principal, action, resource) when {{ principal in Group::"b" && resource.tenant like "Group::x*" }}
    unless {{ principal in [Group::"c", Group::"d\\"\\u{{e9}}"] }};
    """
    assert Policies(text).groups == {"a", "b", "c", 'd"é'}


def test_names_of_groups_end_neither_a_name_nor_a_comment(subtests: pytest.Subtests) -> None:
    cases = {
        "data-platform": "headwater_data_platform",
        "admin": "headwater_admin",
        "CORP\\\\u000aunit": "headwater_CORP_u000aunit",
        "a` TO admin; //": "headwater_a__TO_admin____",
        "équipe": "headwater__quipe",
    }
    for group, name in cases.items():
        with subtests.test(group):
            text = JOBS.replace('"a"', f'"{group}"')
            (role,) = made(text, Estate(jobs=[("n\n\\u000a", "j")]))
            assert role.name == name
            lines = [line for line in script(Policies(text), [role]).splitlines() if line]
            assert [line for line in lines if not line.startswith("//")] == [f"{each};" for each in role.statements]
            assert "\\" not in "".join(lines).replace("\\\\", "")


def test_groups_that_become_no_role(subtests: pytest.Subtests) -> None:
    for names, message in (
        (["a-b", "a_b"], "would have the same role headwater_a_b"),
        (["a\\nb"], "has control characters"),
        ([], "No policy names a group"),
    ):
        with subtests.test(message), pytest.raises(RoleError, match=message):
            made("".join(JOBS.replace('"a"', f'"{name}"') for name in names), Estate())


def test_policies_of_users_are_named_as_left_out() -> None:
    text = JOBS + 'permit(principal == User::"oidc:ann", action, resource);'
    estate = Estate(jobs=[("n", "j")])
    assert "Policies that name a User" in script(Policies(text), made(text, estate))
    assert "Policies that name a User" not in script(Policies(JOBS), made(JOBS, estate))
