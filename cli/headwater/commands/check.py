"""`headwater check`: rules that a lineage graph has to fulfil to be trusted."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from headwater.asking import asking
from headwater.console import JsonOption, console, shortened
from headwater.errors import CheckFailedError, HeadwaterError, InputError
from headwater.exempting import exemptions_of
from headwater.graph_command import document
from headwater.options import CursorOption, LimitOption, TenantOption, TimeoutOption
from headwater.show import check as show
from headwater.trace_options import parse_duration
from headwater_analysis.checks import RULES, check, rule_named
from headwater_analysis.errors import QuestionError

_READ_FOR_PEOPLE = 1_000
_WHY_UNUSED = {
    "EXPIRED": "it has expired",
    "UNKNOWN_SUBJECT": "nothing is called so",
    "MENDED": "the rule isn't broken there",
}


def command(
    *,
    rule: Annotated[
        list[str] | None, typer.Option("--rule", help="Only this rule. Repeatable.", show_default=False)
    ] = None,
    exemptions: Annotated[
        Path | None,
        typer.Option("--exemptions", help="A YAML file of findings that are accepted.", show_default=False),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Write the findings there, as JUnit's XML.", show_default=False)
    ] = None,
    open_after: Annotated[
        str, typer.Option(metavar="TIME", help="A run without an end is open too long after: 90m, 24h.")
    ] = "24h",
    limit: LimitOption = 20,
    cursor: CursorOption = None,
    tenant: TenantOption = None,
    timeout: TimeoutOption = None,
    json_output: JsonOption = False,
) -> None:
    """Check the graph by rules that hold where lineage can be trusted. Exit status 5: one is broken.

    Findings of one kind are one line with their number, of the first 1,000 of each rule. --json and --junit have each
    by itself: --limit counts for each rule; --rule and --cursor show the next page of one. What is accepted is
    in a file of exemptions: rule, subject, reason, owner, until.
    """
    try:
        rules = [rule_named(name) for name in rule] if rule else RULES
    except QuestionError as error:
        raise InputError(str(error)) from error
    after = parse_duration(open_after)
    accepted = () if exemptions is None else exemptions_of(exemptions)
    with asking(tenant=tenant, timeout_seconds=timeout) as reader:
        found = check(
            reader,
            datetime.now(UTC),
            rules=rules,
            exemptions=[each for each in accepted if each.rule in {one.name for one in rules}],
            **({} if after is None else {"open_after": after}),
            # People get findings of one kind as one line: --limit is of what programs get one by one.
            limit=limit if console.json_mode or junit or cursor else max(limit, _READ_FOR_PEOPLE),
            cursor=cursor,
        )
    if junit is not None:
        try:
            junit.write_text(show.junit(found), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{junit} can't be written: {error.strerror}.", fix="Choose another for --junit."
            ) from error
    console.result(document(found, reader.freshness), show.view(found))
    for each in found.unused:
        console.warning(
            f"{exemptions}:{each.line} exempts {shortened(each.subject)} from {each.rule} for nothing: "
            f"{_WHY_UNUSED[each.reason]}."
        )
    exempted = f"; {found.exempted:,} more are exempted" if found.exempted else ""
    late = ", ".join(each.rule for each in found.unchecked)
    if found.total:
        broken = sum(1 for each in found.rules if each.total)
        findings = "1 finding breaks" if found.total == 1 else f"{found.total:,} findings break"
        raise CheckFailedError(
            f"{findings} {broken} of {len(found.rules)} rules{exempted}."
            f"{f' Not checked, for they took too long: {late}.' if late else ''}",
            fix="Each rule above has what to do; exempt with --exemptions what you accept.",
        )
    if late:
        raise HeadwaterError(
            f"{len(found.rules)} rules hold{exempted}. Not checked, for they took too long: {late}.",
            fix="--timeout allows more; HEADWATER_ANALYSIS_TIMEOUT_SECONDS does so for all.",
        )
    if unknown := [rule for rule in found.rules if rule.unknown is not None]:
        raise CheckFailedError(
            f"UNKNOWN: no finding breaks {len(found.rules)} rules{exempted}, and of {unknown[0].rule} isn't known "
            f"{unknown[0].unknown}.",
            fix="Report or declare the column lineage of these jobs, or exempt them with --exemptions.",
        )
    if reader.freshness.stale is not None:
        raise CheckFailedError(
            f"UNKNOWN: {len(found.rules)} rules hold{exempted}, and the graph is stale: {reader.freshness.stale}.",
            fix="Start `headwater consume`, and check again.",
        )
    console.message(f"{len(found.rules)} rules hold{exempted}.")
