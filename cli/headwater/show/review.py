"""Views of the review of a schema change: terminal, comment of a pull request, SARIF, GitLab's code quality."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from headwater.console import shortened
from headwater.show.declared import consumers_table
from headwater_analysis.amounts import amount, first_of
from headwater_analysis.assets import Asset
from headwater_analysis.impact import ImpactItem, Severity
from headwater_analysis.impact.wording import as_code, as_text, called, consumer_text, decisions
from headwater_review.compare import DifferenceKind
from headwater_review.schema_review import Review, ReviewedDifference
from headwater_schemas.visible import visible

_STYLES: Final = {
    Severity.BREAKING: "bold red",
    Severity.DEGRADED: "yellow",
    Severity.UNKNOWN: "yellow",
    Severity.COSMETIC: "cyan",
    Severity.NONE: "green",
}
_LEVELS: Final = {
    Severity.BREAKING: "error",
    Severity.DEGRADED: "warning",
    Severity.UNKNOWN: "warning",
    Severity.COSMETIC: "note",
}
_GITLAB: Final = {
    Severity.BREAKING: "blocker",
    Severity.DEGRADED: "major",
    Severity.UNKNOWN: "minor",
    Severity.COSMETIC: "info",
}
_MEANINGS: Final = {
    Severity.BREAKING: "A known reader fails, gets no value, or is too critical for a poorer value.",
    Severity.DEGRADED: "Known readers work, with poorer, older or possibly wrong results.",
    Severity.UNKNOWN: "No known reader is affected, but not all readers are known.",
    Severity.COSMETIC: "Data looks different, but means the same.",
    Severity.NONE: "No known reader is affected.",
}
_RULES: Final = {
    DifferenceKind.ADDED: "A column is added",
    DifferenceKind.REMOVED: "A column is removed",
    DifferenceKind.RENAMED: "A column is renamed",
    DifferenceKind.RETYPED: "A column gets another type",
    DifferenceKind.NULLABILITY: "A column becomes nullable, or not nullable",
    DifferenceKind.ENUM: "A column has other values",
    DifferenceKind.UNIT: "A column has another unit",
    DifferenceKind.MEANING: "A column means something else",
    DifferenceKind.DESCRIPTION: "A column has another description",
    DifferenceKind.PARTITIONING: "The dataset has other partitions",
    DifferenceKind.PRIVACY: "A sensitive value is protected less",
    DifferenceKind.ROWS: "A job writes other rows",
    DifferenceKind.WRITE_MODE: "A job writes in another mode",
    DifferenceKind.POSITION: "Columns have other positions",
    DifferenceKind.OUTPUT_REMOVED: "A job no longer writes a dataset",
    DifferenceKind.OUTPUT_ADDED: "A job writes another dataset",
    DifferenceKind.INPUT_REMOVED: "A job no longer reads a dataset",
    DifferenceKind.INPUT_ADDED: "A job reads another dataset",
}
_MOST_NOTE: Final = 600
_MOST_SHOWN: Final = 100
_MOST_IN_COMMENT: Final = 20
_MOST_NAMES: Final = 5
_MOST_DECIDED: Final = 10
_WIDEST: Final = max(len(severity) for severity in _STYLES)


def view(review: Review) -> RenderableType:
    """Review as a terminal shows it."""
    head = Text(f"{shortened(called(review.dataset))}: ", style="bold")
    head.append(review.severity, _STYLES.get(review.severity, ""))
    head.append(f"  {shortened(review.old)} → {shortened(review.new)}", "dim not bold")
    parts: list[RenderableType] = [head, Text(f"{_counted(review)}.")]
    if incomplete := _incomplete(review):
        parts.append(Text(incomplete, style="yellow"))
    parts += [Text(shortened(note, _MOST_NOTE), style="dim") for note in review.notes]
    if review.writers:
        parts.append(Text(f"Written by {_names([each.name for each in review.writers])}.", style="dim"))
    if review.differences:
        parts.append(Text())
        parts += [_tree(each) for each in review.differences[:_MOST_SHOWN]]
        if len(review.differences) > _MOST_SHOWN:
            parts.append(Text(f"… and {len(review.differences) - _MOST_SHOWN:,} more differences", style="dim"))
    if review.consumers:
        parts += [Text(), Text("whom to notify", style="bold"), consumers_table(review.consumers)]
    return Group(*parts)


def _tree(each: ReviewedDifference) -> Tree:
    label = Text(each.severity.ljust(_WIDEST + 1), style=_STYLES.get(each.severity, ""))
    tree = Tree(label.append(shortened(each.text, _MOST_NOTE), "bold"), guide_style="dim")
    for reason in each.reasons:
        tree.add(Text(shortened(reason, _MOST_NOTE)))
    for item in each.items:
        leaf = Text(item.severity.ljust(_WIDEST + 1), style=_STYLES.get(item.severity, ""))
        leaf.append(shortened(_asset(item)), "bold").append(f"  {shortened(item.reason, _MOST_NOTE)}", "dim")
        branch = tree.add(leaf)
        if item.decision.text:
            branch.add(Text(shortened(item.decision.text, _MOST_NOTE), style="bold"))
    if each.total > len(each.items):
        tree.add(Text(f"… and {each.total - len(each.items):,} more", style="dim"))
    return tree


def _asset(item: ImpactItem) -> str:
    asset: Asset = item.asset
    name = asset.title or asset.name
    return name if asset.column is None else f"{name}#{asset.column}"


def _counted(review: Review) -> str:
    if not review.differences:
        return f"No difference in {review.columns:,} columns"
    by = ", ".join(f"{total.total:,} {total.severity}" for total in review.totals)
    count = len(review.differences)
    if not review.dataset.key:
        # Without a graph, or without the dataset in it, downstream effects are unknown.
        return f"{amount(count, 'difference')} ({by})"
    hit = f"{amount(review.datasets_total, 'dataset')} downstream"
    jobs = amount(review.jobs_total, "job")
    return f"{amount(count, 'difference')} ({by}); {hit} by {jobs}"


def _incomplete(review: Review) -> str:
    """Describe the gaps of a verdict; empty if none is known."""
    if not review.unseen_total:
        return ""
    jobs = amount(review.unseen_total, "job")
    names = _names(review.unseen, review.unseen_total)
    return (
        f"Incomplete lineage: what {jobs} downstream do with columns isn't known in full, so more may break: {names}."
    )


def _names(names: list[str] | tuple[str, ...], total: int | None = None) -> str:
    return first_of([shortened(name) for name in names], _MOST_NAMES, total=total)


def markdown(review: Review) -> str:
    """A comment for a pull request. Names in it are escaped, so that they can't be markup or notify anybody."""
    return "\n".join(_lines(review)) + "\n"


