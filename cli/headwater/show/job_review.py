"""Views of the review of two versions of a job: terminal, comment of a pull request, SARIF, GitLab's code quality."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from rich.console import Group, RenderableType
from rich.text import Text

from headwater.console import shortened
from headwater.show import review as show
from headwater_analysis.amounts import amount
from headwater_analysis.impact.wording import as_code, as_text
from headwater_review.jobs.job_review import JobReview, JobVerdict
from headwater_review.jobs.version import JobProblem
from headwater_review.schema_review import Review
from headwater_schemas.visible import visible

_UNKNOWN: Final = "A part of the change is unknown, so it may also break something."
_RULE: Final = "headwater/incomplete"
_MOST_NOTE: Final = 600
# GitHub accepts comments of 65,536 characters; each text around the outputs is cut separately.
_MOST_OF_OUTPUTS: Final = 45_000
_MOST_PROBLEMS: Final = 10
_MOST_NAMED: Final = 20


def view(review: JobReview) -> RenderableType:
    """Review as a terminal shows it."""
    head = Text(f"{shortened(review.old)} → {shortened(review.new)}: ", style="bold")
    parts: list[RenderableType] = [head.append(review.verdict, "bold red" if _is_bad(review) else "green")]
    parts += [Text(shortened(note, _MOST_NOTE), style="dim") for note in review.notes]
    for problem in review.problems:
        parts.append(Text(f"UNKNOWN  {shortened(_problem(problem), _MOST_NOTE)}", style="yellow"))
        if problem.fix:
            parts.append(Text(f"         {shortened(problem.fix, _MOST_NOTE)}", style="dim"))
    for output in review.outputs:
        parts += [Text(), show.view(output)]
    return Group(*parts)


def _is_bad(review: JobReview) -> bool:
    return review.verdict in (JobVerdict.BREAKING, JobVerdict.UNKNOWN)


def _problem(problem: JobProblem) -> str:
    return f"{problem.script}: {problem.text}"


def markdown(review: JobReview) -> str:
    """A comment for a pull request."""
    return "\n".join(_lines(review)) + "\n"


def _lines(review: JobReview) -> Iterator[str]:
    yield f"## Job {as_code(review.old)} → {as_code(review.new)}: {review.verdict}"
    for note in review.notes:
        yield from ("", as_text(note))
    if review.problems:
        yield from ("", f"**{_UNKNOWN}**", "")
        for problem in review.problems[:_MOST_PROBLEMS]:
            text = f"{shortened(_problem(problem), _MOST_NOTE)} {shortened(problem.fix, _MOST_NOTE)}".rstrip()
            yield f"- {as_text(text)}"
        if len(review.problems) > _MOST_PROBLEMS:
            yield f"- … and {len(review.problems) - _MOST_PROBLEMS:,} more"
    worst_first = sorted(review.outputs, key=lambda output: output.severity.rank)
    length, left_out = 0, list[Review]()
    for output in worst_first:
        text = show.markdown(output).replace("## Schema of", "### Output", 1).rstrip("\n")
        length += len(text) + 2
        if left_out or length > _MOST_OF_OUTPUTS:
            left_out.append(output)
        else:
            yield from ("", text)
    if left_out:
        yield from ("", f"### {amount(len(left_out), 'more output')}", "")
        for output in left_out[:_MOST_NAMED]:
            name = shortened(output.dataset.title or output.dataset.name)
            yield f"- **{output.severity}** {as_code(name)}: {amount(len(output.differences), 'difference')}"
        if len(left_out) > _MOST_NAMED:
            yield f"- … and {len(left_out) - _MOST_NAMED:,} more"


def sarif(review: JobReview, version: str) -> dict[str, Any]:
    """Findings of all outputs as one SARIF 2.1.0 run."""
    documents = [show.sarif(output, version) for output in review.outputs]
    rules: dict[str, dict[str, Any]] = {}
    results: list[dict[str, Any]] = []
    notices: list[dict[str, Any]] = []
    for document in documents:
        (run,) = document["runs"]
        rules |= {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
        results += run["results"]
        for invocation in run.get("invocations", ()):
            notices += invocation["toolExecutionNotifications"]
    if review.problems:
        rules[_RULE] = {"id": _RULE, "shortDescription": {"text": "A part of the change is unknown"}}
    for problem in review.problems:
        # Problems of the old version are also located in the new file: a revision's file isn't in the checkout.
        text = show.without_links(visible(f"UNKNOWN: {_problem(problem)} {problem.fix}".strip()))
        location = {"artifactLocation": {"uri": show.uri(review.new)}, "region": {"startLine": 1}}
        results.append(
            {
                "ruleId": _RULE,
                "level": "error",
                "message": {"text": text},
                "locations": [{"physicalLocation": location}],
                "partialFingerprints": {"headwaterReview/v1": _fingerprint(problem)},
            }
        )
    order = list(rules)
    results = [{**result, "ruleIndex": order.index(result["ruleId"])} for result in results]
    driver = {"name": "headwater review", "version": version, "rules": list(rules.values())}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if notices:
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notices}]
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def gitlab(review: JobReview) -> list[dict[str, Any]]:
    """The findings as GitLab's code quality report."""
    findings = [finding for output in review.outputs for finding in show.gitlab(_named(output))]
    findings += [
        {
            "description": visible(f"UNKNOWN: {_problem(problem)} {problem.fix}".strip()),
            "check_name": _RULE,
            "fingerprint": _fingerprint(problem),
            "severity": "critical",
            "location": {"path": visible(review.new), "lines": {"begin": 1}},
        }
        for problem in review.problems
    ]
    return findings


def _named(output: Review) -> Review:
    """Return the output with its name in each text, because one list has the findings of all outputs."""
    name = output.dataset.title or output.dataset.name
    return replace(output, differences=tuple(replace(each, text=f"{name}: {each.text}") for each in output.differences))


def _fingerprint(problem: JobProblem) -> str:
    text = f"{problem.script}\0{problem.text}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def summary(review: JobReview) -> str:
    """The verdict, for people."""
    meaning = _UNKNOWN if review.verdict is JobVerdict.UNKNOWN else show.meaning(review.severity)
    return f"{review.verdict}: {meaning}"
