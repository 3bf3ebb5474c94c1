"""`headwater review`: what a change of a schema does, for a pull request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from headwater.asking import asking, translated
from headwater.completion import complete_dataset
from headwater.console import JsonOption, console
from headwater.errors import CheckFailedError, InputError
from headwater.graph_command import document
from headwater.lean_imports import without
from headwater.options import TenantOption, TimeoutOption
from headwater.show import review as show
from headwater_schemas.visible import json_escaped, visible

with without("numpy", "pandas"):
    from headwater_consumers.analysis.errors import QuestionError
    from headwater_consumers.analysis.impact import Policy, Severity, load_policy
    from headwater_consumers.declaring.problems import DeclarationError
    from headwater_consumers.review.answer import Review
    from headwater_consumers.review.ask import Question, review
    from headwater_consumers.review.reading.files import read_schema
    from headwater_consumers.review.schema import Schema

STDOUT: Final = "-"
_MOST_BYTES: Final = 50_000_000
_OPTIONS: Final = {"rename": "--rename", "at": "--at", "policy": "--policy", "old": "OLD"}


class FailOn(StrEnum):
    """Which verdicts end the command with exit status 5: this one, and every worse one."""

    BREAKING = "BREAKING"
    DEGRADED = "DEGRADED"
    COSMETIC = "COSMETIC"


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[OLD] NEW",
            help="Schemas: Spark's JSON, .avsc, JSON Schema, columns, data contract or DDL. Without OLD, the graph's.",
            show_default=False,
        ),
    ],
    *,
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset", "-d", help="Whose schema it is: a name.", autocompletion=complete_dataset, show_default=False
        ),
    ],
    at: Annotated[
        str | None,
        typer.Option(
            help="The column that the schema is of; '' is the whole dataset. Of a topic by default its value.",
            show_default=False,
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Option(help="Which table of data contracts that have several.", show_default=False),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--rename", metavar="OLD=NEW", help="A column that is renamed. Repeatable.", show_default=False),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(case_sensitive=False, help="Exit status 5 for this verdict, or a worse one.", show_default=False),
    ] = None,
    markdown: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write a comment for a pull request; - is stdout.", show_default=False),
    ] = None,
    sarif: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0; - is stdout.", show_default=False)
    ] = None,
    gitlab: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write GitLab's code quality report; - is stdout.", show_default=False),
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="A policy file (TOML) instead of the one that comes with Headwater.")
    ] = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Review a change of a schema: every difference, what it does downstream, whom to notify, and a verdict.

    headwater review --dataset orders old.json new.json --fail-on BREAKING

    Exit status 5: the verdict is that of --fail-on or worse. 2: a file is no schema; with line and field.
    """
    if len(files) > 2:
        raise InputError(f"{len(files)} files: review takes the old and the new schema, or the new one alone.")
    if [markdown, sarif, gitlab].count(STDOUT) + json_output > 1:
        raise InputError("Only one of --markdown, --sarif, --gitlab and --json can go to stdout.")
    *olds, new = [_schema(file, table) for file in files]
    question = Question(dataset, new, olds[0] if olds else None, _renames(rename or []), at)
    judged_by = _policy(policy)
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        try:
            found = review(reader, question, judged_by)
        except QuestionError as error:
            raise InputError(f"{_OPTIONS.get(error.field, error.field)}: {visible(str(error))}") from error
    _print(found, {"markdown": markdown, "sarif": sarif, "gitlab": gitlab})
    _judge(found, fail_on)


def _schema(file: str, table: str | None) -> Schema:
    """The schema of a file.

    Raises:
        InputError: it can't be read, or is no schema: with line and field.
    """
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise InputError(f"{visible(file)} is larger than {_MOST_BYTES:,} bytes: that is no schema.")
        return read_schema(file, content.decode("utf-8-sig"), table)
    except OSError as error:
        raise InputError(f"{visible(file)} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{visible(file)} isn't UTF-8 at byte {error.start}.") from error
    except DeclarationError as error:
        raise InputError("\n".join(visible(str(problem)) for problem in error.problems)) from error


def _renames(given: Sequence[str]) -> dict[str, str]:
    out: dict[str, str] = {}
    for each in given:
        before, equals, after = each.partition("=")
        if not (before and equals and after):
            raise InputError(f"--rename {visible(each)}: write OLD=NEW.")
        if before in out:
            raise InputError(f"--rename {visible(each)}: {visible(before)} is renamed twice.")
        out[before] = after
    return out


def _policy(path: Path | None) -> Policy | None:
    try:
        return None if path is None else load_policy(path)
    except QuestionError as error:
        raise translated(error) from error


def _print(found: Review, wanted: dict[str, str | None]) -> None:
    """Write what is asked for, and the answer to stdout unless that is taken."""
    for name, file in wanted.items():
        if file is None:
            continue
        text = _rendered(found, name)
        if file == STDOUT:
            console.raw(text)
            continue
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{visible(file)} can't be written: {error.strerror}.", fix=f"Choose another for --{name}."
            ) from error
    if STDOUT not in wanted.values():
        console.result(document(found), show.view(found))
    console.message(show.summary(found))


def _rendered(found: Review, name: str) -> str:
    if name == "markdown":
        return show.markdown(found)
    made: Any = show.sarif(found, metadata.version("headwater")) if name == "sarif" else show.gitlab(found)
    return json_escaped(json.dumps(made, indent=2, ensure_ascii=False)) + "\n"


def _judge(found: Review, fail_on: FailOn | None) -> None:
    if fail_on is not None and found.severity.rank <= Severity(fail_on.value).rank:
        raise CheckFailedError(
            f"The verdict is {found.severity}, and --fail-on is {fail_on.value}.",
            fix="Change what is listed above first, or keep the old column beside the new one until nobody needs it.",
        )
