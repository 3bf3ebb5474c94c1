"""Random jobs that put values together: structs, lists, maps, JSON and topics' payloads, several of whose parts differ.

What differs is known by construction: a part has the expression of the old version, or another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Final

TABLE: Final = "shop.orders"
_PARTS: Final = {
    # kind: the expression, another one of the same type, and whether a hash or mask goes with it
    "sum": ("F.col('amount') + 1", "F.col('amount') - 1", False),
    "case": (
        "F.when(F.col('price') > 2, F.col('id')).otherwise(0)", "F.when(F.col('price') > 3, F.col('id')).otherwise(0)",
        False,
    ),
    "text": ("F.upper('state')", "F.lower('state')", False),
    "default": ("F.coalesce('state', F.lit('a'))", "F.coalesce('state', F.lit('b'))", False),
    "hash": ("F.sha2('state', 256)", "F.col('state')", True),
    "mask": ("F.mask('state')", "F.col('state')", True),
    "function": ("plus(F.col('state'))", "minus(F.col('state'))", False),
}  # fmt: skip
_FUNCTIONS: Final = "plus, minus = F.udf(lambda s: s + '+', 'string'), F.udf(lambda s: s + '-', 'string')\n"
_SHAPES: Final = {
    # shape: how its two parts, `one` and `other`, are put together, and their paths
    "columns": ("{one}.alias('{name}_a'), {other}.alias('{name}_b')", "{name}_a", "{name}_b"),
    "struct": (
        "F.struct({one}.alias('a'), F.struct({other}.alias('b')).alias('s')).alias('{name}')", "{name}.a", "{name}.s.b",
    ),
    "list": ("F.array(F.struct({one}.alias('a'), {other}.alias('b'))).alias('{name}')", "{name}.[].a", "{name}.[].b"),
    "map": (
        "F.create_map(F.lit('a'), F.struct({one}.alias('v'), {other}.alias('w'))).alias('{name}')",
        "{name}.a.v", "{name}.a.w",
    ),
    "JSON": (
        "F.to_json(F.struct({one}.alias('a'), F.array(F.struct({other}.alias('b'))).alias('l'))).alias('{name}')",
        "{name}.a", "{name}.l.[].b",
    ),
}  # fmt: skip
_MOST_SHAPES: Final = 3


@dataclass(frozen=True, slots=True)
class PayloadJob:
    """Two versions of a job.

    Attributes:
        old, new: the scripts.
        mutations: how many things differ.
        shapes: how its values are put together.
        is_topic: whether one topic's JSON has all of it.
        expected: kind and column of each difference that there has to be, and no other.
    """

    old: str
    new: str
    mutations: int
    shapes: tuple[str, ...]
    is_topic: bool
    expected: frozenset[str]


def random_payload_job(random: Random, mutations: int) -> PayloadJob:
    """A job of up to three shapes of two parts each, so many of which, or the filter before them, differ."""
    shapes = tuple(random.choice([*_SHAPES]) for _ in range(random.randint(2, _MOST_SHAPES)))
    paths = [path for number, shape in enumerate(shapes) for path in _paths(shape, f"c{number}")]
    kinds = {path: random.choice([*_PARTS]) for path in paths}
    changed = set(random.sample(["", *paths], mutations))
    is_topic = random.random() < 0.5
    above = "value." if is_topic else ""
    expected = {f"MEANING {above}{path}" for path in changed if path}
    expected |= {f"PRIVACY {above}{path}" for path in changed if path and _PARTS[kinds[path]][2]}
    expected |= {"ROWS "} if "" in changed else set()
    old, new = (_script(shapes, kinds, some, is_topic=is_topic) for some in (set[str](), changed))
    return PayloadJob(old, new, mutations, shapes, is_topic, frozenset(expected))


def _paths(shape: str, name: str) -> list[str]:
    return [path.format(name=name) for path in _SHAPES[shape][1:]]


def _script(shapes: tuple[str, ...], kinds: Mapping[str, str], changed: set[str], *, is_topic: bool) -> str:
    made = []
    for number, shape in enumerate(shapes):
        one, other = (_PARTS[kinds[path]][path in changed] for path in _paths(shape, f"c{number}"))
        made.append(_SHAPES[shape][0].format(one=f"({one})", other=f"({other})", name=f"c{number}"))
    least = 2 if "" in changed else 1
    frame = f"{_FUNCTIONS}o = spark.table('{TABLE}').where('price > {least}').select({', '.join(made)})\n"
    if is_topic:
        payload = "o.select(F.to_json(F.struct('*')).alias('value'))"
        return f"{frame}{payload}.write.format('kafka').option('topic', 'u').save()\n"
    return f"{frame}o.write.mode('overwrite').parquet('/lake/out')\n"
