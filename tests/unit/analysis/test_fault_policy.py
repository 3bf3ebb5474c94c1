"""The policy of incidents that open by themselves: its decisions, and the error for a file that isn't one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from headwater_analysis.errors import QuestionError
from headwater_analysis.incidents.detection.data_fault import AssertionSeverity, DataFault, DataFaultKind
from headwater_analysis.incidents.detection.detect_faults import joined
from headwater_analysis.incidents.detection.fault_policy import (
    FaultPolicy,
    default_fault_policy,
    default_fault_policy_text,
    load_fault_policy,
    parse_fault_policy,
)
from headwater_schemas.events import DatasetRef, IncidentClock, IncidentScope, IncidentSeverity, IncidentType

RUN = IncidentScope(run="r1")
ORDERS = "s3://lake/orders"


def fault(
    kind: DataFaultKind = DataFaultKind.ASSERTION, *, datasets: tuple[str, ...] = (ORDERS,), **more: Any
) -> DataFault:
    values = {"cause": "c", "title": "t", "part": RUN, "at": None, **more}
    return DataFault(kind=kind, datasets=datasets, **values)


def policy(text: str) -> FaultPolicy:
    return parse_fault_policy(text, "p.toml")


def entry(fault: str = "ASSERTION", **more: str) -> str:
    lines = [f'fault = "{fault}"', *(f"{name} = {value}" for name, value in more.items())]
    return "\n".join(["[[open]]", *lines, ""])


def test_the_first_entry_that_fits_decides() -> None:
    chosen = policy(
        entry(rules='["PRIVACY"]')
        + entry(datasets='["s3://lake/tmp*"]', ignore="true")
        + entry(rules='["completeness", "VOLUME"]', datasets='["*/orders", "n/other"]', severity='"SEV2"')
        + entry("STALE", severity='"SEV4"')
    )
    cases: list[tuple[DataFault, int | None]] = [
        (fault(rule="PRIVACY", datasets=("s3://lake/tmp1",)), 0),
        (fault(rule="COMPLETENESS", datasets=("s3://lake/tmp1",)), 1),
        (fault(rule="COMPLETENESS"), 2),
        (fault(rule="VOLUME", datasets=("n/some", "n/other")), 2),
        (fault(rule="UNIQUENESS"), None),
        (fault(rule=None), None),
        (fault(rule="COMPLETENESS", datasets=("s3://lake/orders2",)), None),
        (fault(rule="COMPLETENESS", datasets=("s3://lake/ORDERS",)), None),
        (fault(rule="COMPLETENESS", datasets=()), None),
        (fault(DataFaultKind.STALE, datasets=()), 3),
        (fault(DataFaultKind.BROKEN_CHAIN), None),
    ]
    for given, expected in cases:
        found = chosen.entry_of(given)
        assert (None if found is None else chosen.entries.index(found)) == expected, given


def test_an_entry_of_severities() -> None:
    chosen = policy(
        entry(severities='["warning", "INFO"]', ignore="true")
        + entry(severities='["error"]', rules='["VOLUME"]')
        + entry(severities='["CRITICAL"]')
    )
    cases: list[tuple[str | None, str, int | None]] = [
        ("WARN", "VOLUME", 0),
        ("INFO", "VOLUME", 0),
        ("ERROR", "VOLUME", 1),
        ("ERROR", "RANGE", None),
        ("CRITICAL", "VOLUME", 2),
    ]
    for severity, rule, expected in cases:
        found = chosen.entry_of(fault(rule=rule, assertion_severity=AssertionSeverity.of(severity)))
        assert (None if found is None else chosen.entries.index(found)) == expected, (severity, rule)
    assert chosen.entry_of(fault(DataFaultKind.STALE)) is None


@pytest.mark.parametrize(
    ("word", "severity"),
    [
        ("warn", "WARN"),
        ("WARN", "WARN"),
        ("Warning", "WARN"),
        ("info", "INFO"),
        ("Error", "ERROR"),
        ("critical", "CRITICAL"),
        ("blocker", "ERROR"),
        ("", "ERROR"),
        (None, "ERROR"),
    ],
)
def test_severity_by_the_word_of_a_tool(word: str | None, severity: str) -> None:
    assert AssertionSeverity.of(word) == severity


def test_severity_and_type_by_rule_unless_the_entry_states_them() -> None:
    (plain,) = policy(entry()).entries
    assert plain.severity_of(fault(rule="PRIVACY")) is IncidentSeverity.SEV1
    assert plain.severity_of(fault(rule="VOLUME")) is None
    (stated,) = policy(entry(severity='"SEV3"', type='"CUSTOM"')).entries
    assert (stated.severity_of(fault(rule="PRIVACY")), stated.type) == (IncidentSeverity.SEV3, IncidentType.CUSTOM)


@pytest.mark.parametrize(
    ("given", "type_"),
    [
        (fault(rule="COMPLETENESS"), "MISSING_DATA"),
        (fault(rule="UNIQUENESS"), "DUPLICATES"),
        (fault(rule="FRESHNESS"), "LATE"),
        (fault(rule="SCHEMA"), "SCHEMA"),
        (fault(rule="DRIFT"), "SCHEMA"),
        (fault(rule="DRIFT_OF_OUR_OWN"), "BAD_RECORDS"),
        (fault(rule="PRIVACY"), "PRIVACY"),
        (fault(rule="RANGE"), "BAD_RECORDS"),
        (fault(rule="OF_OUR_OWN"), "BAD_RECORDS"),
        (fault(), "BAD_RECORDS"),
        (fault(DataFaultKind.BROKEN_CHAIN), "BROKEN_CHAIN"),
        (fault(DataFaultKind.FAILED_AFTER_COMMIT), "FAILED_RUN"),
        (fault(DataFaultKind.WRITTEN_FROM_OUTSIDE), "CUSTOM"),
        (fault(DataFaultKind.STALE), "LATE"),
    ],
)
def test_type_of_an_incident(given: DataFault, type_: str) -> None:
    assert given.type == type_


MISTAKES = {
    "a key": ('severity = "SEV2"', 'severty = "SEV2"', "open[3].severty", "unknown; did you mean `severity`?"),
    "a kind": ('fault = "STALE"', 'fault = "OLD"', "open[6].fault", "Input should be 'ASSERTION'"),
    "a severity": ('severity = "SEV2"', 'severity = "SEV6"', "open[3].severity", "Input should be"),
    "an unknown severity": ('severity = "SEV2"', 'severity = "UNKNOWN"', "open[3].severity", "UNKNOWN can't be stated"),
    "a rule": ('["PRIVACY"]', '["PRIVACI"]', "open[0].rules[0]", "unknown rule 'PRIVACI'; did you mean PRIVACY?"),
    "a severity of an assertion": (
        '["INFO", "WARN"]',
        '["INFO", "WARM"]',
        "open[1].severities[1]",
        "unknown severity of an assertion 'WARM'; did you mean WARN?",
    ),
    "a severity of incidents": (
        '["INFO", "WARN"]',
        '["SEV4"]',
        "open[1].severities[0]",
        "unknown severity of an assertion 'SEV4'; there are INFO, WARN, ERROR, CRITICAL",
    ),
    "severities of another kind": (
        'fault = "STALE"',
        'fault = "STALE"\nseverities = ["WARN"]',
        "open[6].severities",
        "only ASSERTION",
    ),
    "no fault": ('fault = "STALE"', 'assign = "a"', "open[6].fault", "is missing"),
    "an empty pattern": ('fault = "STALE"', 'fault = "STALE"\ndatasets = [""]', "open[6].datasets[0]", "at least 1"),
    "rules of another kind": (
        'fault = "STALE"',
        'fault = "STALE"\nrules = ["VOLUME"]',
        "open[6].rules",
        "only ASSERTION",
    ),
    "a table": ('[[open]]\nfault = "STALE"', '[[opens]]\nfault = "STALE"', "opens", "did you mean `open`?"),
}


@pytest.mark.parametrize("mistake", sorted(MISTAKES))
def test_a_mistake_is_reported_with_line_and_field(mistake: str, tmp_path: Path) -> None:
    before, after, field, message = MISTAKES[mistake]
    text = default_fault_policy_text()
    at = text.index(before, text.index("\n[[open]]"))
    changed = text[:at] + after + text[at + len(before) :]
    path = tmp_path / "policy.toml"
    path.write_text(changed, encoding="utf-8")
    with pytest.raises(QuestionError) as refused:
        load_fault_policy(path)
    assert refused.value.field == "policy"
    (line,) = str(refused.value).splitlines()
    assert f": {field}: " in line
    assert message in line
    # The line of the mistake; of what is missing or of a whole table, the line where its table begins, or that field.
    number = int(line.removeprefix(f"{path}:").partition(":")[0])
    assert abs(number - (text.count("\n", 0, at) + 1)) <= 1


def test_no_policy_at_all(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    for content, message in (
        (b"open = [", "is no TOML"),
        (b"", "open: is missing"),
        (b"open = []", "policy.toml:1: open: no entry"),
    ):
        path.write_bytes(content)
        with pytest.raises(QuestionError, match=message):
            load_fault_policy(path)
    with pytest.raises(QuestionError, match="can't be read: No such file"):
        load_fault_policy(tmp_path / "none.toml")


def test_the_default_decides_about_every_kind() -> None:
    chosen = default_fault_policy()
    for kind in DataFaultKind:
        found = chosen.entry_of(fault(kind))
        assert found is not None
        assert not found.ignore
    severities = {"PRIVACY": IncidentSeverity.SEV1, "VOLUME": IncidentSeverity.SEV4}
    for rule, severity in severities.items():
        warned = chosen.entry_of(fault(rule=rule, assertion_severity=AssertionSeverity.WARN))
        assert warned is not None
        assert warned.severity is severity


def at(hour: int) -> datetime:
    return datetime(2025, 1, 31, hour, tzinfo=UTC)


def batches(first: int, last: int | None, query: str = "q") -> IncidentScope:
    return IncidentScope(query=query, from_batch=first, to_batch=last)


def until(hour: int, **more: Any) -> IncidentScope:
    return IncidentScope(dataset=DatasetRef("n", "orders"), until=at(hour), clock=IncidentClock.PROCESSING, **more)


VERSION = IncidentScope(dataset=DatasetRef("n", "orders"), version="7")
OTHER_VERSION = IncidentScope(dataset=DatasetRef("n", "orders"), version="8")
WHOLE = IncidentScope(dataset=DatasetRef("n", "orders"))
CHECKED = fault(part=until(12, since=at(9)), began=at(11))
OUTSIDE = fault(part=VERSION, versions=("7", "8"))


@pytest.mark.parametrize(
    ("given", "part", "expected"),
    [
        (fault(), RUN, True),
        (fault(), IncidentScope(run="r2"), False),
        (fault(part=batches(4, 4)), batches(3, 5), True),
        (fault(part=batches(4, 4)), batches(5, 6), False),
        (fault(part=batches(4, 4)), batches(4, 4, "other"), False),
        # Widened by people: no statement on what comes later.
        (fault(part=batches(4, 4)), batches(0, None), False),
        (OUTSIDE, VERSION, True),
        (OUTSIDE, OTHER_VERSION, True),
        (fault(part=VERSION), OTHER_VERSION, False),
        (OUTSIDE, WHOLE, False),
        # A run's end that was reported later, and a check that passed before and was reported later.
        (CHECKED, until(12), True),
        (CHECKED, until(11, since=at(10)), True),
        (CHECKED, until(10), False),
        (CHECKED, until(13), False),
        (CHECKED, until(12, column="id"), False),
        (CHECKED, WHOLE, False),
        (fault(part=until(12)), until(11), False),
    ],
)
def test_a_part_stands_for_one_fault(given: DataFault, part: IncidentScope, expected: bool) -> None:
    assert given.is_in(part) is expected


def test_micro_batches_that_follow_on_each_other_are_one_part() -> None:
    parts = [batches(7, 7), RUN, batches(3, 3), batches(4, 4), batches(4, 4, "p"), batches(5, 5, "p"), batches(3, 3)]
    assert joined([*parts, RUN, VERSION]) == [RUN, VERSION, batches(4, 5, "p"), batches(3, 4), batches(7, 7)]
