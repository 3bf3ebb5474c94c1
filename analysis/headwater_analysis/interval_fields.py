"""Fields of a micro-batch's answers that are properties of its node.

A statement returns all properties of the node, `i {.*} AS interval`, and the fields of an answer take the properties
with the same names. So to add a field to an answer, declare it in the answer's class.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from headwater_analysis.moments import moment
from headwater_graph.facts.model import Label
from headwater_graph.facts.owners import REGISTERS
from headwater_graph.facts.properties import ENTRY_TIMES

_STORED: Final = frozenset({"key", "query", "query_id", "batch_id", *REGISTERS[Label.INTERVAL]})


def stored_fields(answer: type[Any]) -> tuple[str, ...]:
    """Fields of a dataclass that are properties of an Interval."""
    return tuple(field.name for field in dataclasses.fields(answer) if field.name in _STORED)


def stored_values(answer: type[Any], interval: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `stored_fields`; None for a property that the node lacks. Times are aware datetimes."""
    values = {name: interval.get(name) for name in stored_fields(answer)}
    return {name: moment(value) if name in ENTRY_TIMES else value for name, value in values.items()}
