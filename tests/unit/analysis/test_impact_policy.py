"""The policy: its verdict on each change, step by step, and the error for a file that isn't one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater_analysis.errors import QuestionError
from headwater_analysis.impact import Cause, ChangeType, Policy, SchemaChange, default_policy, load_policy
from headwater_analysis.impact.policy import Rule, default_policy_text, parse_policy
from headwater_analysis.impact.policy_inputs import StepFacts
from headwater_analysis.lineage.scope import Influence
from headwater_schemas.events import TransformationKind

# change, cause, kind ⇒ severity, whether it goes on. `~` before the kind: INDIRECT; `!` after it: masking.
# After the cause `:first`: the first hop; `:parted`: a column is reached that has fields of its own.
VERDICTS = """
REMOVED   JOB     -                     BREAKING    on
REMOVED   FLOW    ~-                    DEGRADED    on
REMOVED   VALUE   COPY                  BREAKING    on
REMOVED   VALUE   CAST                  BREAKING    on
REMOVED   VALUE   AGGREGATE             BREAKING    on
REMOVED   VALUE   AGGREGATE!            BREAKING    on
REMOVED   VALUE   HASH!                 BREAKING    on
REMOVED   VALUE   EXTERNAL              BREAKING    on
REMOVED   VALUE   UNKNOWN               DEGRADED    on
REMOVED   CHOICE  ~CONDITIONAL          BREAKING    on
REMOVED   LOOKUP  ~JOIN_DEPENDENCY      BREAKING    on
REMOVED   ROWS    ~FILTER_DEPENDENCY    BREAKING    on
REMOVED   ROWS    ~JOIN_DEPENDENCY      BREAKING    on
REMOVED   ROWS    ~GROUP_DEPENDENCY     BREAKING    on
REMOVED   ROWS    ~SORT_DEPENDENCY      DEGRADED    ends
REMOVED   UNSEEN  ~UNKNOWN              DEGRADED    ends
RENAMED   VALUE   DERIVE                BREAKING    on
RENAMED   ROWS    ~JOIN_DEPENDENCY      BREAKING    on
RETYPED   VALUE   COPY                  BREAKING    on
RETYPED   VALUE   CAST                  DEGRADED    on
RETYPED   VALUE   HASH!                 BREAKING    on
RETYPED   VALUE   AGGREGATE             DEGRADED    on
RETYPED   ROWS    ~JOIN_DEPENDENCY      DEGRADED    on
RETYPED   ROWS    ~GROUP_DEPENDENCY     DEGRADED    ends
NULLABILITY VALUE COPY                  DEGRADED    on
NULLABILITY VALUE AGGREGATE             COSMETIC    ends
NULLABILITY ROWS  ~JOIN_DEPENDENCY      DEGRADED    on
NULLABILITY ROWS  ~GROUP_DEPENDENCY     COSMETIC    ends
ENUM      CHOICE  ~CONDITIONAL          DEGRADED    on
ENUM      LOOKUP  ~JOIN_DEPENDENCY      DEGRADED    on
ENUM      ROWS    ~FILTER_DEPENDENCY    DEGRADED    on
ENUM      ROWS    ~GROUP_DEPENDENCY     COSMETIC    ends
ENUM      VALUE   COPY                  COSMETIC    on
ENUM      VALUE   DERIVE                DEGRADED    on
ENUM      VALUE   AGGREGATE             COSMETIC    ends
ENUM      UNSEEN  ~UNKNOWN              DEGRADED    ends
UNIT      VALUE   COPY                  DEGRADED    on
UNIT      VALUE   AGGREGATE             DEGRADED    on
UNIT      VALUE   AGGREGATE!            NONE        ends
UNIT      CHOICE  ~CONDITIONAL          DEGRADED    on
UNIT      ROWS    ~SORT_DEPENDENCY      COSMETIC    ends
UNIT      ROWS    ~FILTER_DEPENDENCY    DEGRADED    on
UNIT      UNSEEN  ~UNKNOWN              DEGRADED    ends
MEANING   VALUE   AGGREGATE!            NONE        ends
MEANING   ROWS    ~SORT_DEPENDENCY      DEGRADED    on
MEANING   FLOW    -                     DEGRADED    on
PARTITIONING FLOW -                     DEGRADED    ends
DATA_INCORRECT VALUE COPY               TAINTED     on
DATA_INCORRECT VALUE AGGREGATE          TAINTED     on
DATA_INCORRECT VALUE AGGREGATE!         WARNING     on
DATA_INCORRECT VALUE EXTERNAL           WARNING     on
DATA_INCORRECT VALUE ~COPY              WARNING     on
DATA_INCORRECT ROWS ~JOIN_DEPENDENCY    WARNING     on
DATA_INCORRECT ROWS ~SORT_DEPENDENCY    INFO        ends
DATA_INCORRECT CHOICE ~CONDITIONAL      WARNING     on
DATA_INCORRECT FLOW -                   TAINTED     on
DATA_INCORRECT FLOW ~-                  WARNING     on
DATA_INCORRECT UNSEEN ~UNKNOWN          WARNING     on
FRESHNESS_BREACH FLOW -                 WARNING     on
PRIVACY_RECLASSIFICATION VALUE COPY     RESTRICTED  on
PRIVACY_RECLASSIFICATION VALUE EXTERNAL RESTRICTED  on
PRIVACY_RECLASSIFICATION VALUE AGGREGATE RESTRICTED on
PRIVACY_RECLASSIFICATION VALUE AGGREGATE! INFO      ends
PRIVACY_RECLASSIFICATION VALUE HASH     INFO        ends
PRIVACY_RECLASSIFICATION VALUE MASK     INFO        ends
PRIVACY_RECLASSIFICATION CHOICE ~CONDITIONAL WARNING on
PRIVACY_RECLASSIFICATION ROWS ~JOIN_DEPENDENCY INFO ends
PRIVACY_RECLASSIFICATION UNSEEN ~UNKNOWN WARNING    on
ASSET_DEPRECATED FLOW -                 INFO        on
BACKFILL_RESTATEMENT FLOW -             WARNING     on
BACKFILL_RESTATEMENT VALUE AGGREGATE    TAINTED     on
BACKFILL_RESTATEMENT VALUE COPY         WARNING     on
BACKFILL_RESTATEMENT ROWS ~SORT_DEPENDENCY INFO     ends
BACKFILL_RESTATEMENT ROWS ~FILTER_DEPENDENCY WARNING on
REMOVED   VALUE:parted COPY             DEGRADED    on
RENAMED   VALUE:parted COPY             DEGRADED    on
RETYPED   VALUE:parted COPY             DEGRADED    on
RETYPED   VALUE:parted CAST             DEGRADED    on
NULLABILITY VALUE:parted COPY           DEGRADED    on
RENAMED   JOB     -                     BREAKING    on
RENAMED   FLOW    -                     DEGRADED    on
RENAMED   VALUE   UNKNOWN               DEGRADED    on
RENAMED   CHOICE  ~CONDITIONAL          BREAKING    on
RENAMED   LOOKUP  ~JOIN_DEPENDENCY      BREAKING    on
RENAMED   ROWS    ~SORT_DEPENDENCY      DEGRADED    ends
RETYPED   VALUE   RENAME                BREAKING    on
RETYPED   ROWS    ~SORT_DEPENDENCY      DEGRADED    ends
NULLABILITY VALUE RENAME                DEGRADED    on
NULLABILITY VALUE CAST                  DEGRADED    on
NULLABILITY VALUE DERIVE                DEGRADED    on
NULLABILITY VALUE EXTERNAL              DEGRADED    on
NULLABILITY VALUE UNKNOWN               DEGRADED    on
NULLABILITY CHOICE ~CONDITIONAL         DEGRADED    on
NULLABILITY CHOICE ~WINDOW_DEPENDENCY   COSMETIC    ends
NULLABILITY LOOKUP ~JOIN_DEPENDENCY     DEGRADED    on
NULLABILITY ROWS  ~FILTER_DEPENDENCY    DEGRADED    on
NULLABILITY ROWS  ~SORT_DEPENDENCY      COSMETIC    ends
NULLABILITY UNSEEN ~UNKNOWN             DEGRADED    ends
NULLABILITY FLOW  ~-                    DEGRADED    ends
ADDED     JOB     -                     DEGRADED    ends
ADDED     FLOW:first -                  COSMETIC    ends
ADDED     VALUE:first COPY              COSMETIC    ends
ADDED     VALUE   COPY                  DEGRADED    ends
ADDED     VALUE   UNKNOWN               DEGRADED    ends
ADDED     VALUE   HASH!                 DEGRADED    ends
ADDED     VALUE   AGGREGATE!            DEGRADED    ends
ADDED     VALUE:parted COPY             DEGRADED    ends
ADDED     LOOKUP  ~JOIN_DEPENDENCY      DEGRADED    ends
REMOVED   UNSEEN:first ~UNKNOWN         DEGRADED    ends
ENUM      ROWS    ~JOIN_DEPENDENCY      DEGRADED    on
ENUM      VALUE   RENAME                COSMETIC    on
ENUM      VALUE   CAST                  DEGRADED    on
ENUM      VALUE   EXTERNAL              DEGRADED    on
ENUM      VALUE   UNKNOWN               DEGRADED    on
UNIT      VALUE   HASH!                 DEGRADED    on
UNIT      LOOKUP  ~JOIN_DEPENDENCY      DEGRADED    on
UNIT      ROWS    ~GROUP_DEPENDENCY     COSMETIC    ends
PARTITIONING FLOW:first -               DEGRADED    ends
DATA_INCORRECT VALUE HASH!              TAINTED     on
DATA_INCORRECT VALUE UNKNOWN            WARNING     on
FRESHNESS_BREACH FLOW:first -           BLOCKING    on
PRIVACY_RECLASSIFICATION VALUE ~AGGREGATE WARNING   on
PRIVACY_RECLASSIFICATION FLOW ~-        WARNING     on
ASSET_DEPRECATED FLOW:first -           BLOCKING    on
"""

COMPATIBLE = """
RETYPED   VALUE   COPY                  COSMETIC    on
RETYPED   VALUE   HASH!                 DEGRADED    on
RETYPED   VALUE   CAST                  DEGRADED    ends
RETYPED   VALUE   AGGREGATE             NONE        ends
RETYPED   ROWS    ~JOIN_DEPENDENCY      NONE        ends
NULLABILITY VALUE COPY                  NONE        ends
ADDED     UNSEEN  ~UNKNOWN              NONE        ends
ENUM      ROWS    ~FILTER_DEPENDENCY    DEGRADED    on
ENUM      VALUE   COPY                  COSMETIC    on
ENUM      VALUE   CAST                  DEGRADED    on
ENUM      VALUE   HASH!                 COSMETIC    ends
ENUM      CHOICE  ~CONDITIONAL          DEGRADED    on
ADDED     VALUE:first COPY              COSMETIC    ends
ADDED     VALUE   HASH!                 NONE        ends
ADDED     VALUE   CAST                  NONE        ends
RETYPED   VALUE   RENAME                COSMETIC    on
"""


def step(cause: str, kind: str, *, first: bool = False, type_: str = "", criticality: str = "") -> StepFacts:
    indirect, masking, plain = kind.startswith("~"), kind.endswith("!"), kind.strip("~!")
    influence = Influence.INDIRECT if indirect else Influence.DIRECT
    cause, _, mark = cause.partition(":")
    return StepFacts(
        cause=Cause(cause),
        influence=influence,
        kind=None if plain == "-" else plain,
        masking=masking,
        first=first or mark == "first",
        type=type_,
        criticality=criticality,
        parted=mark == "parted",
    )


def cases(table: str) -> list[list[str]]:
    return [line.split() for line in table.strip().splitlines()]


def judged(change: str, step: StepFacts, of_schema: ChangeType = ChangeType.SCHEMA_BREAKING) -> tuple[str, str]:
    schema = SchemaChange(change) if change in SchemaChange.__members__ else None
    severity, goes_on, _ = default_policy().judge(ChangeType(change) if schema is None else of_schema, schema, step)
    return severity.value, "on" if goes_on else "ends"


def test_default_policy(subtests: pytest.Subtests) -> None:
    for change, cause, kind, severity, then in cases(VERDICTS):
        with subtests.test(change=change, cause=cause, kind=kind):
            assert judged(change, step(cause, kind)) == (severity, then)


def test_compatible_changes(subtests: pytest.Subtests) -> None:
    for change, cause, kind, severity, then in cases(COMPATIBLE):
        with subtests.test(change=change, cause=cause, kind=kind):
            assert judged(change, step(cause, kind), ChangeType.SCHEMA_COMPATIBLE) == (severity, then)


_STEPS = st.builds(
    StepFacts,
    st.sampled_from(Cause),
    st.sampled_from(Influence),
    st.none() | st.sampled_from(TransformationKind).map(str),
    st.booleans(),
    st.booleans(),
    st.text(max_size=3),
    st.text(max_size=3),
    st.booleans(),
)


@given(st.sampled_from(ChangeType), st.none() | st.sampled_from(SchemaChange), _STEPS)
def test_every_step_is_decided_on_the_scale_of_its_change(
    change: ChangeType, schema: SchemaChange | None, step: StepFacts
) -> None:
    severity, _, number = default_policy().judge(change, schema if change.of_schema else None, step)
    assert severity.of_schema == change.of_schema
    assert change in default_policy().rules[number].change


MISTAKES = {
    "a value that isn't one": ('severity = "TAINTED"', 'severity = "AWFUL"', "rule[{n}].severity", "'CRITICAL'"),
    "the other scale": ('severity = "TAINTED"', 'severity = "BREAKING"', "rule[{n}].severity", "isn't a severity of"),
    "an unknown field": ('severity = "TAINTED"', 'severty = "TAINTED"', "rule[{n}].severty", "`severity`"),
    "no truth value": ("propagate = true", 'propagate = "perhaps"', "propagate", "boolean"),
    "an unknown kind": ('kind = ["UNKNOWN"]', 'kind = ["GUESS"]', "rule[{n}].kind[0]", "'COPY'"),
    "an unknown placeholder": ("Change {job} before", "Change {jobs} before", "rule[0].action", "{{job}}"),
    "braces": ("Change {job} before", "Change {job before", "rule[0].action", "braces"),
    "an unknown table": ("[reading]", "[writing]", "writing", "unknown; did you mean `reading`?"),
}


def test_a_mistake_is_reported_with_line_and_field(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for mistake, (before, after, field, message) in MISTAKES.items():
        with subtests.test(mistake=mistake):
            text = default_policy_text()
            at = text.index(before, text.index("[reading]"))
            line = text.count("\n", 0, at) + 1
            rule = text.count("[[rule]]", 0, at) - 1
            path = tmp_path / "policy.toml"
            path.write_text(text[:at] + after + text[at + len(before) :], encoding="utf-8")
            with pytest.raises(QuestionError) as refused:
                load_policy(path)
            assert refused.value.field == "policy"
            lines = [each for each in str(refused.value).splitlines() if each.startswith(f"{path}:{line}: ")]
            assert any(field.format(n=rule) in each and message.format() in each for each in lines), str(refused.value)


def test_every_type_of_change_has_a_last_word(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    rule = '[[rule]]\nchange = ["DATA_INCORRECT"]\nseverity = "INFO"\npropagate = true\nreason = "r"\naction = "a"\n'
    path.write_text(rule, encoding="utf-8")
    with pytest.raises(QuestionError, match="no rule fits every SCHEMA_BREAKING"):
        load_policy(path)


def test_no_policy_at_all(subtests: pytest.Subtests, tmp_path: Path) -> None:
    cases = [
        (b"rule = [", "is no TOML"),
        (b"\xff\xfe", "isn't UTF-8 at byte 0"),
        (b"# " + b"x" * 1_000_001, "larger than 1,000,000 bytes"),
        (b"", "rule: is missing"),
    ]
    for content, message in cases:
        with subtests.test(content=content):
            path = tmp_path / "policy.toml"
            path.write_bytes(content)
            with pytest.raises(QuestionError, match=message):
                load_policy(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(QuestionError, match="can't be read: No such file"):
        load_policy(tmp_path / "none.toml")
    with pytest.raises(QuestionError, match="can't be read: Is a directory"):
        load_policy(tmp_path)


_KINDS_OF = {
    Cause.VALUE: ("COPY", "RENAME", "CAST", "DERIVE", "HASH", "MASK", "AGGREGATE", "EXTERNAL", "UNKNOWN"),
    Cause.CHOICE: ("CONDITIONAL", "WINDOW_DEPENDENCY"),
    Cause.LOOKUP: ("JOIN_DEPENDENCY",),
    Cause.ROWS: ("FILTER_DEPENDENCY", "JOIN_DEPENDENCY", "GROUP_DEPENDENCY", "SORT_DEPENDENCY"),
    Cause.JOB: (None,),
    Cause.FLOW: (None,),
    Cause.UNSEEN: ("UNKNOWN",),
}
_INDIRECT = (Cause.CHOICE, Cause.LOOKUP, Cause.ROWS, Cause.UNSEEN)
Case = tuple[ChangeType, SchemaChange | None, StepFacts]


def possible_cases() -> Iterator[Case]:
    """Every step that there can be: kind and influence go with the cause, values alone are masked or have fields."""
    for change in ChangeType:
        for schema in SchemaChange if change.of_schema else [None]:
            for cause, influence, first, parted in itertools.product(Cause, Influence, (False, True), (False, True)):
                for kind, masking in itertools.product(_KINDS_OF[cause], (False, True)):
                    is_value, is_direct = cause is Cause.VALUE, influence is Influence.DIRECT
                    if (is_value or not (masking or parted)) and not (is_direct and cause in _INDIRECT):
                        yield change, schema, StepFacts(cause, influence, kind, masking, first, "", "", parted)


def cases_of_the_tables() -> list[Case]:
    found: list[Case] = []
    for table, of_schema in ((VERDICTS, ChangeType.SCHEMA_BREAKING), (COMPATIBLE, ChangeType.SCHEMA_COMPATIBLE)):
        for change, cause, kind, _, _ in cases(table):
            schema = SchemaChange(change) if change in SchemaChange.__members__ else None
            found.append((ChangeType(change) if schema is None else of_schema, schema, step(cause, kind)))
    return found


def looser_and_tighter(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """The rule without one of its conditions, and without one of several values of a condition."""
    for field in ("change", "schema_change", "cause", "influence", "kind", "masking", "first", "parted"):
        value = getattr(rule, field)
        if value not in (None, ()) and field != "change":
            yield f"{field} isn't asked for", rule.model_copy(update={field: () if isinstance(value, tuple) else None})
        if isinstance(value, tuple) and len(value) > 1:
            for each in value:
                yield f"{field} {each}", rule.model_copy(update={field: tuple(v for v in value if v != each)})


def test_the_tables_have_a_case_for_each_condition_of_each_rule() -> None:
    """One that the rule decides by each value, and one that it would decide but for the condition."""
    policy = default_policy()
    tables, possible = cases_of_the_tables(), list(possible_cases())
    assert {policy.judge(*case)[2] for case in tables} == set(range(len(policy.rules)))
    missing = []
    for number, rule in enumerate(policy.rules):
        for name, other in looser_and_tighter(rule):
            changed = policy.model_copy(update={"rules": (*policy.rules[:number], other, *policy.rules[number + 1 :])})
            if not any(differs(policy, changed, rule, other, case) for case in tables):
                # A condition may say what follows from the others, for the reader.
                missing += [
                    f"rule {number + 1}, {name}: {case}"
                    for case in possible
                    if differs(policy, changed, rule, other, case)
                ][:1]
    assert missing == []


def differs(policy: Policy, changed: Policy, rule: Rule, other: Rule, case: Case) -> bool:
    """True when a case is decided otherwise with the changed rule."""
    return rule.fits(*case) != other.fits(*case) and policy.judge(*case)[:2] != changed.judge(*case)[:2]


def test_a_policy_of_ones_own() -> None:
    text = default_policy_text().replace(
        "[reading]",
        '[[rule]]\nchange = ["DATA_INCORRECT"]\ntype = ["topic"]\ncriticality = ["Gold"]\nseverity = "BLOCKING"\n'
        'propagate = false\nreason = "{asset} is gold"\naction = "Stop {job}."\n\n[reading]',
        1,
    )
    policy = parse_policy(text, "mine")
    gold = step("VALUE", "COPY", type_="TOPIC", criticality="gold")
    assert policy.judge(ChangeType.DATA_INCORRECT, None, gold)[:2] == ("BLOCKING", False)
    plain = step("VALUE", "COPY", type_="TABLE", criticality="gold")
    assert policy.judge(ChangeType.DATA_INCORRECT, None, plain)[0] == "TAINTED"
    assert policy.binds_late("topic")
    assert not policy.binds_late(None)
