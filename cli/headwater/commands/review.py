"""`headwater review`: effects of a change of a schema or of a PySpark job, for a pull request."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from headwater.console import JsonOption, console
from headwater.errors import CheckFailedError, InputError
from headwater.graph_command import dated, document
from headwater.graph_reader import Answered, answer_of, asking, in_words, translated
from headwater.lean_imports import without
from headwater.options import TenantOption, TimeoutOption, complete_dataset
from headwater.remote.choice import chosen_server
from headwater.reviewing import DeclaredTables, Script, at_revision, run_both, scratch, tables_of
from headwater.show import job_review as show_job
from headwater.show import review as show
from headwater_schemas.visible import json_escaped, visible

with without("numpy", "pandas"):
    from headwater_analysis.declaring.problems import DeclarationError
    from headwater_analysis.errors import QuestionError
    from headwater_analysis.freshness import NOT_REPORTED, GraphState
    from headwater_analysis.impact import Policy, Severity, load_policy
    from headwater_analysis.reader import Reader
    from headwater_review.by_kind import review_schemas
    from headwater_review.jobs.job_review import JobReview, JobVerdict, declared_columns, review_job
    from headwater_review.reading.files import read_schema
    from headwater_review.schema import Schema
    from headwater_review.schema_review import Question, Review, review

if TYPE_CHECKING:
    from headwater.remote.server import Server

STDOUT: Final = "-"
_SCRIPT: Final = ".py"
_MOST_BYTES: Final = 50_000_000
_OPTIONS: Final = {"rename": "--rename", "at": "--at", "policy": "--policy", "old": "OLD"}


class FailOn(StrEnum):
    """Least severe verdict that ends the command with exit status 5."""

    BREAKING = "BREAKING"
    DEGRADED = "DEGRADED"
    COSMETIC = "COSMETIC"


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="[OLD] NEW [-- ARGS]",
            help="Schemas: Spark's JSON, .avsc, JSON Schema, columns, data contract or DDL. Default of OLD: the schema "
            "in the graph. Or two PySpark scripts (.py), and after -- their own arguments.",
        ),
    ],
    *,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="Dataset of the schema: a name.", autocompletion=complete_dataset),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="REVISION", help="For a script: take the old version from this git revision.")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="For scripts: JSON file with the columns of each input, by name.")
    ] = None,
    py_files: Annotated[
        list[Path] | None, typer.Option(help="For scripts: a folder or archive for their imports. Repeatable.")
    ] = None,
    time_limit: Annotated[float, typer.Option(help="For scripts: time limit of each, in seconds.", min=1)] = 120.0,
    no_graph: Annotated[
        bool, typer.Option("--no-graph", help="Review without the graph, as if every column were read; needs no Neo4j.")
    ] = False,
    at: Annotated[
        str | None,
        typer.Option(help="Column that has the schema; '' is the whole dataset. Default for a topic: its value."),
    ] = None,
    table: Annotated[str | None, typer.Option(help="Table, for data contracts with several.")] = None,
    rename: Annotated[
        list[str] | None, typer.Option("--rename", metavar="OLD=NEW", help="A column that is renamed. Repeatable.")
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(case_sensitive=False, help="Exit status 5 for this verdict, or a worse one.")
    ] = None,
    markdown: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a comment for a pull request; - is stdout.")
    ] = None,
    sarif: Annotated[str | None, typer.Option(metavar="FILE", help="Write SARIF 2.1.0; - is stdout.")] = None,
    gitlab: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write GitLab's code quality report; - is stdout.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Policy file (TOML) instead of Headwater's own.")] = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Review a change of a schema, or of a PySpark job: every difference, what it does downstream, and a verdict.

    headwater review --dataset orders old.json new.json --fail-on BREAKING

    headwater review old.avsc new.avsc --no-graph --fail-on BREAKING

    headwater review old_job.py new_job.py --fail-on BREAKING -- --date 2024-01-01

    Scripts run against empty tables, without network, and write nothing. Exit status 5: the verdict is as severe as
    --fail-on or worse, or UNKNOWN; 2: a file isn't a schema (the message has line and field).
    """
    reports = {"markdown": markdown, "sarif": sarif, "gitlab": gitlab}
    if [*reports.values()].count(STDOUT) + json_output > 1:
        raise InputError("Only one of --markdown, --sarif, --gitlab and --json can go to stdout.")
    if files[0].endswith(_SCRIPT):
        if dataset or at is not None or table or rename:
            raise InputError("--dataset, --at, --table and --rename are for schemas; a script's plan replaces them.")
        if not no_graph and chosen_server() is not None:
            raise InputError(
                "A server reviews schemas, not scripts.", fix="Name a database, or leave the graph out: --no-graph."
            )
        versions = _Versions(files, against, tables, tuple(py_files or ()), time_limit)
        loaded_policy = _policy(policy)
        with contextlib.nullcontext() if no_graph else asking(tenant=tenant, timeout_seconds=timeout) as reader:
            job = versions.review(reader, loaded_policy)
        _print(job, reports, show_job, NOT_REPORTED if reader is None else reader.freshness)
        _judge_job(job, fail_on)
        return
    if against or tables or py_files:
        raise InputError("--against, --tables and --py-files are for scripts.")
    if dataset is None and not no_graph:
        raise InputError(
            "The dataset of the schema isn't named.", fix="Give --dataset, or compare two files with --no-graph."
        )
    if len(files) > 2:
        raise InputError(f"{len(files)} files: review takes the old and the new schema, or only the new one.")
    if no_graph and len(files) < 2:
        raise InputError("There is only one schema, and --no-graph.", fix="Give the old schema before the new one.")
    *old_text, new_text = [_content(file) for file in files]
    *old, new = [_schema(file, text, table) for file, text in zip(files, (*old_text, new_text), strict=True)]
    question = Question(dataset or files[-1], new, old[0] if old else None, _renames(rename or []), at)
    loaded_policy = _policy(policy)
    if no_graph:
        with in_words(_in_words_of_options):
            answered = Answered(review_schemas(question), NOT_REPORTED)
    else:
        body = {"new": new_text, "old": next(iter(old_text), None), "table": table}
        answered = answer_of(
            partial(_of_graph, question, loaded_policy),
            partial(_of_server, question, body, loaded_policy),
            tenant=tenant,
            timeout_seconds=timeout,
        )
    _print(answered.answer, reports, show, answered.graph)
    _judge(answered.answer, fail_on)


