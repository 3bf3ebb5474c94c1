"""What a change does: which assets are hit, how badly, why, and who should do what.

change        what may be changed
severity      how bad it is
policy        which step means what; policy_file reads it, default_policy.toml is the one that holds by default
start         where a change begins in the graph
graph         small facts of the graph, a level at a time
moves         the steps that leave an asset
spread        how far it goes: `walk`, judged by the policy; place numbers where it comes to
caveats       what else to know before it reads as nothing
details       names, owners and hops of one page
wording       sentences; summary: Markdown for a ticket
answer        what is said
analyze       the question answered
"""

from headwater_consumers.analysis.impact.analyze import Page, analyze
from headwater_consumers.analysis.impact.answer import (
    Impact,
    ImpactedJob,
    ImpactHop,
    ImpactItem,
    Owner,
    SeverityTotal,
)
from headwater_consumers.analysis.impact.change import Change, ChangeType, Extent, SchemaChange
from headwater_consumers.analysis.impact.policy import Policy
from headwater_consumers.analysis.impact.policy_file import default_policy, default_policy_text, load_policy
from headwater_consumers.analysis.impact.severity import Severity
from headwater_consumers.analysis.impact.steps import Cause

__all__ = [
    "Cause",
    "Change",
    "ChangeType",
    "Extent",
    "Impact",
    "ImpactHop",
    "ImpactItem",
    "ImpactedJob",
    "Owner",
    "Page",
    "Policy",
    "SchemaChange",
    "Severity",
    "SeverityTotal",
    "analyze",
    "default_policy",
    "default_policy_text",
    "load_policy",
]
