"""Documents of a review for a pull request and for CI: valid, and no name in them acts as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from headwater.show import review as show
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.impact import ImpactChange, SchemaChange, Severity, SeverityTotal
from headwater_review.compare import DifferenceKind, SchemaDifference
from headwater_review.schema_review import Review, ReviewedDifference
from headwater_review.wording import text_of
from headwater_schemas.visible import is_visible
from support.analysis.impacts import impact_of
from support.sarif import check_sarif

if TYPE_CHECKING:
    import pytest

AWKWARD = ["<img src=x>", "[a](javascript:b)", "`" * 3, "| x |", "@team", "x\n# y", "\x1b[2J\u202e", "![](h)"]


def reviewed(name: str = "a", severity: Severity = Severity.BREAKING, line: int = 7) -> ReviewedDifference:
    column = Asset(AssetKind.COLUMN, name, "n", name, name)
    job = Asset(AssetKind.JOB, "j", "n", name)
    impact = impact_of(column, job, ImpactChange(name, name, schema=SchemaChange.RETYPED))
    difference = SchemaDifference(DifferenceKind.RETYPED, name, before=name, after=name, line=line)
    return ReviewedDifference(
        difference,
        text_of(difference),
        severity,
        (f"Consumer {name} reads this column.",),
        impact.items,
        impact.total,
        impact.totals,
        impact.jobs,
        impact.jobs_total,
        (name,),
    )


def of(*differences: ReviewedDifference, name: str = "a", unseen: int = 0) -> Review:
    return Review(
        Asset(AssetKind.DATASET, "k", "n", name),
        "the graph",
        name,
        min((each.severity for each in differences), key=lambda each: each.rank, default=Severity.NONE),
        differences,
        (SeverityTotal(Severity.BREAKING, len(differences)),),
        3,
        2,
        3,
        (),
        (Asset(AssetKind.JOB, "j", "n", name),),
        (name,) * unseen,
        unseen,
        (f"A note on {name}.",),
    )


def test_sarif() -> None:
    log = show.sarif(of(reviewed("a"), reviewed("b", Severity.DEGRADED), reviewed("c", Severity.NONE), unseen=2), "1")
    check_sarif(log)
    (run,) = log["runs"]
    assert [result["level"] for result in run["results"]] == ["error", "warning"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    notice = run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]
    assert notice.startswith("Incomplete lineage")
    check_sarif(show.sarif(of(), "1"))


def test_gitlab() -> None:
    first, second = show.gitlab(of(reviewed("a"), reviewed("b", Severity.COSMETIC, 0), reviewed("c", Severity.NONE)))
    assert (first["severity"], second["severity"]) == ("blocker", "info")
    assert (first["location"]["lines"]["begin"], second["location"]["lines"]["begin"]) == (7, 1)
    assert first["check_name"] == "headwater/retyped"
    assert first["fingerprint"] != second["fingerprint"]


def test_a_finding_keeps_its_fingerprint_where_lines_move() -> None:
    before, after = (show.gitlab(of(reviewed("a", line=line)))[0]["fingerprint"] for line in (3, 90))
    assert before == after


def test_what_is_gone_stands_in_the_first_line() -> None:
    gone = reviewed("a")
    gone = replace(gone, difference=replace(gone.difference, kind=DifferenceKind.REMOVED, line=50, in_new=False))
    assert show.gitlab(of(gone))[0]["location"]["lines"]["begin"] == 1


def test_incomplete_lineage_is_said_with_the_verdict() -> None:
    assert "Incomplete lineage: what 2 jobs downstream do" in show.markdown(of(unseen=2))
    assert "Incomplete" not in show.markdown(of())


def test_a_comment_is_no_longer_than_a_comment_may_be() -> None:
    many = of(*(reviewed(f"{'x' * 500}{number}") for number in range(5_000)))
    text = show.markdown(many)
    assert len(text) < 65_536
    assert "… and 4,980 more differences." in text


def test_names_are_never_markup(subtests: pytest.Subtests) -> None:
    for name in AWKWARD:
        with subtests.test(name=name):
            text = show.markdown(of(reviewed(name), name=name, unseen=1))
            plain = show.markdown(of(reviewed("a"), unseen=1))
            assert text.count("\n") == plain.count("\n")
            assert not {character for character in text if not (is_visible(character) or character == "\n")}
            outside_code = re.sub(r"(`+) ?.*?[^`] ?\1(?!`)", "", text)
            assert not re.search(r"(?<!\\)(<img|\]\(|!\[)", outside_code)
            assert not re.search(r"@(?!<!-- -->)", outside_code)
            for row in text.splitlines():
                if row.startswith("| **"):
                    assert len(re.findall(r"(?<!\\)\|", row)) == 4


@given(st.text(min_size=1))
def test_any_name_in_any_document(name: str) -> None:
    found = of(reviewed(name), name=name, unseen=1)
    log = show.sarif(found, "1")
    check_sarif(log)
    texts = [log["runs"][0]["results"][0]["message"]["text"], show.gitlab(found)[0]["description"]]
    assert not {character for text in texts for character in text if not is_visible(character)}
    assert not re.search(r"(?<!\\)(\\\\)*\[", texts[0])
