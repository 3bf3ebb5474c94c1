"""Kinds of transformation: their composition along a chain, and their names in OpenLineage.

The kind of a chain is the greatest kind of its steps: a value that is first cast and then summed was aggregated, and a
black box may return anything. The order of the kinds:

    CONSTANT < COPY < CAST < DERIVE < MASK < HASH < AGGREGATE < EXTERNAL < UNKNOWN

RENAME isn't part of this order: it is a COPY whose first and last names differ. A column renamed and renamed back is a
COPY. `masking` stays True: if one step's input can't be read back from its output, the chain's input can't, either.
Values computed from a constant are constants, except by a black box.
"""

from __future__ import annotations

from headwater_schemas.events import TransformationKind as Kind

DIRECT_ORDER = (
    Kind.CONSTANT,
    Kind.COPY,
    Kind.CAST,
    Kind.DERIVE,
    Kind.MASK,
    Kind.HASH,
    Kind.AGGREGATE,
    Kind.EXTERNAL,
    Kind.UNKNOWN,
)
_RANK = {kind: rank for rank, kind in enumerate(DIRECT_ORDER)}

_SUBTYPE: dict[Kind, str | None] = {
    Kind.UNKNOWN: None,
    Kind.COPY: "IDENTITY",
    Kind.RENAME: "IDENTITY",
    Kind.CAST: "TRANSFORMATION",
    Kind.HASH: "TRANSFORMATION",
    Kind.MASK: "TRANSFORMATION",
    Kind.DERIVE: "TRANSFORMATION",
    Kind.EXTERNAL: "TRANSFORMATION",
    Kind.CONSTANT: None,
    Kind.AGGREGATE: "AGGREGATION",
    Kind.FILTER_DEPENDENCY: "FILTER",
    Kind.JOIN_DEPENDENCY: "JOIN",
    Kind.GROUP_DEPENDENCY: "GROUP_BY",
    Kind.SORT_DEPENDENCY: "SORT",
    Kind.WINDOW_DEPENDENCY: "WINDOW",
    Kind.CONDITIONAL: "CONDITIONAL",
}


def compose(first: Kind, then: Kind) -> Kind:
    """Return the kind of a chain of two direct steps."""
    if first is Kind.CONSTANT and then not in (Kind.EXTERNAL, Kind.UNKNOWN):
        return Kind.CONSTANT
    return first if _RANK[first] >= _RANK[then] else then


def subtype(kind: Kind) -> str | None:
    """Return OpenLineage's subtype of a kind; None if OpenLineage has none."""
    return _SUBTYPE[kind]
