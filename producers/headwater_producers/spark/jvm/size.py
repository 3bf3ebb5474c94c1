"""Estimated size of a plan's JSON, before Spark makes it in the driver's memory."""

from __future__ import annotations

from typing import Any

import msgspec

from headwater_producers.spark.jvm.scala import items

_ATTRIBUTE_BYTES = 330
"""Bytes of an attribute in the JSON without its type: class, name, the id with its UUID, flags."""

_FEW = 64
"""Operators with at most this many expressions are assumed to use each column about once."""

_JSON_FOR_A_CHARACTER = 4
"""Ratio of a type's length as JSON to its length as `struct<id:bigint,…>`: 5 with short names, 2 with long ones."""


def estimated_bytes(plan: Any, enough: int) -> int:
    """Estimate the size of a plan's JSON in bytes, within about a factor of two; stops counting beyond `enough`.

    An expression repeats the type of each column that it uses, for a struct with all its fields: selecting 1,000 fields
    of one struct repeats a million fields. So an operator's size is the number of its expressions times the mean size
    of the used types. Some 8 round trips for each operator.
    """
    total, waiting = 0, [plan]
    while waiting and total <= enough:
        operator = waiting.pop()
        children = list(items(operator.children())) or list(items(operator.innerChildren()))
        waiting.extend(children)
        expressions = operator.expressions().size()
        if not expressions:
            continue
        used = operator.references()
        if expressions <= _FEW:
            schemas = [str(child.schema().json()) for child in children]
            total += expressions * (_ATTRIBUTE_BYTES + _mean_type(schemas, str(used.toString())))
            continue
        # The types of many columns are read as `catalogString`, which costs the JVM a tenth of their JSON.
        types = sum(len(str(child.schema().catalogString())) for child in children) * _JSON_FOR_A_CHARACTER
        total += expressions * (2 * _ATTRIBUTE_BYTES + types // max(1, used.size()))
    return total


def _mean_type(schemas: list[str], references: str) -> int:
    """Return the mean length of the types of the columns in `references`, which looks like `{id#3L, s#4}`."""
    names = {each.rsplit("#", 1)[0] for each in references[1:-1].split(", ")}
    sizes = [
        len(msgspec.json.encode(field["type"]))
        for schema in schemas
        for field in msgspec.json.decode(schema)["fields"]
        if field["name"] in names
    ]
    return sum(sizes) // len(sizes) if sizes else 0
