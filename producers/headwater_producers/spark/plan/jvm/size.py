"""How large a plan's JSON would be, found out before Spark makes it in the driver's memory."""

from __future__ import annotations

from typing import Any

from headwater_producers.spark.plan.jvm.scala import items

_ATTRIBUTE_BYTES = 330
"""Of an attribute in the JSON without its type: class, name, the id with its UUID, flags."""

_FEW = 64
"""Up to so many expressions an operator isn't looked at more closely."""


def estimated_bytes(plan: Any, enough: int) -> int:
    """A rough size in bytes, within about a factor of two; stops counting beyond `enough`.

    An expression repeats the type of each column that it uses, a struct's with all its fields: 1,000 fields taken out
    of one struct are a million. So an operator is counted as its expressions times the mean type below it.
    """
    total, waiting = 0, [plan]
    while waiting and total <= enough:
        operator = waiting.pop()
        children = list(items(operator.children())) or list(items(operator.innerChildren()))
        waiting.extend(children)
        expressions = operator.expressions().size()
        if expressions <= _FEW:
            total += expressions * _ATTRIBUTE_BYTES
            continue
        used = operator.references()
        types = sum(len(str(child.schema().json())) for child in children)
        columns = max(1, used.size())
        total += expressions * (2 * _ATTRIBUTE_BYTES + types // columns)
    return total
