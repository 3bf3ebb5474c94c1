"""A graph dump in words, without what differs from run to run: times, ids and keys."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

_SHOWN = {"CHILD_OF", "DERIVES", "FEEDS", "INFLUENCES", "KNOWN_AS", "READS", "WRITES"}
_MARKS = ("possible", "declared")


def words(lines: Iterable[str]) -> str:
    """Datasets, runs with their outcomes, and edges, a line each: nodes go by name, and a run by that of its job."""
    parsed = [json.loads(line) for line in lines]
    nodes = {each["key"]: each for each in parsed if "labels" in each}
    edges = [each for each in parsed if "type" in each]
    owners = {each["end"]: _name(nodes[each["start"]]) for each in edges if each["type"] == "HAS_COLUMN"}

    def title(key: str) -> str:
        return f"{owners[key]}: {_name(nodes[key])}" if key in owners else _name(nodes[key])

    found = {line for node in nodes.values() for line in _node(node)}
    for each in edges:
        # How many micro-batches there are differs from run to run, too.
        if each["type"] == "OF" and "first_batch" in nodes[each["start"]]["properties"]:
            found.add(f"{title(each['end'])} has micro-batches")
        if each["type"] in _SHOWN:
            marks = [mark for mark in _MARKS if each["properties"].get(mark)]
            kind = " ".join([*([each["properties"]["kind"]] if "kind" in each["properties"] else []), *marks])
            found.add(f"{title(each['start'])} -{each['type']}-> {title(each['end'])} {kind}".rstrip())
    return "\n".join(sorted(found)) + "\n"


def _name(node: dict[str, Any]) -> str:
    properties = node["properties"]
    return str(properties.get("job_name") or properties["name"])


def _node(node: dict[str, Any]) -> list[str]:
    properties, label = node["properties"], node["labels"][0]
    name = _name(node)
    if label == "Dataset":
        return [f"dataset {properties['namespace']} {name}"]
    if label == "Job":
        line = f"job {properties['namespace']} {name}: {properties.get('integration')} {properties.get('job_type')}"
        return [line, *(f"job {name}: facet {facet}" for facet in properties.get("facet_names", ()))]
    if label == "Plan":
        return [f"plan of {name.rsplit(' ', 1)[0]}: {properties.get('incomplete_reason') or 'complete'}"]
    if label != "Run":
        return []
    lines = [f"run of {name}: {properties.get('state')}"]
    if "nominal_start" in properties:
        lines.append(f"run of {name}: has a nominal time")
    if "error_message" in properties:
        lines.append(f"run of {name}: error {properties['error_message']}")
    outcomes = zip(*(properties.get(f"quality_{each}", ()) for each in _OUTCOME), strict=True)
    lines += [f"run of {name}: quality {' '.join(map(str, outcome))}" for outcome in outcomes]
    return lines


_OUTCOME = ("datasets", "columns", "assertions", "rules", "severities", "passed")
