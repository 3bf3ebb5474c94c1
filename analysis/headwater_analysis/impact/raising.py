"""Raising: replacement of severities after the rules, by the asset's dependants and state.

A raise changes no path: only the rules decide where a change propagates. So raises are applied after the walk, for all
assets together, and only inputs that may matter to an asset are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from headwater_analysis.impact.change import ChangeType
from headwater_analysis.impact.graph import AssetFacts, ImpactGraph
from headwater_analysis.impact.inputs import InputGroup, SeverityInputs
from headwater_analysis.impact.policy import SEVERITIES, Policy
from headwater_analysis.impact.steps import ImpactVisit


class Raised(NamedTuple):
    """Replacement of a severity.

    Attributes:
        rank: rank of the new severity.
        number: number of the policy's `[[raise]]`, from 0.
    """

    rank: int
    number: int


def raised(
    graph: ImpactGraph,
    policy: Policy,
    change: ChangeType,
    makers: Mapping[ImpactVisit, Iterable[str]],
    facts: Mapping[int, AssetFacts],
) -> dict[ImpactVisit, Raised]:
    """Visits whose severity by the rules is replaced.

    Args:
        graph: graph to look up in.
        policy: policy with the raises, in order.
        change: type of the change.
        makers: keys of the jobs that make the asset of each visit, by visit.
        facts: facts of every node.
    """
    about = _may_fit(policy, change, makers, facts)
    if not about:
        return {}
    groups = {
        numbers: frozenset[InputGroup]().union(*(policy.raises[number].groups for number in numbers))
        for numbers in set(about.values())
    }
    inputs = _inputs(graph, {visit: groups[numbers] for visit, numbers in about.items()})
    by_jobs = [visit for visit, numbers in about.items() if InputGroup.JOBS in groups[numbers]]
    jobs = graph.critical_jobs({job for visit in by_jobs for job in makers[visit]}) if by_jobs else {}
    # Most assets have no inputs, or equal ones: `inputs` has one shared object for these, which is judged once.
    decided: dict[tuple[tuple[int, ...], int], int | None] = {}
    out = {}
    for visit, numbers in about.items():
        known = inputs[visit.node]
        if jobs and (made_by := [jobs[job] for job in makers[visit] if job in jobs]):
            known = replace(known, jobs=tuple(sorted(made_by, key=lambda job: (job.name, job.criticality))))
            number = _first_that_fits(policy, numbers, known)
        elif (numbers, id(known)) in decided:
            number = decided[numbers, id(known)]
        else:
            number = decided[numbers, id(known)] = _first_that_fits(policy, numbers, known)
        if number is not None:
            out[visit] = Raised(policy.raises[number].to.rank, number)
    return out


def _inputs(graph: ImpactGraph, groups_of: Mapping[ImpactVisit, frozenset[InputGroup]]) -> dict[int, SeverityInputs]:
    """Inputs of the visited assets, each with the groups that its visits need."""
    asked: dict[int, frozenset[InputGroup]] = {}
    for visit, wanted in groups_of.items():
        node = visit.node
        asked[node] = asked[node] | wanted if node in asked else wanted
    groups: dict[frozenset[InputGroup], list[int]] = {}
    for node, wanted in asked.items():
        groups.setdefault(wanted, []).append(node)
    inputs: dict[int, SeverityInputs] = {}
    for wanted, nodes in groups.items():
        inputs |= graph.inputs(nodes, wanted)
    return inputs


def _first_that_fits(policy: Policy, numbers: Iterable[int], known: SeverityInputs) -> int | None:
    return next((number for number in numbers if policy.raises[number].fits(known)), None)


def _may_fit(
    policy: Policy, change: ChangeType, visits: Iterable[ImpactVisit], facts: Mapping[int, AssetFacts]
) -> dict[ImpactVisit, tuple[int, ...]]:
    """Numbers of the raises that may apply, by visit. Most visits repeat an earlier combination."""
    found: dict[tuple[int, str, str], tuple[int, ...]] = {}
    out = {}
    for visit in visits:
        of = facts[visit.node]
        kind = (visit.rank, of.type, of.criticality)
        numbers = found.get(kind)
        if numbers is None:
            severity = SEVERITIES[kind[0]]
            numbers = found[kind] = tuple(
                number
                for number, each in enumerate(policy.raises)
                if each.may_fit(change, of.type, of.criticality, severity)
            )
        if numbers:
            out[visit] = numbers
    return out
