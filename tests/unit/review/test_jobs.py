"""Reviews of jobs whose dry runs are given: what is rendered, and what is never a pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.graph_command import document
from headwater.show import job_review as show
from headwater_consumers.review.jobs.answer import JobReview, JobVerdict
from headwater_consumers.review.jobs.ask import review_job
from headwater_consumers.review.jobs.version import JobVersion, version_of
from support.sarif import check_sarif


def output(name: str = "/lake/out", rows: str = "r", **columns: str) -> dict[str, Any]:
    fields = [{"name": each, "type": "long", "nullable": True, "metadata": {}} for each in columns]
    return {
        "kind": "path",
        "name": name,
        "mode": "overwrite",
        "format": "parquet",
        "partitioned_by": [],
        "schema": {"type": "struct", "fields": fields},
        "rows": rows,
        "columns": columns,
        "together": columns,
        "expressions": {each: f"{each} of orders" for each in columns},
        "influences": [f"FILTER: {rows}"],
        "settings": {},
        "reason": None,
    }


def version(script: str, *outputs: dict[str, Any], problems: tuple[tuple[str, str], ...] = ()) -> JobVersion:
    return version_of(script, outputs, [("table", "orders")], [], problems)


def rendered(review: JobReview) -> list[str]:
    """In all ways."""
    return [
        str(show.view(review)),
        show.markdown(review),
        json.dumps(show.sarif(review, "1")),
        json.dumps(show.gitlab(review)),
        json.dumps(document(review)),
    ]


FAILED = ("The script fails in line 3: SyntaxError: invalid syntax", "Correct the script.")


def test_what_comes_after_a_failure_isnt_missing() -> None:
    review = review_job(None, version("old.py", output(a="1")), version("new.py", problems=(FAILED,)))
    assert (review.verdict, review.outputs) == (JobVerdict.UNKNOWN, ())
    for text in rendered(review)[1:]:
        assert "SyntaxError" in text


def test_unknown_is_unknown_whatever_is_known() -> None:
    new = version("new.py", output(), problems=(FAILED,))
    review = review_job(None, version("old.py", output(a="1")), new)
    assert review.severity == "BREAKING"
    assert review.verdict is JobVerdict.UNKNOWN


@pytest.mark.parametrize("which", ["old", "new"])
def test_an_output_that_isnt_known_in_full_is_unknown(which: str) -> None:
    unclear = {**output(a="1"), "rows": None, "columns": {}, "reason": "what a LogicalRDD reads isn't known"}
    versions = {"old": version("old.py", output(a="1")), "new": version("new.py", output(a="1"))}
    versions[which] = version(f"{which}.py", unclear)
    review = review_job(None, versions["old"], versions["new"])
    assert review.verdict is JobVerdict.UNKNOWN
    assert [problem.script for problem in review.problems] == [f"{which}.py"]


def test_a_removed_output_is_breaking_and_rendered() -> None:
    old = version("old.py", output("/a", a="1"), output("/b", a="1"))
    review = review_job(None, old, version("new.py", output("/a", a="1")))
    assert review.verdict is JobVerdict.BREAKING
    for text in rendered(review)[1:]:
        assert "no more writes /b" in text
    (result,) = show.sarif(review, "1")["runs"][0]["results"]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("headwater/output_removed", 0, "error")


def test_fingerprints_differ_between_outputs() -> None:
    old = version("old.py", output("/a", a="1"), output("/b", a="1"))
    new = version("new.py", output("/a", "s", a="1"), output("/b", "s", a="1"))
    findings = show.gitlab(review_job(None, old, new))
    assert len({finding["fingerprint"] for finding in findings}) == len(findings) == 2


def test_a_column_of_the_same_value_under_another_name_is_renamed() -> None:
    review = review_job(None, version("o.py", output(a="1", b="2")), version("n.py", output(z="1", b="2")))
    (found,) = review.outputs[0].differences
    assert (found.difference.kind, found.difference.column, found.difference.now) == ("RENAMED", "a", "z")


def test_two_columns_of_one_value_are_no_rename() -> None:
    review = review_job(None, version("o.py", output(a="1", b="1")), version("n.py", output(y="1", z="1")))
    kinds = sorted(each.difference.kind for each in review.outputs[0].differences)
    assert kinds == ["ADDED", "ADDED", "REMOVED", "REMOVED"]


def test_equal_versions_are_none() -> None:
    review = review_job(None, version("o.py", output(a="1")), version("n.py", output(a="1")))
    assert review.verdict is JobVerdict.NONE
    assert show.sarif(review, "1")["runs"][0]["results"] == []


def test_a_script_that_writes_nothing_is_unknown() -> None:
    assert review_job(None, version("o.py"), version("n.py")).verdict is JobVerdict.UNKNOWN


def test_a_comment_is_no_longer_than_a_comment_may_be_and_keeps_the_worst() -> None:
    columns = {f"{'|<x>' * 60}{number}": str(number) for number in range(5_000)}
    gone = [f"/lake/{'@[x](y)' * 20}{number}" for number in range(100)]
    same = [output(f"/lake/{number}", **columns) for number in range(3)]
    other = [output(f"/lake/{number}", "other", **dict.fromkeys(columns, "other")) for number in range(3)]
    failing = (("|<x>" * 500, "@[x](y)" * 500),) * 30
    old = version("old.py", *same, *(output(name, a="1") for name in gone))
    for problems in ((), failing):
        new = version("new.py", *other, problems=problems)
        review = review_job(None, old, new)
        text = show.markdown(review)
        assert len(text) < 65_536
        check_sarif(show.sarif(review, "1"))
        assert all(finding["location"]["lines"]["begin"] == 1 for finding in show.gitlab(review))
    text = show.markdown(review_job(None, old, version("new.py", *other)))
    assert "The job no more writes" in text.split("\n### ")[1]
    assert "more outputs" in text


def test_few_outputs_are_all_in_a_comment() -> None:
    old, new = (version(f"{name}.py", *(output(f"/lake/{n}", name, a="1") for n in range(9))) for name in "ab")
    text = show.markdown(review_job(None, old, new))
    assert text.count("### Output") == 9
    assert "more output" not in text
