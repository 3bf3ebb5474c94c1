"""`headwater check`: rules that a trustworthy lineage graph fulfils."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from xml.etree import ElementTree as ET

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headwater.console import JsonOption, console, plain_table, shortened
from headwater.errors import CheckFailedError, HeadwaterError, InputError
from headwater.exempting import exemptions_of
from headwater.graph_command import document
from headwater.graph_reader import answer_of
from headwater.options import CursorOption, LimitOption, TenantOption, TimeoutOption
from headwater.show.names import moment_text
from headwater.show.pages import FittedView
from headwater.trace_options import parse_duration
from headwater_analysis.amounts import first_of
from headwater_analysis.checks import RULES, CheckedRule, Checks, Finding, check, rule_named
from headwater_analysis.errors import QuestionError
from headwater_analysis.freshness import GraphState
from headwater_analysis.reader import Reader
from headwater_schemas.reasons import without_names
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from headwater.remote.server import Server

_READ_FOR_PEOPLE = 1_000
_WHY_UNUSED = {
    "EXPIRED": "it has expired",
    "UNKNOWN_SUBJECT": "nothing has this name",
    "MENDED": "this subject doesn't break the rule",
}


def command(
    *,
    rule: Annotated[list[str] | None, typer.Option("--rule", help="Only this rule. Repeatable.")] = None,
    exemptions: Annotated[
        Path | None, typer.Option("--exemptions", help="A YAML file of findings that are accepted.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write the findings to this file, as JUnit XML.")
    ] = None,
    open_after: Annotated[
        str, typer.Option(metavar="TIME", help="Maximum time that a run may be open without an end: 90m, 24h.")
    ] = "24h",
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Check the graph by rules that hold if lineage can be trusted. Exit status 5: a rule is broken.

    Findings of one kind are shown on one line, with their number among the first 1,000 of each rule. --json and
    --junit list each finding, up to --limit for each rule; --rule and --cursor give the next page of a rule. A file of
    exemptions lists accepted findings: rule, subject, reason, owner, until.
    """
    try:
        rules = [rule_named(name) for name in rule] if rule else RULES
    except QuestionError as error:
        raise InputError(str(error)) from error
    after = parse_duration(open_after)
    accepted = () if exemptions is None else exemptions_of(exemptions)
    # --limit is for programs, which get each finding. People get one line for all findings of a kind.
    most = limit if console.json_mode or junit or cursor else max(limit, _READ_FOR_PEOPLE)

    def question(reader: Reader) -> Checks:
        return check(
            reader,
            datetime.now(UTC),
            rules=rules,
            exemptions=[each for each in accepted if each.rule in {one.name for one in rules}],
            **({} if after is None else {"open_after": after}),
            limit=most,
            cursor=cursor,
        )

    def at_server(server: Server) -> Checks:
        if exemptions is not None:
            raise InputError("--exemptions works only with a database; a server has its own exemptions.")
        given = {"rule": rule, "open_after": after, "limit": most, "cursor": cursor}
        return server.get(("checks",), Checks, given)

    answered = answer_of(question, at_server, tenant=tenant, timeout_seconds=timeout)
    found, graph = answered.answer, answered.graph
    if junit is not None:
        try:
            junit.write_text(junit_report(found), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{junit} can't be written: {error.strerror}.", fix="Choose another file for --junit."
            ) from error
    console.result(document(found, graph, filtered=answered.filtered), view(found))
    for each in found.unused:
        console.warning(
            f"{exemptions}:{each.line} exempts {shortened(each.subject)} from {each.rule} without effect: "
            f"{_WHY_UNUSED[each.reason]}."
        )
    _conclude(found, graph)


def _conclude(found: Checks, graph: GraphState) -> None:
    """End the command with the exit status for the findings."""
    exempted = f"; {found.exempted:,} more are exempted" if found.exempted else ""
    late = ", ".join(each.rule for each in found.unchecked)
    if found.total:
        broken = sum(1 for each in found.rules if each.total)
        findings = "1 finding breaks" if found.total == 1 else f"{found.total:,} findings break"
        raise CheckFailedError(
            f"{findings} {broken} of {len(found.rules)} rules{exempted}."
            f"{f' Not checked, because they took too long: {late}.' if late else ''}",
            fix="Each rule above states what to do. Exempt accepted findings with --exemptions.",
        )
    if late:
        raise HeadwaterError(
            f"{len(found.rules)} rules hold{exempted}. Not checked, because they took too long: {late}.",
            fix="Raise --timeout, or HEADWATER_ANALYSIS_TIMEOUT_SECONDS for all.",
        )
    if unknown := [rule for rule in found.rules if rule.unknown is not None]:
        raise CheckFailedError(
            f"UNKNOWN: no finding breaks {len(found.rules)} rules{exempted}, and of {unknown[0].rule} isn't known "
            f"{unknown[0].unknown}.",
            fix="Report or declare the column lineage of these jobs, or exempt them with --exemptions.",
        )
    if graph.stale is not None:
        raise CheckFailedError(
            f"UNKNOWN: {len(found.rules)} rules hold{exempted}, and the graph is stale: {graph.stale}.",
            fix="Start `headwater consume`, and check again.",
        )
    console.message(f"{len(found.rules)} rules hold{exempted}.")


