"""Answer of `check`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """Dataset, job or consumer of a finding.

    Attributes:
        kind: DATASET, JOB or CONSUMER.
        key: key of the node; an exemption may name the subject by it.
        name: name with the namespace, in a spelling that questions accept; for a consumer only its name.
        owners: declared owners, else the owners that events report; for a dataset, under any of its names.
        table: name of a dataset in a catalog, `db.orders`; None if no catalog has it.
    """

    kind: str
    key: str
    name: str
    owners: tuple[str, ...]
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation of a rule.

    Attributes:
        id: keys of nodes; stable as long as the subject breaks the rule.
        subject: dataset, job or consumer that breaks the rule.
        message: description, as a sentence.
        since: time since when the rule is broken, where known.
        incident: id of the incident that the finding is about; None: it is about none.
    """

    id: str
    subject: Subject
    message: str
    since: datetime | None
    incident: str | None = None


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """Findings of one rule.

    Attributes:
        rule: name of the rule.
        title: requirement, as a sentence.
        fix: remedy for its findings, as a sentence.
        total: number of findings, without exempted findings.
        exempted: number of exempted findings.
        findings: findings of this page, in order of id.
        next_cursor: cursor of the rule's next page; None on the last page.
        unknown: clause on unknown facts that may break the rule as well; None: everything is known.
    """

    rule: str
    title: str
    fix: str
    total: int
    exempted: int
    findings: tuple[Finding, ...]
    next_cursor: str | None
    unknown: str | None = None


@dataclass(frozen=True, slots=True)
class UncheckedRule:
    """A rule that could not be checked, so that violations are unknown.

    Attributes:
        rule: name of the rule.
        title: requirement, as a sentence.
        reason: reason as a sentence, for example that the check took too long.
    """

    rule: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnusedExemption:
    """An exemption that exempts nothing.

    Attributes:
        rule, subject: rule and subject, as spelled in the file.
        line: line in the file.
        reason: EXPIRED; UNKNOWN_SUBJECT: nothing has this name; MENDED: the subject doesn't break the rule.
    """

    rule: str
    subject: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Checks:
    """Findings of all rules.

    Attributes:
        rules: each rule that was checked, in the registry's order.
        total: number of findings of all rules.
        exempted: number of exempted findings of all rules.
        unused: exemptions that exempt nothing.
        unchecked: rules that took too long: they have no findings here, but may be broken.
    """

    rules: tuple[CheckedRule, ...]
    total: int
    exempted: int
    unused: tuple[UnusedExemption, ...] = ()
    unchecked: tuple[UncheckedRule, ...] = ()
