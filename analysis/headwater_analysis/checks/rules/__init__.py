"""The rules."""

from __future__ import annotations

import difflib

from headwater_analysis.checks.rule import CheckRule
from headwater_analysis.checks.rules import (
    chains,
    declared,
    drift,
    lineage,
    orphans,
    quality,
    runs,
    versions,
)
from headwater_analysis.errors import QuestionError

RULES: tuple[CheckRule, ...] = (
    versions.WITHOUT_RUN,
    versions.FROM_OUTSIDE,
    runs.WITHOUT_CODE_VERSION,
    runs.OPEN_TOO_LONG,
    chains.BROKEN,
    quality.FAILED,
    lineage.INCOMPLETE,
    drift.DATASETS,
    drift.COLUMNS,
    drift.SCHEMAS,
    orphans.DATASETS,
    orphans.JOBS,
    declared.CERTIFIED,
    declared.CONSUMERS,
    declared.SENSITIVE,
)
"""In the order of reports."""

_BY_NAME = {rule.name: rule for rule in RULES}


def rule_named(name: str) -> CheckRule:
    """The rule of that name.

    Raises:
        QuestionError: there is none; with the nearest.
    """
    if (rule := _BY_NAME.get(name)) is not None:
        return rule
    nearest = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.0)
    raise QuestionError(f"There is no rule {name!r}; the nearest is {nearest[0]!r}.", field="rule")