_LONGEST = 600
_MOST_NAMES = 3
_RUN_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def view(found: Checks) -> FittedView:
    """Table with a line for each rule, and below broken rules a line for each kind of finding, with their number."""
    parts: list[RenderableType] = []
    for rule in found.rules:
        count = f"{rule.total:,}" if rule.total else "–"
        exempted = f", {rule.exempted:,} exempted" if rule.exempted else ""
        heading = Text.assemble((visible(rule.rule), "bold red" if rule.total else "green"), f"  {count}{exempted}")
        parts.append(heading.append(f"  {visible(rule.title)}", "dim"))
        if rule.findings:
            parts += [_findings(rule), Text(f"  → {visible(rule.fix)}")]
        if rule.unknown is not None:
            parts.append(Text.assemble(("  UNKNOWN", "bold yellow"), f": {visible(rule.unknown)}"))
    for late in found.unchecked:
        heading = Text.assemble((visible(late.rule), "bold yellow"), "  not checked")
        parts.append(heading.append(f"  {visible(late.title)}", "dim"))
        parts.append(Text(f"  {visible(late.reason)}"))
    return FittedView(Group(*parts))


def _findings(rule: CheckedRule) -> Table:
    """Table with a row for each kind of finding, in the page's order."""
    out = plain_table()
    kinds: dict[str, list[Finding]] = {}
    for each in rule.findings:
        kinds.setdefault(without_names(_RUN_ID.sub("…", each.message)), []).append(each)
    for kind, found in kinds.items():
        out.add_row(" ", *_row(kind, found))
    if len(rule.findings) < rule.total:
        out.add_row(" ", f"and {rule.total - len(rule.findings):,} more")
    return out


def _row(kind: str, found: Sequence[Finding]) -> Iterator[str]:
    """Yield a row's cells: subjects (with their number if several), message, time of the first finding, owners."""
    names = list(dict.fromkeys(map(_subject, found)))
    count = f"{len(found):,} × " if len(found) > 1 else ""
    yield f"{count}{first_of(names, _MOST_NAMES)}"
    yield shortened(kind if count else found[0].message, _LONGEST)
    times = [each.since for each in found if each.since is not None]
    yield f"since {moment_text(min(times))}" if times else ""
    yield shortened(", ".join(dict.fromkeys(owner for each in found for owner in each.subject.owners)))


def _subject(finding: Finding) -> str:
    name, table = shortened(finding.subject.name), finding.subject.table
    return name if table is None else f"{name} ({shortened(table)})"


def junit_report(found: Checks) -> str:
    """Format the checks as JUnit XML: a suite for each rule, with a failing case for each finding.

    Findings beyond the limit share one case. A rule without findings has one passing case. A rule that wasn't checked,
    or not completely, has a case with an error.
    """
    more = {rule.rule: rule.total - len(rule.findings) for rule in found.rules}
    failures = sum(len(rule.findings) + (more[rule.rule] > 0) for rule in found.rules)
    errors = str(len(found.unchecked) + sum(rule.unknown is not None for rule in found.rules))
    root = ET.Element("testsuites", name="headwater check", failures=str(failures), errors=errors)
    for rule in found.rules:
        name = visible(rule.rule)
        failed = len(rule.findings) + (more[rule.rule] > 0)
        suite = ET.SubElement(
            root, "testsuite", name=name, tests=str(max(1, failed + (rule.unknown is not None))), failures=str(failed)
        )
        for each in rule.findings:
            case = ET.SubElement(suite, "testcase", classname=name, name=_subject(each))
            failure = ET.SubElement(case, "failure", message=visible(each.message), type=name)
            failure.text = _failure(rule, each)
        if more[rule.rule] > 0:
            case = ET.SubElement(suite, "testcase", classname=name, name=f"{more[rule.rule]:,} more")
            ET.SubElement(case, "failure", message="Findings beyond --limit.", type=name).text = visible(rule.fix)
        if rule.unknown is not None:
            suite.set("errors", "1")
            case = ET.SubElement(suite, "testcase", classname=name, name=visible(rule.title))
            ET.SubElement(case, "error", message=f"UNKNOWN: {visible(rule.unknown)}", type=name)
        elif not failed:
            ET.SubElement(suite, "testcase", classname=name, name=visible(rule.title))
        if rule.exempted:
            ET.SubElement(suite, "system-out").text = f"{rule.exempted:,} exempted"
    for late in found.unchecked:
        name = visible(late.rule)
        suite = ET.SubElement(root, "testsuite", name=name, tests="1", failures="0", errors="1")
        case = ET.SubElement(suite, "testcase", classname=name, name=visible(late.title))
        ET.SubElement(case, "error", message=visible(late.reason), type=name)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _failure(rule: CheckedRule, finding: Finding) -> str:
    lines = [visible(finding.message)]
    if finding.since is not None:
        lines.append(f"Since {moment_text(finding.since)}.")
    if finding.subject.owners:
        lines.append(f"Owners: {visible(', '.join(finding.subject.owners))}.")
    return "\n".join([*lines, visible(rule.fix)])
