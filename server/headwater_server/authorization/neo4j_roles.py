"""Roles of Neo4j Enterprise 5.26 for the groups of a policy file, from each group's visible assets at this time.

Neo4j shows data that is granted and not denied. A privilege has one predicate over one property of nodes
(https://neo4j.com/docs/operations-manual/5/authentication-authorization/property-based-access-control/), so that

    GRANT MATCH    n._scope IN […]     scopes that are visible as a whole
    DENY TRAVERSE  n._asset IN […]     hidden assets of these scopes
    GRANT MATCH    n._asset IN […]     visible assets of other scopes

None of these includes nodes without `_scope`, such as micro-batches. In 5.26, privileges on relationships have no such
predicates: a relationship is visible if both of its nodes are visible. So only types of relationships that don't name a
third asset are granted. A denial wins over every grant, including grants of the user's other roles.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from headwater_analysis.filtered import OF_JOBS
from headwater_analysis.reader import Reader
from headwater_analysis.visibility import Visible
from headwater_graph.keys import ASSET, SCOPE
from headwater_server.authorization.assets import compiled, every_job_visible, may_see_everything
from headwater_server.authorization.policies import Policies
from headwater_server.identity import Identity, IdentitySource

GRANTED: Final[tuple[str, ...]] = (
    *("READS", "WRITES", "GOES_INTO", "HAS_COLUMN", "OF", "USED", "IN_QUERY", "CHILD_OF", "CONSUMED", "PRODUCED"),
    *("READ", "WROTE", "CONSUMES", "DECLARES", "RENAMED_TO", "DROPPED"),
)
"""Types of relationships that reveal nothing about a third asset, apart from the properties in `WITHHELD`."""

WITHHELD: Final[tuple[str, ...]] = (
    # Names and keys of other assets, and numbers derived from other assets.
    *("renamed_from", "inputs", "outputs", "declared_inputs", "declared_outputs", "edges", "inferred_by"),
    *("_declared_feeds", "_outputs", "_feeds", "_consumes", "_not_from"),
    *("partition_inputs", "partition_input_fields", "partition_outputs", "partition_output_fields"),
    *("partition_transforms", "parent_run_id", "parent_job_namespace", "parent_job_name"),
    *("root_run_id", "root_job_namespace", "root_job_name"),
    *("quality_assertions", "quality_passed", "quality_columns", "quality_values", "quality_namespaces"),
    *("quality_datasets", "quality_rules", "quality_severities", "quality_suites", "quality_suite_versions"),
    # Texts that `headwater serve` shows only with the scope `expressions`.
    *("expression", "expressions", "statement", "error_message", "error_stack", "checkpoint_location"),
    *("source_uri", "paths", "pattern", "from_json", "to_json", "facet_names", "facets"),
)
"""Properties of nodes and relationships that restricted roles can't read."""

_HEADER = """\
// Roles for the groups that the policies name, as the graph is now. An administrator runs this, and again after each
// change of the policies, or of datasets, jobs and their labels.
//
// CREATE OR REPLACE takes a role from its users. It is needed, because no statement revokes all privileges of a role,
// and a remaining privilege would show assets that are hidden now. Run SHOW ROLES WITH USERS before this script, and
// grant the roles again after it. Roles from LDAP or an identity provider are granted again without a statement.
//
// Give a user one of these roles, and none of reader, editor, publisher, architect and admin.
"""
_OF_USERS = "//\n// Policies that name a User have no effect on these roles.\n"


class RoleError(Exception):
    """The groups of a policy file can't be converted to roles."""


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """Role of a group.

    Attributes:
        about: sentences that describe the visible assets.
        statements: statements that replace the role; privileges over empty lists are left out.
    """

    group: str
    name: str
    about: Sequence[str]
    statements: Sequence[str]