def _lines(review: Review) -> Iterator[str]:
    yield f"## Schema of {_text(called(review.dataset))}: {review.severity}"
    yield ""
    yield f"{_counted(review)}. {as_code(review.old)} → {as_code(review.new)}"
    if incomplete := _incomplete(review):
        yield ""
        yield f"**{_text(incomplete)}**"
    for note in review.notes:
        yield ""
        yield _text(note)
    if review.differences:
        yield ""
        yield "| verdict | difference | downstream |"
        yield "|---|---|---|"
        for each in review.differences[:_MOST_IN_COMMENT]:
            yield f"| **{each.severity}** | {_text(each.text)} | {_cell(each)} |"
        if len(review.differences) > _MOST_IN_COMMENT:
            yield ""
            yield f"… and {len(review.differences) - _MOST_IN_COMMENT:,} more differences."
    yield from _jobs(review)
    yield from _consumers(review)
    yield from _decisions(review)


def _jobs(review: Review) -> Iterator[str]:
    jobs = {job.job.name: job for each in reversed(review.differences) for job in each.jobs}
    if not jobs:
        return
    yield from ("", "### Jobs", "")
    ranked = sorted(jobs.values(), key=lambda job: (job.severity.rank, job.job.name))[:_MOST_IN_COMMENT]
    for job in ranked:
        owners = ", ".join(_text(owner.name) for owner in job.owners)
        yield f"- **{job.severity}** {as_code(job.job.name)}{f' ({owners})' if owners else ''}: {_text(job.reason)}"
    if review.jobs_total > len(ranked):
        yield f"- … and {review.jobs_total - len(ranked):,} more"


def _consumers(review: Review) -> Iterator[str]:
    if not review.consumers:
        return
    yield from ("", "### Whom to notify", "")
    for consumer in review.consumers[:_MOST_IN_COMMENT]:
        yield f"- {as_code(consumer.name)}: {_text(consumer_text(consumer))}"
    if len(review.consumers) > _MOST_IN_COMMENT:
        yield f"- … and {len(review.consumers) - _MOST_IN_COMMENT:,} more"


