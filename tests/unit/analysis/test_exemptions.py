"""The file of exemptions: what it holds, and each mistake with its line and field."""

from __future__ import annotations

from datetime import date

import pytest

from headwater_analysis.checks import Exemption, ExemptionsError, read_exemptions

GOOD = """\
exemptions:
  - rule: orphan-jobs
    subject: default/flights
    reason: starts by hand
    owner: team:flights
    until: 2026-12-31
"""


def test_what_it_holds() -> None:
    (found,) = read_exemptions(GOOD, "exempt.yaml")
    assert found == Exemption(
        "orphan-jobs", "default/flights", "starts by hand", "team:flights", date(2026, 12, 31), line=2
    )
    assert read_exemptions("", "exempt.yaml") == ()
    assert read_exemptions("exemptions: []", "exempt.yaml") == ()


def test_a_mistake_has_line_and_field(subtests: pytest.Subtests) -> None:
    cases = [
        (
            GOOD.replace("orphan-jobs", "orphan-job"),
            "x:2: rule: there is no rule 'orphan-job'; the nearest is orphan-jobs",
        ),
        (GOOD.replace("2026-12-31", "2026-13-01"), "x:6: until: '2026-13-01' is no day; write it as 2026-12-31"),
        (GOOD.replace("2026-12-31", "20261231"), "x:6: until: '20261231' is no day; write it as 2026-12-31"),
        (GOOD.replace("    reason: starts by hand\n", ""), "x:2: reason: missing"),
        (GOOD.replace("reason: starts by hand", "reason: ''"), "x:4: reason: a text is required"),
        (GOOD.replace("reason: starts by hand", "reason: [a]"), "x:4: reason: a text is required"),
        (
            GOOD.replace("owner:", "owners:"),
            "x:5: owners: unknown; the nearest known one is owner\nx:2: owner: missing",
        ),
        (GOOD + GOOD.split("\n", 1)[1], "x:7: subject: default/flights is exempted from orphan-jobs on line 2"),
        ("- rule: a", "x:1: the file has one key, `exemptions`, with a list"),
        ("exemptions: a", "x:1: the file has one key, `exemptions`, with a list"),
        ("exemptions:\n  - a", "x:2: an exemption is a mapping of rule, subject, reason, owner, until"),
        ("exemptions: [", "x:1: expected the node content, but found '<stream end>'"),
        ("exemptions: " + "[" * 10_000, "x: it is nested too deeply; exemptions are a list of mappings"),
        ("- " * 10_000, "x: it is nested too deeply; exemptions are a list of mappings"),
        ("a: \t- b", "x:1: found character '\\t' that cannot start any token"),
    ]
    for text, mistake in cases:
        with subtests.test(text=text):
            with pytest.raises(ExemptionsError) as caught:
                read_exemptions(text, "x")
            assert str(caught.value) == mistake


def test_all_mistakes_are_reported_at_once() -> None:
    text = GOOD.replace("orphan-jobs", "nothing").replace("2026-12-31", "soon")
    with pytest.raises(ExemptionsError) as caught:
        read_exemptions(text, "x")
    assert len(str(caught.value).splitlines()) == 2
