"""Report of the rules' findings, for people and for CI."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rich.console import Group
from rich.table import Table
from rich.text import Text

from headwater.console import shortened
from headwater.show.names import moment_text
from headwater.show.pages import Fitted
from headwater_analysis.checks import CheckedRule, Checks, Finding
from headwater_schemas.reasons import without_names
from headwater_schemas.visible import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

_LONGEST = 600
_MOST_NAMES = 3
_RUN_ID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")


def view(found: Checks) -> Fitted:
    """A line for each rule, below those that are broken a line for each kind of finding, with their number."""
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
    return Fitted(Group(*parts))


def _findings(rule: CheckedRule) -> Table:
    """A row for each kind of finding, the first of the page first."""
    out = Table(box=None, pad_edge=False, show_header=False)
    for _ in range(5):
        out.add_column(overflow="fold")
    kinds: dict[str, list[Finding]] = {}
    for each in rule.findings:
        kinds.setdefault(without_names(_RUN_ID.sub("…", each.message)), []).append(each)
    for kind, found in kinds.items():
        out.add_row(" ", *_row(kind, found))
    if len(rule.findings) < rule.total:
        out.add_row(" ", f"and {rule.total - len(rule.findings):,} more")
    return out


def _row(kind: str, found: Sequence[Finding]) -> Iterator[str]:
    """Yield a row's cells: subjects (several: their count, too), message, time of the first finding, owners."""
    names = list(dict.fromkeys(map(_subject, found)))
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    count = f"{len(found):,} × " if len(found) > 1 else ""
    yield f"{count}{', '.join(names[:_MOST_NAMES])}{more}"
    yield shortened(kind if count else found[0].message, _LONGEST)
    times = [each.since for each in found if each.since is not None]
    yield f"since {moment_text(min(times))}" if times else ""
    yield shortened(", ".join(dict.fromkeys(owner for each in found for owner in each.subject.owners)))


def _subject(finding: Finding) -> str:
    name, table = shortened(finding.subject.name), finding.subject.table
    return name if table is None else f"{name} ({shortened(table)})"


def junit(found: Checks) -> str:
    """Format the checks as JUnit XML: a suite for each rule, a case for each finding; a passing case for none.

    Those beyond the limit are one case together. The case of a rule that wasn't checked, or of which not all is known,
    is an error.
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
            ET.SubElement(case, "failure", message="Those beyond --limit.", type=name).text = visible(rule.fix)
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