def _decisions(review: Review) -> Iterator[str]:
    """Yield the decisions on affected assets, each asset once, with the item of the worst difference."""
    worst: dict[str, ImpactItem] = {}
    for item in (item for each in review.differences for item in each.items):
        known = worst.get(item.asset.key)
        if known is None or item.severity.rank < known.severity.rank:
            worst[item.asset.key] = item
    for line in decisions(list(worst.values())[:_MOST_DECIDED]):
        yield line.replace("@", "@<!-- -->")


def _cell(each: ReviewedDifference) -> str:
    found = [f"{_text(_asset(item))} ({item.severity})" for item in each.items[:_MOST_NAMES]]
    if each.total > len(found):
        found.append(f"and {each.total - len(found):,} more")
    sentences = [_text(reason) for reason in each.reasons]
    return " ".join(filter(None, [", ".join(found), *sentences])) or "nothing known"


def _text(text: str) -> str:
    """Escape text for Markdown, so that `@team` notifies nobody."""
    return as_text(text).replace("@", "@<!-- -->")


def sarif(review: Review, version: str) -> dict[str, Any]:
    """The findings as SARIF 2.1.0: a result for each difference that affects somebody."""
    shown = [each for each in review.differences if each.severity in _LEVELS]
    kinds = list(dict.fromkeys(each.difference.kind for each in shown))
    driver = {
        "name": "headwater review",
        "version": version,
        "rules": [{"id": _rule(kind), "shortDescription": {"text": _RULES[kind]}} for kind in kinds],
    }
    results = [
        {
            "ruleId": _rule(each.difference.kind),
            "ruleIndex": kinds.index(each.difference.kind),
            "level": _LEVELS[each.severity],
            "message": {"text": without_links(_finding(each))},
            "locations": [{"physicalLocation": _location(review, each)}],
            "partialFingerprints": {"headwaterReview/v1": _fingerprint(review, each)},
        }
        for each in shown
    ]
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if incomplete := _incomplete(review):
        notice = {"level": "warning", "message": {"text": without_links(incomplete)}}
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": [notice]}]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def gitlab(review: Review) -> list[dict[str, Any]]:
    """The findings as GitLab's code quality report."""
    findings: list[dict[str, Any]] = []
    for each in review.differences:
        if each.severity not in _GITLAB:
            continue
        location = {"path": visible(review.new), "lines": {"begin": _line(each)}}
        findings.append(
            {
                "description": _finding(each),
                "check_name": _rule(each.difference.kind),
                "fingerprint": _fingerprint(review, each),
                "severity": _GITLAB[each.severity],
                "location": location,
            }
        )
    return findings


def _rule(kind: DifferenceKind) -> str:
    return f"headwater/{kind.lower()}"


def _finding(each: ReviewedDifference) -> str:
    """A finding as plain text."""
    parts = [f"{each.severity}: {visible(each.text)}."]
    if each.items:
        items = [f"{shortened(_asset(item))} ({item.severity})" for item in each.items]
        parts.append(f"Downstream: {first_of(items, _MOST_NAMES, total=each.total)}.")
    return " ".join([*parts, *(visible(reason) for reason in each.reasons)])


def uri(path: str) -> str:
    """A path as a relative URI reference."""
    return quote(path.replace("\\", "/"), safe="/:~@+,;=!$&'()*")


def without_links(text: str) -> str:
    """Escape brackets, so that names don't become links in a plain text message of SARIF."""
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _line(each: ReviewedDifference) -> int:
    """Line of a difference in the new file; 1 for removed columns."""
    return max(1, each.difference.line if each.difference.in_new else 1)


def _location(review: Review, each: ReviewedDifference) -> dict[str, Any]:
    return {"artifactLocation": {"uri": uri(review.new)}, "region": {"startLine": _line(each)}}


def _fingerprint(review: Review, each: ReviewedDifference) -> str:
    """Digest of a difference, without its line: equal if the same difference moves to another line of the file."""
    difference = each.difference
    named = "\0".join(
        [
            review.dataset.key or review.dataset.name,
            difference.kind,
            difference.column,
            difference.now or "",
            *_distinguishing_parts(each),
        ]
    )
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _distinguishing_parts(each: ReviewedDifference) -> tuple[str, ...]:
    """Further parts of a fingerprint, to distinguish differences of the same kind of one column or dataset."""
    difference = each.difference
    if difference.exposed is not None:
        return (difference.exposed.name, difference.exposed.field)
    return () if difference.column else (difference.before or "", difference.after or "")


def summary(review: Review) -> str:
    """The verdict, for people."""
    return f"{review.severity}: {meaning(review.severity)}"


def meaning(severity: Severity) -> str:
    """Explain a verdict, in a sentence."""
    return _MEANINGS.get(severity, "")
