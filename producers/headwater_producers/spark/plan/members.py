"""Members of arrays and maps that the query builds: `array(x, y)[0]` is x, `map('a', x, 'b', y)['b']` is y.

The column of such an array or map has each member as a part, by `member_step`, and one more part, null, for all members
that it doesn't have. The result of a function without a rule for members has no such parts: each element may come from
any member.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation

from headwater_producers.spark.plan.column import CONSTANT, ELEMENT, REST, VALUE, ValueLineage, member_step
from headwater_producers.spark.plan.structure import members, merge, part

MAX_MEMBERS = 64
"""Maximum number of members: larger ones are mostly lists of constants, and each member costs a column."""

NOTHING = ValueLineage(CONSTANT, text="null", constants=frozenset())
"""Column of a missing member or field."""
_INTEGERS = frozenset({"byte", "short", "integer", "long"})


def array_members(values: Sequence[ValueLineage]) -> dict[str, ValueLineage]:
    """Return the members of an array with exactly these elements, by index from its start and its end, and the rest."""
    if len(values) > MAX_MEMBERS:
        return {}
    known = {member_step(ELEMENT, REST): NOTHING}
    for index, value in enumerate(values):
        known[member_step(ELEMENT, str(index))] = known[member_step(ELEMENT, str(index - len(values)))] = value
    return known


def map_members(keys: Sequence[ValueLineage], values: Sequence[ValueLineage]) -> dict[str, ValueLineage]:
    """Return the members of a map with exactly these entries; empty if a key is unknown."""
    by_key: dict[str, list[ValueLineage]] = {}
    for key, value in zip(keys, values, strict=False):
        known = constant_key(key)
        if known is None or len(by_key) == MAX_MEMBERS:
            return {}
        by_key.setdefault(known, []).append(value)
    # If two entries have the same key, Spark keeps the last or fails, depending on the session.
    found = {member_step(VALUE, key): merge(items, key) for key, items in by_key.items()}
    return {**found, member_step(VALUE, REST): NOTHING}


def array_items(array: ValueLineage) -> list[ValueLineage] | None:
    """Return all elements of an array, in order; None if unknown, as in an array that is one of two arrays."""
    known = members(array, ELEMENT)
    if known.get(member_step(ELEMENT, REST)) != NOTHING:
        return None
    return [known[step] for i in range(len(known)) if (step := member_step(ELEMENT, str(i))) in known]


def united_maps(maps: Sequence[ValueLineage]) -> dict[str, ValueLineage]:
    """Return the members of `map_concat(…)`: the last map with a key wins; a map with unknown keys may have any key."""
    rest = member_step(VALUE, REST)
    steps = dict.fromkeys([rest, *(step for item in maps for step in members(item, VALUE))])
    found = {}
    for step in steps:
        values = []
        for item in reversed(maps):
            values.append(part(item, step))
            if step in item.parts and step != rest:
                break
        found[step] = merge(values, "union")
    return found


def index_step(call_name: str, index: ValueLineage) -> str | None:
    """Return the step to an array's member by a constant index: from 0 in `a[i]`, from 1 in `element_at`; else None."""
    key = constant_key(index)
    if key is None or index.type not in _INTEGERS:
        return None
    number = int(key)
    if call_name == "ElementAt":
        # A negative index counts from the end; 0 is an error.
        return member_step(ELEMENT, str(number - 1 if number > 0 else number) if number else REST)
    return member_step(ELEMENT, str(number) if number >= 0 else REST)


def constant_key(column: ValueLineage) -> str | None:
    """Return a value's constant integer or text, normalized so that values equal in Spark are equal; else None."""
    if not column.constants or len(column.constants) > 1 or column.indirect:
        return None
    (value,) = column.constants
    if column.type in _INTEGERS:
        try:
            number = Decimal(value)
        except InvalidOperation:
            return None
        return str(int(number)) if number == number.to_integral_value() else None
    # A cast can spell a number differently from its literal.
    return value if column.type == "string" and not column.text.startswith("cast(") else None
