"""Reviews of jobs whose dry runs are given: what is rendered, and what is never a pass."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.graph_command import document
from headwater.show import job_review as show
from headwater_analysis.freshness import NOT_REPORTED
from headwater_review.jobs.job_review import JobReview, JobVerdict, review_job
from headwater_review.jobs.version import JobVersion, version_of
from support.sarif import check_sarif

if TYPE_CHECKING:
    import pytest


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
        "values": columns,
        "read": {},
        "unread": None,
        "options": {},
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
        json.dumps(document(review, NOT_REPORTED)),
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


def test_an_output_that_isnt_known_in_full_is_unknown(subtests: pytest.Subtests) -> None:
    for which in ["old", "new"]:
        with subtests.test(which=which):
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
        assert "no longer writes /b" in text
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


def test_columns_that_no_schema_has_are_unknown(subtests: pytest.Subtests) -> None:
    cases = {"twice": [{"name": "a"}, {"name": "a"}], "without a name": [{"name": ""}]}
    for case, twice in cases.items():
        with subtests.test(case):
            written = output(a="1")
            fields = [{**each, "type": "long", "nullable": True, "metadata": {}} for each in twice]
            struct = {"name": "s", "type": {"type": "struct", "fields": fields}, "nullable": True, "metadata": {}}
            for schema in (fields, [struct]):
                written["schema"]["fields"] = schema
                found = review_job(None, version("old.py", written), version("new.py", written))
                assert found.verdict is JobVerdict.UNKNOWN
                assert all("The columns of /lake/out can't be compared: " in each.text for each in found.problems)
                assert len(found.problems) == 2


def test_a_script_that_writes_nothing_is_unknown() -> None:
    assert review_job(None, version("o.py"), version("n.py")).verdict is JobVerdict.UNKNOWN


def test_a_comment_is_no_longer_than_a_comment_may_be_and_keeps_the_worst() -> None:
    columns = {f"{'|<x>' * 60}{number}": str(number) for number in range(1_000)}
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
    assert "The job no longer writes" in text.split("\n### ")[1]
    assert "more outputs" in text


def test_few_outputs_are_all_in_a_comment() -> None:
    old, new = (version(f"{name}.py", *(output(f"/lake/{n}", name, a="1") for n in range(9))) for name in "ab")
    text = show.markdown(review_job(None, old, new))
    assert text.count("### Output") == 9
    assert "more output" not in text


def texts(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    found = review_job(None, version("old.py", old), version("new.py", new))
    return [each.text for each in found.outputs[0].differences]


def test_long_texts_are_cut_to_where_they_differ() -> None:
    before, after = (f"{'a + ' * 100}{number}{' + b' * 100}" for number in (17, 18))
    old, new = output(a="1") | {"expressions": {"a": before}}, output(a="2") | {"expressions": {"a": after}}
    (text,) = texts(old, new)
    assert " 17 + b" in text
    assert " 18 + b" in text
    assert len(text) < 450


def test_what_a_long_text_goes_on_with_is_a_difference() -> None:
    shorter = "a + " * 100 + "b"
    old, new = (output(a=text) | {"expressions": {"a": text}} for text in (shorter, f"{shorter} + discount"))
    (text,) = texts(old, new)
    assert text.startswith("a means something else: …")
    assert text.endswith("b + discount")


def test_of_several_branches_those_that_differ_are_listed() -> None:
    one, other = "WHEN MATCHED: {}\nWHEN NOT MATCHED: c", "WHEN NOT MATCHED: c\nWHEN MATCHED: {}"
    old, new = (
        output(a="1") | {"expressions": {"a": one.format("x")}},
        output(a="2") | {"expressions": {"a": other.format("y")}},
    )
    assert texts(old, new) == ["a means something else: WHEN MATCHED: x → WHEN MATCHED: y"]


def test_equal_texts_are_computed_in_another_way() -> None:
    assert texts(output(a="1"), output(a="2")) == ["a is computed differently: a of orders"]
    same = {"influences": ["LEFT OUTER JOIN"]}
    assert texts(output(a="1") | same, output(a="1", rows="s") | same) == [
        "The job writes other rows: an expression that decides the rows is computed differently"
    ]


def test_one_more_of_what_was_there_is_named() -> None:
    old, new = output(a="1") | {"influences": ["DISTINCT"]}, output(a="1", rows="s") | {"influences": ["DISTINCT"] * 2}
    assert texts(old, new) == ["The job writes other rows: none → DISTINCT"]


def read_as(*effects: str) -> dict[str, Any]:
    """A report of `mail` that these effects are done to in turn."""
    steps = [{"kind": each, "masking": each != "COPY", "expression": None, "field": "mail"} for each in effects]
    return {"source": "table", "name": "people", "field": "mail", "steps": steps}


def found_in(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    review = review_job(None, version("o.py", output(v="1") | old), version("n.py", output(v="2", rows="s") | new))
    return {
        f"{each.difference.kind} {each.difference.column}": each.severity
        for each in review.outputs[0].differences
        if each.difference.kind != "ROWS"
    }


def test_members_that_differ_beside_the_rows_are_listed_by_name(subtests: pytest.Subtests) -> None:
    cases: dict[str, tuple[dict[str, str], dict[str, str], set[str]]] = {
        "the same": ({"v": "json", "v.a": "1"}, {"v": "json", "v.a": "1"}, set()),
        "two": ({"v": "", "v.a": "1", "v.b": "1"}, {"v": "", "v.a": "2", "v.b": "2"}, {"MEANING v.a", "MEANING v.b"}),
        "how it is encoded": ({"v": "json", "v.a": "1"}, {"v": "csv", "v.a": "1"}, {"MEANING v"}),
        "one goes": ({"v": "", "v.a": "1", "v.b": "1"}, {"v": "", "v.a": "1"}, {"REMOVED v.b"}),
        "a list goes": ({"v": "", "v.a": "1", "v.b": "", "v.b.[]": "2"}, {"v": "", "v.a": "1"}, {"REMOVED v.b"}),
        "one is renamed": ({"v": "", "v.a": "1", "v.b": "2"}, {"v": "", "v.a": "1", "v.c": "2"}, {"RENAMED v.b"}),
        "another order": (
            {"v": "", "v.a": "1", "v.b": "2"}, {"v": "", "v.b": "2", "v.a": "1"}, {"MEANING v"},
        ),
        "no members any more": ({"v": "json", "v.a": "1"}, {"v": "raw"}, {"MEANING v"}),
    }  # fmt: skip
    for name, (before, after, expected) in cases.items():
        with subtests.test(name):
            assert set(found_in({"values": before}, {"values": after})) == expected


def test_a_field_that_is_protected_less_is_a_finding_of_its_own(subtests: pytest.Subtests) -> None:
    one, other = {"v": "", "v.a": "1"}, {"v": "", "v.a": "2"}
    cases = {
        "a hash goes": (["HASH"], ["COPY"], "BREAKING"),
        "a mask goes": (["MASK"], ["COPY"], "BREAKING"),
        "a mask becomes a hash": (["MASK"], ["HASH"], "DEGRADED"),
        "a hash before a foreachBatch goes": (["HASH", "COPY"], ["COPY", "COPY"], "BREAKING"),
        "a hash becomes a mask": (["HASH"], ["MASK"], None),
    }
    for name, (before, after, expected) in cases.items():
        with subtests.test(name):
            found = found_in(
                {"values": one, "read": {"v": [], "v.a": [read_as(*before)]}},
                {"values": other, "read": {"v": [], "v.a": [read_as(*after)]}},
            )
            assert found.get("PRIVACY v.a") == expected
            assert found["MEANING v.a"] == "DEGRADED"


def test_a_field_that_is_readable_under_another_name_is_found() -> None:
    found = found_in(
        {"values": {"v": "", "v.a": "1"}, "read": {"v.a": [read_as("HASH")]}},
        {"values": {"v": "", "v.b": "2"}, "read": {"v.b": [read_as("COPY")]}},
    )
    assert found == {"PRIVACY v.b": "BREAKING", "REMOVED v.a": "BREAKING", "ADDED v.b": "COSMETIC"}


def test_values_that_differ_and_of_which_it_isnt_known_what_they_are_made_of_are_unknown() -> None:
    old, new = output(a="1") | {"unread": "too large"}, output(a="2") | {"unread": "too large"}
    assert review_job(None, version("o.py", old), version("n.py", old)).verdict is JobVerdict.NONE
    found = review_job(None, version("o.py", old), version("n.py", new))
    assert found.verdict is JobVerdict.UNKNOWN
    assert "the same values: too large" in found.problems[0].text


def test_each_thing_that_is_written_otherwise_is_a_difference_of_its_own() -> None:
    dynamic = "overwrite of the partitions that get rows"
    old = output(a="1") | {"mode": dynamic, "options": {"header": "header=true", "sep": "sep=,"}}
    new = output(a="1") | {"format": "csv", "options": {"header": "header=false", "sep": "sep=,"}}
    assert texts(old, new) == [
        f"The job writes differently: {dynamic} → overwrite",
        "The job writes differently: parquet → csv",
        "The job writes differently: header=true → header=false",
    ]
    review = review_job(None, version("old.py", old), version("new.py", new))
    assert len({finding["fingerprint"] for finding in show.gitlab(review)}) == 3
    (first, *_) = review.outputs[0].differences
    assert (first.difference.overwrites_more, first.reasons) == (
        True,
        ("The write overwrites rows that it kept before.",),
    )