def roles(policies: Policies, reader: Reader, database: str) -> list[DatabaseRole]:
    """Make the role of each group that the policies name, in order.

    Args:
        reader: unrestricted reader of a tenant.
        database: name of the tenant's database.

    Raises:
        RoleError: no policy names a group, a group's name has control characters, or two groups would have roles of one
            name.
        AnalysisError: the graph can't be read now.
    """
    names: dict[str, str] = {}
    for group in sorted(policies.groups):
        if not group.isprintable():
            raise RoleError(f"The name of the group {group!r} has control characters")
        if (other := names.setdefault(_role_name(group), group)) != group:
            raise RoleError(f"The groups {other!r} and {group!r} would have the same role {_role_name(group)}")
    if not names:
        raise RoleError("No policy names a group")
    return [_role(policies, reader, database, group, name) for name, group in names.items()]


def script(policies: Policies, made: Iterable[DatabaseRole]) -> str:
    """Make the script for cypher-shell or Neo4j Browser, with a comment before each role."""
    parts = [_HEADER + (_OF_USERS if policies.names_users else "")]
    for role in made:
        about = "".join(f"// {_comment(line)}\n" for line in (f"Group {role.group}", *role.about))
        parts.append(about + "".join(f"{statement};\n" for statement in role.statements))
    return "\n".join(parts)


def _role_name(group: str) -> str:
    """Role name of a group: ASCII letters, digits, underscores. The prefix avoids Neo4j's own roles (`admin`)."""
    return "headwater_" + re.sub(r"[^A-Za-z0-9_]", "_", group)


def _role(policies: Policies, reader: Reader, database: str, group: str, name: str) -> DatabaseRole:
    identity = Identity(IdentitySource.OIDC, "", groups=frozenset({group}))
    graph, to = f"ON GRAPH {_quoted(database)}", f"TO {_quoted(name)}"
    first = [f"CREATE OR REPLACE ROLE {_quoted(name)}"]
    access = f"GRANT ACCESS ON DATABASE {_quoted(database)} {to}"
    if may_see_everything(policies, identity, reader.tenant).allowed:
        about = [f"Everything of the tenant {reader.tenant}"]
        granted = [
            f"GRANT MATCH {{*}} {graph} FOR (n) WHERE n.tenant = {_text(reader.tenant)} {to}",
            f"GRANT MATCH {{*}} {graph} RELATIONSHIPS * {to}",
            access,
        ]
        return DatabaseRole(group, name, about, [*first, *granted])
    visible = compiled(policies, identity, reader)
    if not visible.scopes and not visible.also:
        return DatabaseRole(group, name, ["Nothing"], first)
    types, about = GRANTED, list(_about(visible))
    if every_job_visible(policies, identity, reader, visible):
        types = (*GRANTED, *sorted(OF_JOBS))
    else:
        about.append(f"Without {', '.join(sorted(OF_JOBS))}: they name jobs, and some are or may become hidden")
    scopes, hidden, also = (visible.given(reader.tenant)[kind] for kind in ("scopes", "hidden", "also"))
    # Denials come first, so that an incomplete role shows too little, not too much.
    statements = [
        *first,
        f"DENY READ {{{', '.join(WITHHELD)}}} {graph} ELEMENTS * {to}",
        *_where("DENY TRAVERSE", graph, ASSET, hidden, to),
        *_where("GRANT MATCH {*}", graph, SCOPE, scopes, to),
        *_where("GRANT MATCH {*}", graph, ASSET, also, to),
        f"GRANT MATCH {{*}} {graph} RELATIONSHIPS {', '.join(types)} {to}",
        access,
    ]
    return DatabaseRole(group, name, about, statements)


def _about(visible: Visible) -> Iterator[str]:
    yield from (f"All of {scope}" for scope in sorted(visible.scopes))
    if visible.hidden:
        yield f"Without hidden assets of these: {len(visible.hidden):,}"
    if visible.also:
        yield f"Single assets of others: {len(visible.also):,}"


def _where(privilege: str, graph: str, name: str, values: Sequence[str], to: str) -> list[str]:
    """Privilege on nodes with one of these values; no statement without values."""
    return [f"{privilege} {graph} FOR (n) WHERE n.{name} IN [{', '.join(map(_text, values))}] {to}"] if values else []


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _comment(text: str) -> str:
    r"""Escape a text for a comment line: Neo4j reads \u000a as a line feed, also in comments, unless \ is doubled."""
    return "".join(each if each.isprintable() else "\ufffd" for each in text).replace("\\", "\\\\")
