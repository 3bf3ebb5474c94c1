"""What a change does: which assets are hit, how badly, why, and who should do what.

change        what may be changed
policy        which step means what, and how bad that is; default_policy.toml is the one that holds by default
inputs        what else decides that: consumers, criticality, promises, sensitivity, state; stored_inputs looks them up
start         where a change begins in the graph; reach: how far a part of the data got
graph         small facts of the graph, a level at a time
moves         the steps that leave an asset
spread        how far it goes: `walk`, judged by the policy; steps: why an asset is hit, and the numbers of places
raising       what is judged otherwise for what depends on it
verdict       consumers of what changes itself, and what isn't known: what the answer as a whole comes to
wording       sentences, and Markdown for a ticket
answer        what is answered
analyze       the question answered, with caveats and the names, owners and hops of one page
"""

from headwater_consumers.analysis.impact.analyze import ImpactPage, analyze
from headwater_consumers.analysis.impact.answer import (
    Decision,
    Impact,
    ImpactedConsumer,
    ImpactedJob,
    ImpactHop,
    ImpactItem,
    Owner,
    SeverityTotal,
)
from headwater_consumers.analysis.impact.change import ChangeType, Extent, ImpactChange, SchemaChange
from headwater_consumers.analysis.impact.policy import (
    Policy,
    Severity,
    default_policy,
    default_policy_text,
    load_policy,
)
from headwater_consumers.analysis.impact.steps import Cause

__all__ = [
    "Cause",
    "ChangeType",
    "Decision",
    "Extent",
    "Impact",
    "ImpactChange",
    "ImpactHop",
    "ImpactItem",
    "ImpactPage",
    "ImpactedConsumer",
    "ImpactedJob",
    "Owner",
    "Policy",
    "SchemaChange",
    "Severity",
    "SeverityTotal",
    "analyze",
    "default_policy",
    "default_policy_text",
    "load_policy",
]
