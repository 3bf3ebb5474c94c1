"""Check of the graph: each rule is one statement, which returns the exact number and the first findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from headwater_analysis import paging
from headwater_analysis.assets import dataset_asset, job_asset
from headwater_analysis.checks.exemptions import Exemption
from headwater_analysis.checks.findings import (
    CheckedRule,
    Checks,
    Finding,
    Subject,
    UncheckedRule,
    UnusedExemption,
)
from headwater_analysis.checks.rules import RULES, CheckRule
from headwater_analysis.declared import owners_by_key
from headwater_analysis.errors import AmbiguousError, NotFoundError, QuestionError, TimeLimitError
from headwater_analysis.identity import Identities, several_names
from headwater_analysis.moments import moment
from headwater_analysis.paging import check_limit
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.resolve import resolve_dataset, resolve_job
from headwater_graph.keys import consumer_key
from headwater_graph.segments import segment

OPEN_AFTER = timedelta(days=1)
"""A run without a reported end counts as stuck after this time without events or heartbeats."""


def check(
    reader: Reader,
    now: datetime,
    *,
    rules: Sequence[CheckRule] = RULES,
    exemptions: Sequence[Exemption] = (),
    open_after: timedelta = OPEN_AFTER,
    limit: int = 20,
    cursor: str | None = None,
) -> Checks:
    """Check the rules, each in a separate read transaction with a separate time limit.

    Args:
        now: current time, by which exemptions expire and open runs are judged.
        exemptions: accepted findings.
        open_after: maximum time without an event, for a run without an end.
        limit: maximum number of findings for each rule.
        cursor: `next_cursor` of the previous page; only if a single rule is checked.

    Raises:
        QuestionError: a cursor for several rules, a cursor of another question, or the limit isn't from 1 to 1,000.
        TimeLimitError: every rule took too long; the error names the first. If only some rules took too long, these are
            listed as unchecked.
    """
    check_limit(limit)
    if cursor is not None and len(rules) != 1:
        raise QuestionError("A cursor belongs to one rule: name the rule.", field="cursor")
    holding = [each for each in exemptions if each.until >= now.date()]
    unused = [
        UnusedExemption(each.rule, each.subject, each.line, "EXPIRED") for each in exemptions if each not in holding
    ]
    names: Mapping[str, list[str]] = {}
    too_late: TimeLimitError | None = None
    try:
        if any(rule.follows_names for rule in rules):
            names = reader.read(several_names)
    except TimeLimitError as error:
        too_late = error
    checked: list[CheckedRule] = []
    unchecked: list[UncheckedRule] = []
    late: TimeLimitError | None = None
    for rule in rules:
        own = [each for each in holding if each.rule == rule.name]
        question = partial(
            _checked, rule=rule, names=names, exemptions=own, now=now, open_after=open_after, limit=limit, cursor=cursor
        )
        try:
            if too_late is not None and rule.follows_names:
                raise too_late
            result, idle = reader.read(question)
        except TimeLimitError as error:
            late = late or TimeLimitError(error.seconds, rule.name)
            unchecked.append(
                UncheckedRule(rule.name, rule.title, f"No answer within the time limit of {error.seconds:g} s.")
            )
            continue
        checked.append(result)
        unused += idle
    if late is not None and not checked:
        raise late
    return Checks(
        tuple(checked),
        sum(each.total for each in checked),
        sum(each.exempted for each in checked),
        tuple(unused),
        tuple(unchecked),
    )


def _checked(
    tx: Transaction,
    *,
    rule: CheckRule,
    names: Mapping[str, list[str]],
    exemptions: Sequence[Exemption],
    now: datetime,
    open_after: timedelta,
    limit: int,
    cursor: str | None,
) -> tuple[CheckedRule, list[UnusedExemption]]:
    keys = {each: _keys(tx, each.subject) for each in exemptions}
    exempt = sorted({key for of_one in keys.values() for key in of_one})
    asked = ("check", tx.tenant, rule.name, exempt)
    after = paging.decode(cursor, question=asked, kinds=(str,))[0] if cursor is not None else ""
    given: dict[str, Any] = {
        "open_before": now - open_after,
        "segment": segment.SIZE,
        "limit": limit + 1,
        **({"names": names} if rule.follows_names else {}),
        **(rule.given(tx, now.date(), names) if rule.given is not None else {}),
    }
    row = tx.one(rule.statement, exempt=exempt, after=after, **given)
    found = row["found"]
    following = paging.encode((found[limit - 1]["id"],), question=asked) if found[limit:] else None
    unknown, left_out = rule.unknown(tx, exempt) if rule.unknown is not None else (None, set[str]())
    result = CheckedRule(
        rule.name,
        rule.title,
        rule.fix,
        row["total"] - row["exempted"],
        row["exempted"],
        _findings(tx, rule, found[:limit]),
        following,
        unknown,
    )
    return result, list(_idle(keys, left_out | set(row["met"])))


def _idle(keys: Mapping[Exemption, Sequence[str]], met: set[str]) -> Iterable[UnusedExemption]:
    """Exemptions without effect; `met` are the exempted keys with findings."""
    for exemption, own in keys.items():
        if not own:
            yield UnusedExemption(exemption.rule, exemption.subject, exemption.line, "UNKNOWN_SUBJECT")
        elif met.isdisjoint(own):
            yield UnusedExemption(exemption.rule, exemption.subject, exemption.line, "MENDED")


def _keys(tx: Transaction, subject: str) -> list[str]:
    """Keys of all nodes with this name: datasets (under each of their names), jobs and consumers."""
    keys = [row["key"] for row in tx.rows("checks/consumer", key=consumer_key(tx.tenant, subject))]
    for resolve in (resolve_dataset, resolve_job):
        try:
            key = resolve(tx, subject).asset.key
        except (NotFoundError, AmbiguousError):
            continue
        keys += Identities.of(tx).members(key) if resolve is resolve_dataset else [key]
    return keys


def _findings(tx: Transaction, rule: CheckRule, rows: Sequence[Mapping[str, Any]]) -> tuple[Finding, ...]:
    owners = owners_by_key(tx, [row["subject"] for row in rows])
    out = []
    for row in rows:
        own = row["subject"]
        table = None
        match row["kind"]:
            case "DATASET":
                asset = dataset_asset(own)
                name, table = asset.spelling, asset.table
            case "JOB":
                name = job_asset(own).spelling
            case _:
                name = own["name"]
        names = tuple(dict.fromkeys(owner.name for owner in owners[own["key"]]))
        subject = Subject(row["kind"], own["key"], name, names, table)
        out.append(Finding(row["id"], subject, rule.message(row), moment(row.get("since")), row.get("incident")))
    return tuple(out)
