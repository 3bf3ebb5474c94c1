"""`headwater policy`: the file of access policies, and roles of Neo4j made from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import InputError, NotConfiguredError
from headwater.graph_reader import asking
from headwater.options import TenantOption, TimeoutOption
from headwater.settings import load_settings, running_stack
from headwater_analysis.assets import AssetKind
from headwater_analysis.resolve import resolve_dataset, resolve_job
from headwater_server.authorization import AccessDecision, AccessFileError, Policies
from headwater_server.authorization.assets import decided_about
from headwater_server.authorization.neo4j_roles import RoleError, roles, script
from headwater_server.identity import Identity, IdentitySource

app = typer.Typer(
    help="Policies that decide who may see which assets: check them, explain them, make roles of Neo4j.",
    no_args_is_help=True,
)

FileArgument = Annotated[Path, typer.Argument(metavar="FILE", help="File of Cedar policies.")]


@app.command("check")
def check(file: FileArgument, *, json_output: JsonOption = False) -> None:
    """Check that a file of policies is valid Cedar, and uses only entities, attributes and actions of Headwater.

    Exit status 2: the file has mistakes, which are all listed.
    """
    policies = _read(file)
    names = policies.names()
    console.result({"file": str(file), "policies": names}, Text(f"{len(names)} policies, no mistake."))
    if not names:
        console.warning("no policy permits anything: nobody sees anything.")


@app.command("explain")
def explain(
    name: Annotated[str, typer.Argument(help="A dataset, or with --job a job.")],
    *,
    user: Annotated[
        str, typer.Option("--as", metavar="USER", help="Asker, as the audit names it: token:ci, oidc:248289.")
    ],
    group: Annotated[list[str] | None, typer.Option(help="Group of the asker. Repeatable.")] = None,
    job: Annotated[bool, typer.Option("--job", help="The name is that of a job.")] = False,
    file: Annotated[
        Path | None, typer.Option(help="File of policies. Default: that of HEADWATER_SERVE_ACCESS_FILE.")
    ] = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Show whether an asker may see a dataset or job, and which policies decide it.

    headwater policy explain --as oidc:248289 --group flights kafka://embedded/flights.departed
    """
    policies = _read(_configured() if file is None else file)
    source, _, subject = user.partition(":")
    if not subject or source not in {each.value for each in IdentitySource}:
        raise InputError(
            f"{shortened(user)} doesn't name an asker.",
            fix="Write the kind of log-in before the name: token:ci, oidc:248289, proxy:ann.",
        )
    identity = Identity(IdentitySource(source), subject, groups=frozenset(group or ()))
    kind = AssetKind.JOB if job else AssetKind.DATASET
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        resolve = resolve_job if job else resolve_dataset
        asset = reader.read(lambda tx: resolve(tx, name)).asset
        decision = decided_about(policies, identity, reader, kind.value.lower(), asset.key)
    document = {
        "asker": identity.name,
        "groups": sorted(identity.groups),
        "asset": asset.spelling,
        "allowed": decision.allowed,
        "policies": list(decision.policies),
        "errors": list(decision.errors),
    }
    console.result(document, _view(identity, asset.spelling, decision))


@app.command("neo4j")
def neo4j(
    file: FileArgument,
    *,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Print Cypher that makes a role of Neo4j Enterprise for each group that the policies name. Nothing is changed.

    The roles are for people who need Neo4j Browser. They name the assets that are visible at this time.

    headwater policy neo4j access.cedar | cypher-shell -d system
    """
    policies = _read(file)
    database = load_settings(running=running_stack()).neo4j.database
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        try:
            made = roles(policies, reader, database)
        except RoleError as error:
            raise InputError(
                f"{file}: {error}.", fix="docs/access-policies.md explains how groups become roles."
            ) from error
    if json_output:
        found = [{"group": role.group, "role": role.name, "statements": list(role.statements)} for role in made]
        console.result({"roles": found}, Text())
    else:
        console.raw(script(policies, made))


def _view(identity: Identity, spelling: str, decision: AccessDecision) -> Table:
    table = plain_table("", "")
    table.add_row("asker", shortened(identity.name))
    table.add_row("groups", shortened(", ".join(sorted(identity.groups)) or "none"))
    table.add_row("asset", shortened(spelling))
    table.add_row("may see it", "yes" if decision.allowed else "no")
    table.add_row("decided by", shortened(", ".join(decision.policies) or "no policy permits it"))
    for error in decision.errors:
        table.add_row("failed", shortened(error))
    return table


def _configured() -> Path:
    found = load_settings().serve.access_file
    if found is None:
        raise NotConfiguredError(
            "There is no file of policies.", fix="Set HEADWATER_SERVE_ACCESS_FILE, or give --file."
        )
    return Path(found)


def _read(file: Path) -> Policies:
    try:
        return Policies.read(file)
    except AccessFileError as error:
        raise InputError(
            f"{error}.", fix="Correct it; docs/access-policies.md lists the entities, with examples."
        ) from error
