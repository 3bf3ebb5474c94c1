"""Each raise of the default policy: an asset that it is about, and one that it nearly is about."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import ChangeType, Policy, Severity, default_policy
from headwater_analysis.impact.graph import AssetFacts, ImpactGraph
from headwater_analysis.impact.policy import SEVERITIES, Raise, default_policy_text, parse_policy
from headwater_analysis.impact.policy_inputs import (
    ConsumerInput,
    InputGroup,
    JobInput,
    QualityState,
    SeverityInputs,
)
from headwater_analysis.impact.spread import ImpactVisit, raised
from headwater_analysis.impact.wording import because, inputs_texts, raise_text
from headwater_schemas.events import Sensitivity

NODE, JOB = 7, "job"
KNOWN = {
    "criticality": "Tier-1",
    "jobs": (JobInput("load", "critical"),),
    "board": (ConsumerInput("board", "DASHBOARD", "high"),),
    "report": (ConsumerInput("report", "REPORT", "low", "08:00 UTC", 86_400),),
    "export": (ConsumerInput("partner", "EXPORT", "low"),),
    "deadline": "06:00 UTC",
    "freshness_seconds": 86_400,
    "sensitivity": Sensitivity.PII,
    "public": Sensitivity.PUBLIC,
    "classification": "Public",
    "publication": "UNPUBLISHED",
    "partial": "PARTIAL",
    "quality": QualityState.FAILED,
}


class Known:
    """A graph with one asset, of which these inputs are known."""

    def __init__(self, inputs: SeverityInputs) -> None:
        self.known = inputs

    def inputs(self, nodes: Sequence[int], groups: Iterable[InputGroup], /) -> dict[int, SeverityInputs]:
        wanted = set(groups)
        about = self.known
        found = SeverityInputs(criticality=about.criticality)
        if InputGroup.DECLARED in wanted:
            declared = ("deadline", "freshness_seconds", "sensitivity", "classification")
            found = replace(found, **{name: getattr(about, name) for name in declared})
        if InputGroup.CONSUMERS in wanted:
            found = replace(found, consumers=about.consumers)
        if InputGroup.PUBLICATION in wanted:
            found = replace(found, publication=about.publication)
        if InputGroup.QUALITY in wanted:
            found = replace(found, quality=about.quality, failed=about.failed)
        return dict.fromkeys(nodes, found)

    def critical_jobs(self, jobs: Iterable[str], /) -> dict[str, JobInput]:
        return dict(zip(jobs, self.known.jobs, strict=False))


def known(*names: str, **more: Any) -> SeverityInputs:
    """Inputs by the names above; `board` and the like are consumers."""
    values: dict[str, Any] = {}
    for name in names:
        field = {"board": "consumers", "report": "consumers", "export": "consumers", "public": "sensitivity"}
        values[{**field, "partial": "publication"}.get(name, name)] = KNOWN[name]
    return SeverityInputs(**{**values, **more})


def decided(
    change: str, severity: str, inputs: SeverityInputs, policy: Policy | None = None, type_: str = "TABLE"
) -> tuple[str, int | None]:
    """The severity that holds, and the number of the raise, from 1."""
    visit = ImpactVisit(NODE, propagates=True, indirect=False, rank=Severity(severity).rank)
    facts = {NODE: AssetFacts("k", NODE, type_, inputs.criticality or "")}
    graph = cast("ImpactGraph", Known(inputs))
    found = raised(graph, policy or default_policy(), ChangeType(change), {visit: [JOB]}, facts)
    if not found:
        return severity, None
    return SEVERITIES[found[visit].rank], found[visit].number + 1


# The change, the severity by the rule, what is known; what it becomes.
FIRES = [
    ("SCHEMA_BREAKING", "DEGRADED", known("criticality"), "BREAKING"),
    ("SCHEMA_BREAKING", "DEGRADED", known("jobs"), "BREAKING"),
    ("SCHEMA_BREAKING", "DEGRADED", known("board"), "BREAKING"),
    ("DATA_INCORRECT", "TAINTED", known("criticality"), "CRITICAL"),
    ("BACKFILL_RESTATEMENT", "TAINTED", known("jobs"), "CRITICAL"),
    ("FRESHNESS_BREACH", "BLOCKING", known("board"), "CRITICAL"),
    ("FRESHNESS_BREACH", "BLOCKING", known("deadline"), "CRITICAL"),
    ("FRESHNESS_BREACH", "WARNING", known("criticality"), "BLOCKING"),
    ("BACKFILL_RESTATEMENT", "WARNING", known("jobs"), "BLOCKING"),
    ("BACKFILL_RESTATEMENT", "WARNING", known("board"), "BLOCKING"),
    ("FRESHNESS_BREACH", "WARNING", known("report", consumers=(ConsumerInput("r", deadline="8:00"),)), "BLOCKING"),
    ("FRESHNESS_BREACH", "WARNING", known("freshness_seconds"), "BLOCKING"),
    ("FRESHNESS_BREACH", "WARNING", known("partial"), "BLOCKING"),
    ("DATA_INCORRECT", "TAINTED", known("publication"), "BLOCKING"),
    ("DATA_INCORRECT", "WARNING", known("quality"), "TAINTED"),
    ("ASSET_DEPRECATED", "INFO", known("criticality"), "BLOCKING"),
    ("ASSET_DEPRECATED", "INFO", known("jobs"), "BLOCKING"),
    ("ASSET_DEPRECATED", "INFO", known("board"), "BLOCKING"),
    ("ASSET_DEPRECATED", "INFO", known("report"), "WARNING"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("criticality"), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("public"), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("classification"), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("export"), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "WARNING", known("sensitivity"), "RESTRICTED"),
]

# Likewise, one input off, or another change than the raise asks for; the severity by the rule holds.
NEARLY = [
    ("SCHEMA_BREAKING", "DEGRADED", known(criticality="tier-2")),
    ("SCHEMA_BREAKING", "DEGRADED", known(jobs=(JobInput("load", "low"),))),
    ("SCHEMA_BREAKING", "DEGRADED", known("report")),
    ("DATA_INCORRECT", "TAINTED", known(criticality="tier-2")),
    ("BACKFILL_RESTATEMENT", "TAINTED", known(jobs=(JobInput("load", "tier-2"),))),
    ("FRESHNESS_BREACH", "BLOCKING", known(consumers=(ConsumerInput("board", "DASHBOARD"),))),
    ("FRESHNESS_BREACH", "BLOCKING", known("freshness_seconds")),
    ("FRESHNESS_BREACH", "WARNING", known(criticality="tier-2")),
    ("BACKFILL_RESTATEMENT", "WARNING", known(jobs=(JobInput("load", "low"),))),
    ("BACKFILL_RESTATEMENT", "WARNING", known("report")),
    ("BACKFILL_RESTATEMENT", "WARNING", known("deadline")),
    ("FRESHNESS_BREACH", "WARNING", known(freshness_seconds=86_401)),
    ("FRESHNESS_BREACH", "WARNING", known(publication="PUBLISHED")),
    ("DATA_INCORRECT", "TAINTED", known(publication="PUBLISHED")),
    ("DATA_INCORRECT", "WARNING", known(quality=QualityState.PASSED)),
    ("ASSET_DEPRECATED", "INFO", known(criticality="tier-2")),
    ("ASSET_DEPRECATED", "INFO", known(jobs=(JobInput("load", "low"),))),
    ("ASSET_DEPRECATED", "WARNING", known("report")),
    ("ASSET_DEPRECATED", "INFO", known()),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known(criticality="tier-2")),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known(sensitivity=Sensitivity.INTERNAL)),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known(classification="publicly")),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("board")),
    ("PRIVACY_RECLASSIFICATION", "WARNING", known(sensitivity=Sensitivity.CONFIDENTIAL)),
    ("ASSET_DEPRECATED", "BLOCKING", known("deadline")),
    ("DATA_INCORRECT", "WARNING", known("deadline")),
    ("DATA_INCORRECT", "WARNING", known("freshness_seconds")),
    ("DATA_INCORRECT", "WARNING", known("partial")),
    ("BACKFILL_RESTATEMENT", "TAINTED", known("publication")),
    ("FRESHNESS_BREACH", "WARNING", known("quality")),
    ("DATA_INCORRECT", "INFO", known("criticality", "jobs", "board")),
    ("DATA_INCORRECT", "WARNING", known("sensitivity")),
    # A policy of one's own may have RESTRICTED for another change.
    ("DATA_INCORRECT", "RESTRICTED", known("criticality")),
    ("DATA_INCORRECT", "RESTRICTED", known("public")),
    ("DATA_INCORRECT", "RESTRICTED", known("classification")),
    ("DATA_INCORRECT", "RESTRICTED", known("export")),
]


CRITICAL_WORDS = ("tier-1", "tier1", "critical", "high")
# What it is the criticality of, the change, the severity by the rule; what it becomes for each of these words.
CRITICAL = [
    (of, *row)
    for of in ("dataset", "job", "consumer")
    for row in (
        ("SCHEMA_BREAKING", "DEGRADED", "BREAKING"),
        ("DATA_INCORRECT", "TAINTED", "CRITICAL"),
        ("FRESHNESS_BREACH", "BLOCKING", "CRITICAL"),
        ("BACKFILL_RESTATEMENT", "TAINTED", "CRITICAL"),
        ("FRESHNESS_BREACH", "WARNING", "BLOCKING"),
        ("BACKFILL_RESTATEMENT", "WARNING", "BLOCKING"),
        ("ASSET_DEPRECATED", "INFO", "BLOCKING"),
    )
]
CRITICAL.append(("dataset", "PRIVACY_RECLASSIFICATION", "RESTRICTED", "CRITICAL"))
# Likewise, and what is so with another change or severity, for which nothing is raised.
NOT_CRITICAL = [
    (of, *row)
    for of in ("dataset", "job", "consumer")
    for row in (
        ("SCHEMA_COMPATIBLE", "DEGRADED"),
        ("SCHEMA_BREAKING", "COSMETIC"),
        ("DATA_INCORRECT", "WARNING"),
        ("ASSET_DEPRECATED", "BLOCKING"),
        ("PRIVACY_RECLASSIFICATION", "WARNING"),
    )
]
NOT_CRITICAL += [(of, "PRIVACY_RECLASSIFICATION", "RESTRICTED") for of in ("job", "consumer")]
NOT_CRITICAL += [(of, "FRESHNESS_BREACH", "CRITICAL") for of in ("dataset", "job", "consumer")]


def critical(of: str, word: str) -> SeverityInputs:
    if of == "job":
        return known(jobs=(JobInput("load", word),))
    return known(criticality=word) if of == "dataset" else known(consumers=(ConsumerInput("board", None, word),))


# More values of raises that have several.
ALSO_FIRES = [
    ("DATA_INCORRECT", "WARNING", known("publication"), "BLOCKING"),
    ("BACKFILL_RESTATEMENT", "WARNING", known("quality"), "TAINTED"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known(classification="OPEN"), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known(consumers=(ConsumerInput("shop", "API"),)), "CRITICAL"),
    ("PRIVACY_RECLASSIFICATION", "WARNING", known(sensitivity=Sensitivity.RESTRICTED), "RESTRICTED"),
]


def test_each_word_for_what_is_critical(subtests: pytest.Subtests) -> None:
    for (of, change, severity, to), word in itertools.product(CRITICAL, CRITICAL_WORDS):
        with subtests.test(of=of, change=change, word=word):
            for spelling in (word, word.upper()):
                assert decided(change, severity, critical(of, spelling))[0] == to
            no_word = decided(change, severity, critical(of, f"{word}x"))[0]
            assert no_word in (severity, *CONSUMED.get((of, change), ()))


CONSUMED = {("consumer", "ASSET_DEPRECATED"): ("WARNING",)}
"""Somebody who reads it is enough to raise it by a step."""


def test_what_is_critical_raises_no_other_change(subtests: pytest.Subtests) -> None:
    for of, change, severity in NOT_CRITICAL:
        with subtests.test(of=of, change=change):
            assert decided(change, severity, critical(of, "high")) == (severity, None)


def rows() -> list[tuple[ChangeType, Severity, SeverityInputs]]:
    """Everything in the tables."""
    every = [*((c, s, i) for c, s, i, _ in [*FIRES, *ALSO_FIRES]), *NEARLY]
    every += [(c, s, critical(of, word)) for of, c, s, _ in CRITICAL for word in CRITICAL_WORDS]
    every += [(c, s, critical(of, "high")) for of, c, s in NOT_CRITICAL]
    return [(ChangeType(change), Severity(severity), inputs) for change, severity, inputs in every]


def holds(raises: Sequence[Raise], change: ChangeType, severity: Severity, inputs: SeverityInputs) -> Severity:
    """Severity after the raises that fit."""
    fitting = (
        each.to
        for each in raises
        if each.may_fit(change, "TABLE", inputs.criticality or "", severity) and each.fits(inputs)
    )
    return next(fitting, severity)


def looser_and_tighter(raising: Raise) -> Iterator[tuple[str, Raise]]:
    """The raise without one of its conditions, and without one of several values of a condition."""
    for field in Raise.model_fields:
        value = getattr(raising, field)
        if field == "to" or value in (None, ()):
            continue
        if field != "severity":
            update = {field: () if isinstance(value, tuple) else None}
            yield f"{field} isn't asked for", raising.model_copy(update=update)
        if isinstance(value, tuple) and len(value) > 1:
            for each in value:
                update = {field: tuple(other for other in value if other != each)}
                yield f"{field} {each}", raising.model_copy(update=update)


def test_the_tables_have_a_case_for_each_condition_of_each_raise() -> None:
    """One that it raises by each value, and one that it would raise but for the condition."""
    raises, cases = default_policy().raises, rows()
    missing = [
        f"raise {number + 1}: {name}"
        for number, raising in enumerate(raises)
        for name, other in looser_and_tighter(raising)
        if not any(
            holds(raises, *case) is not holds((*raises[:number], other, *raises[number + 1 :]), *case) for case in cases
        )
    ]
    assert missing == []


def test_it_raises(subtests: pytest.Subtests) -> None:
    for number, (change, severity, inputs, to) in enumerate(FIRES, start=1):
        with subtests.test(number=number, change=change):
            assert decided(change, severity, inputs) == (to, number)
    for change, severity, inputs, to in ALSO_FIRES:
        with subtests.test(change=change, inputs=inputs):
            assert decided(change, severity, inputs)[0] == to


def test_it_nearly_raises(subtests: pytest.Subtests) -> None:
    for change, severity, inputs in NEARLY:
        with subtests.test(change=change, inputs=inputs):
            assert decided(change, severity, inputs) == (severity, None)


def test_nothing_is_raised_where_nothing_is_known(subtests: pytest.Subtests) -> None:
    for change, severity, _, _ in FIRES:
        with subtests.test(change=change, severity=severity):
            assert decided(change, severity, SeverityInputs()) == (severity, None)


def with_raise(conditions: str, severity: str = "WARNING", to: str = "CRITICAL") -> Policy:
    text = default_policy_text().partition("# ---- Assets that matter")[0]
    return parse_policy(f'{text}[[raise]]\n{conditions}\nseverity = ["{severity}"]\nto = "{to}"\n', "mine")


CONDITIONS: dict[str, tuple[str, SeverityInputs, SeverityInputs]] = {
    "one consumer has both": (
        'consumer = ["REPORT"]\nconsumer_criticality = ["high"]',
        known(consumers=(ConsumerInput("r", "REPORT", "HIGH"),)),
        known(consumers=(*KNOWN["board"], *KNOWN["report"])),  # type: ignore[misc]
    ),
    "the consumer's deadline": (
        'consumer = ["DASHBOARD"]\ndeadline = true',
        known(consumers=(ConsumerInput("b", "DASHBOARD", None, "8:00"),)),
        known("deadline", consumers=(*KNOWN["board"], *KNOWN["report"])),  # type: ignore[misc]
    ),
    "no deadline": ("deadline = false", known("board"), known("deadline")),
    "nobody reads it": ("consumed = false", known("deadline"), known("board")),
    "the consumer's freshness": ('freshness = "1d"', known("report"), known("board")),
    "several at once": (
        'criticality = ["tier-1"]\nquality = ["FAILED"]',
        known("criticality", "quality"),
        known("quality"),
    ),
}


def test_conditions_of_a_policy_of_ones_own(subtests: pytest.Subtests) -> None:
    for name, (conditions, fits, nearly) in CONDITIONS.items():
        with subtests.test(name=name):
            policy = with_raise(conditions)
            assert decided("DATA_INCORRECT", "WARNING", fits, policy) == ("CRITICAL", 1)
            assert decided("DATA_INCORRECT", "WARNING", nearly, policy) == ("WARNING", None)
            text = raise_text(Severity.WARNING, Severity.CRITICAL, because(policy.raises[0], fits))
            assert text.startswith("raised from WARNING to CRITICAL: ")


def test_one_that_lowers() -> None:
    policy = with_raise('type = ["topic"]\nconsumed = false', "TAINTED", "INFO")
    assert decided("DATA_INCORRECT", "TAINTED", known(), policy, "TOPIC") == ("INFO", 1)
    assert decided("DATA_INCORRECT", "TAINTED", known(), policy, "TABLE") == ("TAINTED", None)
    why = because(policy.raises[0], known())
    assert raise_text(Severity.TAINTED, Severity.INFO, why) == (
        "lowered from TAINTED to INFO: type topic, no declared consumer"
    )


WORDS = [
    ("SCHEMA_BREAKING", "DEGRADED", known("board", "deadline"), "read by dashboard 'board' (high)"),
    (
        "FRESHNESS_BREACH",
        "BLOCKING",
        known("deadline", "report"),
        "deadline 06:00 UTC, read by report 'report' (low, deadline 08:00 UTC, no older than 1 day)",
    ),
    ("FRESHNESS_BREACH", "WARNING", known("freshness_seconds"), "no older than 1 day"),
    ("DATA_INCORRECT", "TAINTED", known("jobs"), "made by load (critical)"),
    ("DATA_INCORRECT", "TAINTED", known("publication"), "latest run UNPUBLISHED"),
    (
        "DATA_INCORRECT",
        "WARNING",
        known("quality", failed=tuple("abcde")),
        "latest checks failed: a, b, c and 2 more",
    ),
    ("PRIVACY_RECLASSIFICATION", "WARNING", known("sensitivity"), "declared PII"),
    ("PRIVACY_RECLASSIFICATION", "RESTRICTED", known("classification"), "classified Public"),
]


def test_the_reason_in_words(subtests: pytest.Subtests) -> None:
    for change, severity, inputs, words in WORDS:
        with subtests.test(words=words):
            to, number = decided(change, severity, inputs)
            assert number is not None
            raising = default_policy().raises[number - 1]
            text = raise_text(Severity(severity), Severity(to), because(raising, inputs))
            assert text == f"raised from {severity} to {to}: {words}"


def test_every_input_in_words() -> None:
    every = known(
        "criticality", "jobs", "report", "deadline", "sensitivity", "classification", "publication", "quality",
        freshness_seconds=129_600, failed=("few",),
    )  # fmt: skip
    assert inputs_texts(every) == (
        "criticality Tier-1",
        "made by load (critical)",
        "read by report 'report' (low, deadline 08:00 UTC, no older than 1 day)",
        "deadline 06:00 UTC",
        "no older than 36 hours",
        "declared PII",
        "classified Public",
        "latest run UNPUBLISHED",
        "latest checks failed: few",
    )
    assert inputs_texts(SeverityInputs()) == ()


def test_a_mistake_in_a_condition_has_line_and_field(subtests: pytest.Subtests) -> None:
    cases = [
        ('freshness = "soon"', "freshness: write a number and a unit"),
        ('consumer = ["dash"]', r"consumer\[0\]"),
        ('quality = ["bad"]', r"quality\[0\]"),
        ("deadlin = true", "deadlin: unknown; did you mean `deadline`"),
        ('sensitivity = ["secret"]', r"sensitivity\[0\]"),
        ('publication = ["done"]', r"publication\[0\]"),
    ]
    for conditions, message in cases:
        where = r"mine:\d+: raise\[0\]\."
        with subtests.test(conditions=conditions), pytest.raises(QuestionError, match=where + message):
            with_raise(conditions)
