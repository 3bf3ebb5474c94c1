"""Raising: after the rules, a severity may be another one, by what depends on the asset and what is known of it.

It changes no path: where a change goes on is the rules' alone. So it is decided when all is reached, for all assets
together, and looks up only what the policy asks of assets that it may be about.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from headwater_consumers.analysis.impact.change import ChangeType
from headwater_consumers.analysis.impact.graph import AssetFacts, ImpactGraph
from headwater_consumers.analysis.impact.inputs import InputGroup, SeverityInputs
from headwater_consumers.analysis.impact.policy import SEVERITIES, Policy
from headwater_consumers.analysis.impact.steps import node_of, rank_of


class Raised(NamedTuple):
    """A severity that another one stands for.

    Attributes:
        rank: of what holds instead.
        number: of the policy's `[[raise]]`, from 0.
    """

    rank: int
    number: int


def raised(
    graph: ImpactGraph,
    policy: Policy,
    change: ChangeType,
    makers: Mapping[int, Iterable[str]],
    facts: Mapping[int, AssetFacts],
) -> dict[int, Raised]:
    """The places whose severity by the rules doesn't hold.

    Args:
        graph: to look up in.
        policy: whose raises are tried, in order.
        change: what it is.
        makers: every place that was reached, and keys of the jobs that make its asset so.
        facts: of every node.
    """
    about = _may_fit(policy, change, makers, facts)
    if not about:
        return {}
    groups = {
        numbers: frozenset[InputGroup]().union(*(policy.raises[number].groups for number in numbers))
        for numbers in set(about.values())
    }
    inputs = _inputs(graph, {place: groups[numbers] for place, numbers in about.items()})
    by_jobs = [place for place, numbers in about.items() if InputGroup.JOBS in groups[numbers]]
    jobs = graph.critical_jobs({job for place in by_jobs for job in makers[place]}) if by_jobs else {}
    # Of most assets nothing is known, or the same: `inputs` has one object for all of these, which is asked about once.
    decided: dict[tuple[tuple[int, ...], int], int | None] = {}
    out = {}
    for place, numbers in about.items():
        known = inputs[node_of(place)]
        if jobs and (made_by := [jobs[job] for job in makers[place] if job in jobs]):
            known = replace(known, jobs=tuple(sorted(made_by, key=lambda job: (job.name, job.criticality))))
            number = _first_that_fits(policy, numbers, known)
        elif (numbers, id(known)) in decided:
            number = decided[numbers, id(known)]
        else:
            number = decided[numbers, id(known)] = _first_that_fits(policy, numbers, known)
        if number is not None:
            out[place] = Raised(policy.raises[number].to.rank, number)
    return out


def _inputs(graph: ImpactGraph, groups_of: Mapping[int, frozenset[InputGroup]]) -> dict[int, SeverityInputs]:
    """Of the nodes of places, what has to be known of each place."""
    asked: dict[int, frozenset[InputGroup]] = {}
    for place, wanted in groups_of.items():
        node = node_of(place)
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
    policy: Policy, change: ChangeType, places: Iterable[int], facts: Mapping[int, AssetFacts]
) -> dict[int, tuple[int, ...]]:
    """By place, numbers of the raises that may be about it. Most places are like one before."""
    found: dict[tuple[int, str, str], tuple[int, ...]] = {}
    out = {}
    for place in places:
        of = facts[node_of(place)]
        kind = (rank_of(place), of.type, of.criticality)
        numbers = found.get(kind)
        if numbers is None:
            severity = SEVERITIES[kind[0]]
            numbers = found[kind] = tuple(
                number
                for number, each in enumerate(policy.raises)
                if each.may_fit(change, of.type, of.criticality, severity)
            )
        if numbers:
            out[place] = numbers
    return out
