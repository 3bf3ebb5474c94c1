"""Answer of `check`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Subject:
    """Dataset, job or consumer that a finding is about.

    Attributes:
        kind: DATASET, JOB or CONSUMER.
        key: of the node: an exemption may name it.
        name: as questions take it, with its namespace; of a consumer its name.
        owners: whom to ask: those that are declared, else those that events report; under each name of a dataset.
        table: what a catalog calls a dataset: `db.orders`; None where none does.
    """

    kind: str
    key: str
    name: str
    owners: tuple[str, ...]
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """One place where a rule is broken.

    Attributes:
        id: the same as long as the place is: keys of nodes.
        subject: whose it is.
        message: what is so, as a sentence.
        since: since when, where that is known.
    """

    id: str
    subject: Subject
    message: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """Findings of one rule.

    Attributes:
        rule: its name.
        title: what it requires.
        fix: what to do about its findings.
        total: how many places break it, exemptions left out.
        exempted: how many more are exempted.
        findings: the first of them, in order of id.
        next_cursor: where the next page of this rule begins; None on the last.
        unknown: what isn't known and may break the rule as well, as a clause; None: everything is.
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
    """A rule that isn't known to hold or to be broken.

    Attributes:
        rule: its name.
        title: what it requires.
        reason: why it isn't known, as a sentence: it took too long.
    """

    rule: str
    title: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnusedExemption:
    """An exemption that exempts nothing.

    Attributes:
        rule, subject: as the file has them.
        line: of the file.
        reason: EXPIRED, UNKNOWN_SUBJECT: nothing is called so, or MENDED: the rule isn't broken there.
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
        total: findings of all of them.
        exempted: findings that are exempted, of all.
        unused: exemptions that exempt nothing.
        unchecked: rules that took too long: without findings, they may be broken all the same.
    """

    rules: tuple[CheckedRule, ...]
    total: int
    exempted: int
    unused: tuple[UnusedExemption, ...] = ()
    unchecked: tuple[UncheckedRule, ...] = ()
