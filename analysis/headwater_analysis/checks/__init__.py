"""Rules that a trustworthy lineage graph fulfils, and the check for violations.

rules          the rules; `RULES` is the registry
findings       the answer: violations of each rule
exemptions     reviewed exemptions from a file
broken_chains  gaps and overlaps of micro-batches
run_checks     the question: runs the rules' statements
"""

from headwater_analysis.checks.exemptions import Exemption, ExemptionsError, read_exemptions
from headwater_analysis.checks.findings import (
    CheckedRule,
    Checks,
    Finding,
    Subject,
    UncheckedRule,
)
from headwater_analysis.checks.rules import RULES, rule_named
from headwater_analysis.checks.run_checks import check

__all__ = [
    "RULES",
    "CheckedRule",
    "Checks",
    "Exemption",
    "ExemptionsError",
    "Finding",
    "Subject",
    "UncheckedRule",
    "check",
    "read_exemptions",
    "rule_named",
]
