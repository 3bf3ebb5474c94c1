"""Conversion of stored nodes and relationships to facts, and of changed facts to properties to set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from headwater_graph import keys
from headwater_graph.facts.model import Label, RelType, UseKey
from headwater_graph.facts.nodes import Batches, NodeFacts, TimeSpan
from headwater_graph.facts.owners import REGISTERS, USE_REGISTERS
from headwater_graph.facts.properties import changes, exceptions, flatten, parse, stamped
from headwater_graph.facts.registers import Props, Registers
from headwater_graph.write.bolt import from_bolt


def created(node: NodeFacts) -> Props:
    """Return all properties of a new node."""
    return {**node.identity, **flatten(node.registers), **stamped(node.registers), **_span(node.seen)}


def read_node(label: Label, stored: Mapping[str, Any]) -> NodeFacts:
    """Return the facts of a stored node, without its identity."""
    seen = TimeSpan(stored.get("first_seen"), stored.get("last_seen"))
    return NodeFacts({}, parse(stored, REGISTERS.get(label, {})), seen)


def node_changes(stored: Mapping[str, Any], before: NodeFacts, after: NodeFacts) -> dict[str, Any]:
    """Return the properties to set so that a stored node equals `after`; empty if it does already."""
    out: dict[str, Any] = dict(changes(before.registers, after.registers))
    out.update({name: time for name, time in _span(after.seen).items() if stored.get(name) != time})
    if (base := stored.get("_stamp")) is None:
        out.update(stamped(after.registers))
    elif (texts := exceptions(after.registers, base)) != sorted(stored.get("_stamps", ())):
        out["_stamps"] = texts
    return out


def batch_changes(stored: Mapping[str, Any], incoming: Batches) -> dict[str, Any]:
    """Return the properties to set on a stored query or run so that its range of batches includes `incoming`."""
    known = Batches(stored.get("first_batch"), stored.get("last_batch"))
    known.see(incoming.first, incoming.last)
    return {name: batch for name, batch in known.properties().items() if stored.get(name) != batch}


def _span(seen: TimeSpan) -> Props:
    out: Props = {}
    if seen.first is not None:
        out["first_seen"] = seen.first
    if seen.last is not None:
        out["last_seen"] = seen.last
    return out


def read_uses(rows: Iterable[tuple[str, str, Mapping[str, Any]]], owner_stamp: str | None) -> dict[UseKey, Registers]:
    """Read the CONSUMED and PRODUCED of one owner from rows of type, dataset key and properties."""
    out: dict[UseKey, Registers] = {}
    for type_, dataset, properties in rows:
        use = UseKey(RelType(type_), dataset, properties.get("ordinal", 0))
        out[use] = parse(from_bolt(properties), USE_REGISTERS, owner_stamp)
    return out


def use_row(tenant: str, owner: str, use: UseKey, registers: Registers, owner_stamp: str | None) -> Props:
    """All properties of a CONSUMED or PRODUCED relationship."""
    out: Props = {"key": keys.use_key(tenant, use.type, owner, use.dataset, use.ordinal)}
    if use.ordinal:
        out["ordinal"] = use.ordinal
    return {**out, **flatten(registers), **stamped(registers, owner_stamp)}
