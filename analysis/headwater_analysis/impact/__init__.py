"""Impact of a change: hit assets, severity, reasons, and actions for their owners.

change           changes, and the part of the data that a change affects
policy           severity of each step of a change; default_policy.toml is the default policy
policy_inputs    inputs of a policy: causes and facts of a step; consumers, criticality, promises, sensitivity
stored_inputs    inputs of assets, looked up in the graph
start            nodes where a change begins, and the datasets that a part of the data reached
graph            facts of the graph that the walk reads, one level at a time
moves            steps that leave an asset
spread           walk through the graph, judged by the policy; severities replaced because of dependants or state
verdict          overall answer: consumers of the changed asset itself, and gaps in the lineage
wording          sentences, and Markdown for a ticket
impacted_assets  the answer
analyze          the question answered, with caveats and the names, owners and hops of one page
"""

from headwater_analysis.impact.analyze import ImpactPage, analyze
from headwater_analysis.impact.change import ChangeType, Extent, ImpactChange, SchemaChange
from headwater_analysis.impact.impacted_assets import (
    Decision,
    Impact,
    ImpactedConsumer,
    ImpactedJob,
    ImpactHop,
    ImpactItem,
    ImpactOwner,
    SeverityTotal,
)
from headwater_analysis.impact.policy import (
    Policy,
    Severity,
    default_policy,
    default_policy_text,
    load_policy,
)
from headwater_analysis.impact.policy_inputs import Cause

__all__ = [
    "Cause",
    "ChangeType",
    "Decision",
    "Extent",
    "Impact",
    "ImpactChange",
    "ImpactHop",
    "ImpactItem",
    "ImpactOwner",
    "ImpactPage",
    "ImpactedConsumer",
    "ImpactedJob",
    "Policy",
    "SchemaChange",
    "Severity",
    "SeverityTotal",
    "analyze",
    "default_policy",
    "default_policy_text",
    "load_policy",
]
