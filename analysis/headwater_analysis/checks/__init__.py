"""Rules that a lineage graph has to fulfil to be trusted, and what breaks them.

rule          a rule, and a finding of it
rules         the rules, a file for each concept; `RULES` is the registry
exemptions    reviewed exemptions from a file
ask           the rules against the graph
"""

from headwater_analysis.checks.answer import (
    CheckedRule,
    Checks,
    Finding,
    Subject,
    UncheckedRule,
    UnusedExemption,
)
from headwater_analysis.checks.ask import check
from headwater_analysis.checks.exemptions import Exemption, ExemptionsError, read_exemptions
from headwater_analysis.checks.rules import RULES, rule_named

__all__ = [
    "RULES",
    "CheckedRule",
    "Checks",
    "Exemption",
    "ExemptionsError",
    "Finding",
    "Subject",
    "UncheckedRule",
    "UnusedExemption",
    "check",
    "read_exemptions",
    "rule_named",
]