def _of_graph(question: Question, policy: Policy | None, reader: Reader) -> Review:
    with in_words(_in_words_of_options):
        return review(reader, question, policy)


def _of_server(question: Question, body: dict[str, Any], policy: Policy | None, server: Server) -> Review:
    if policy is not None:
        raise InputError("--policy works only with a database; a server uses its own policy.")
    named = {"dataset": question.dataset, "renames": question.renames, "at": question.at}
    with in_words(_in_words_of_options):
        found = server.post(("review",), Review, {**body, **named})
    # The server doesn't know the names of the files.
    return replace(found, new=question.new.source, old=question.old.source if question.old else found.old)


def _in_words_of_options(error: QuestionError) -> str:
    return f"{_OPTIONS.get(error.field, error.field)}: {visible(str(error))}"


@dataclass(frozen=True, slots=True)
class _Versions:
    """Two versions of a script.

    Attributes:
        against: revision of the old file; None: the first file is the old one.
    """

    files: Sequence[str]
    against: str | None
    tables: Path | None
    libraries: tuple[Path, ...]
    seconds: float

    def review(self, reader: Reader | None, policy: Policy | None) -> JobReview:
        """Run both versions, and compare them.

        Raises:
            InputError: a script doesn't exist.
        """
        count = 1 if self.against else 2
        scripts, arguments = self.files[:count], self.files[count:]
        if len(scripts) < count:
            raise InputError(
                "There is only one script.", fix="Give the old script before it, or its revision: --against main."
            )
        for script in scripts:
            if not (script.endswith(_SCRIPT) and os.path.isfile(script)):  # noqa: PTH113 - as of `complete_path`
                raise InputError(f"{visible(script)} isn't an existing script (.py).")
        known = {} if self.tables is None else tables_of(self.tables)
        graph = None if reader is None else partial(declared_columns, reader)
        declared = DeclaredTables(known, graph)
        new = Script(Path(scripts[-1]), scripts[-1])
        with scratch() as folder:
            old = Script(Path(scripts[0]), scripts[0])
            if self.against:
                old = at_revision(Path(scripts[0]), self.against, Path(folder))
            with console.status("Running both versions against empty tables"):
                before, after = run_both(old, new, arguments, declared, self.seconds, self.libraries)
        return review_job(reader, before, after, policy)


def _content(file: str) -> str:
    """Read the text of a file.

    Raises:
        InputError: the file can't be read.
    """
    try:
        with Path(file).open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise InputError(f"{visible(file)} is larger than {_MOST_BYTES:,} bytes, too large for a schema.")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{visible(file)} can't be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{visible(file)} isn't UTF-8 at byte {error.start}.") from error


def _schema(file: str, text: str, table: str | None) -> Schema:
    """Parse the schema of a file with this text.

    Raises:
        InputError: the text isn't a schema. The message has line and field.
    """
    try:
        return read_schema(file, text, table)
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


def _print(found: Any, wanted: dict[str, str | None], show: Any, graph: GraphState) -> None:
    """Write the requested files, and the answer to stdout unless one of the files is stdout."""
    for name, file in wanted.items():
        if file is None:
            continue
        text = _rendered(found, name, show)
        if file == STDOUT:
            console.raw(text)
            continue
        try:
            Path(file).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{visible(file)} can't be written: {error.strerror}.", fix=f"Choose another file for --{name}."
            ) from error
    if STDOUT not in wanted.values():
        console.result(document(found, graph), show.view(found))
    console.message(dated(show.summary(found), graph))


def _rendered(found: Any, name: str, show: Any) -> str:
    if name == "markdown":
        text: str = show.markdown(found)
        return text
    made: Any = show.sarif(found, metadata.version("headwater")) if name == "sarif" else show.gitlab(found)
    return json_escaped(json.dumps(made, indent=2, ensure_ascii=False)) + "\n"


def _judge_job(found: JobReview, fail_on: FailOn | None) -> None:
    if found.verdict is JobVerdict.UNKNOWN and (found.problems or found.severity is not Severity.UNKNOWN):
        raise CheckFailedError(
            "The verdict is UNKNOWN, because a part of the job's effects is unknown.",
            fix="Follow the advice above, and review the job again.",
        )
    if _fails(found.severity, fail_on):
        raise CheckFailedError(
            f"The verdict is {found.severity}, and --fail-on is {fail_on}.",
            fix="First adapt the assets listed above, or agree on the change with their owners.",
        )


def _fails(severity: Severity, fail_on: FailOn | None) -> bool:
    """Return True if a verdict ends the command with status 5. UNKNOWN does, because it may be any verdict."""
    if fail_on is None:
        return False
    return severity is Severity.UNKNOWN or severity.rank <= Severity(fail_on.value).rank


def _judge(found: Review, fail_on: FailOn | None) -> None:
    if _fails(found.severity, fail_on):
        raise CheckFailedError(
            f"The verdict is {found.severity}, and --fail-on is {fail_on}.",
            fix="First adapt the assets listed above, or keep the old column beside the new one until nobody needs it.",
        )
