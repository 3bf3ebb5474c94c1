"""Effect of a fault on columns that are made from bad data, by the kind of fault and by the job's use of the column.

A fault may change from step to step: the sum of repeated rows is a wrong value, and later steps pass on the wrong
value. So each entry of `EFFECTS` has the effect on the output column, and the fault that the output column then has.
Without an entry the output isn't affected. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from headwater_analysis.privacy.operations import functions_around
from headwater_schemas.events import IncidentType


class FaultEffect(StrEnum):
    """Effect of a fault on a column, the strongest first.

    - TAINTS: values of the column are wrong.
    - MAY_TAINT: values of the column may be wrong, or there may be too few or too many rows.
    - DEGRADES: values of the column are right, but outdated, or some are missing.
    - WARNS: meaning or type of the column may have changed.
    """

    TAINTS = "TAINTS"
    MAY_TAINT = "MAY_TAINT"
    DEGRADES = "DEGRADES"
    WARNS = "WARNS"


STRONGEST_FIRST: Final = tuple(FaultEffect)


class ColumnFault(StrEnum):
    """Fault of a column.

    - MISSING_ROWS: rows are missing.
    - NULLS: values of the column are missing.
    - DUPLICATES: rows are repeated.
    - DANGLING: values of the column refer to rows that don't exist.
    - STALE: values are outdated.
    - WRONG: some values are wrong.
    - POSSIBLE: some values, or rows, may be wrong.
    - DRIFT: type or meaning of the column has changed.
    - OTHER: any other fault, for example personal data in a forbidden place.
    """

    MISSING_ROWS = "MISSING_ROWS"
    NULLS = "NULLS"
    DUPLICATES = "DUPLICATES"
    DANGLING = "DANGLING"
    STALE = "STALE"
    WRONG = "WRONG"
    POSSIBLE = "POSSIBLE"
    DRIFT = "DRIFT"
    OTHER = "OTHER"


OF_ROWS: Final = frozenset({ColumnFault.MISSING_ROWS, ColumnFault.DUPLICATES})
"""Faults of rows: they affect every column of the dataset, and the number of rows."""


class ColumnUse(StrEnum):
    """Use of a column by a job.

    - VALUE: each output value is a copy of the column's value in one row, or is computed from it.
    - GROUPED: as VALUE, in a job that groups rows: grouping may keep only one of several equal rows.
    - AGGREGATE: each output value is computed from many rows, and repeated rows change it.
    - IDEMPOTENT: each output value is computed from many rows, and repeated rows don't change it: `max`,
      `count(DISTINCT …)`.
    - JOIN, FILTER, GROUP: rows are joined on the column, or filtered or grouped by it.
    - ORDER: rows are sorted by the column, or put into windows by it.
    - CONDITION: the column decides between several values.
    - BLACK_BOX: the column is passed to code that column lineage can't look into.
    """

    VALUE = "VALUE"
    GROUPED = "GROUPED"
    AGGREGATE = "AGGREGATE"
    IDEMPOTENT = "IDEMPOTENT"
    JOIN = "JOIN"
    FILTER = "FILTER"
    GROUP = "GROUP"
    ORDER = "ORDER"
    CONDITION = "CONDITION"
    BLACK_BOX = "BLACK_BOX"


class EffectOfUse(NamedTuple):
    """Effect of a fault on the output, for one use of the column.

    Attributes:
        effect: effect on the output column.
        then: fault that the output column has.
        because: reason, as the second half of a sentence.
    """

    effect: FaultEffect
    then: ColumnFault
    because: str


_Row = dict[ColumnUse, EffectOfUse]
_ANY_ROW: Final = (ColumnUse.VALUE, ColumnUse.GROUPED)
_ANY_AGGREGATE: Final = (ColumnUse.AGGREGATE, ColumnUse.IDEMPOTENT, ColumnUse.BLACK_BOX)
_INDIRECT: Final = (ColumnUse.JOIN, ColumnUse.FILTER, ColumnUse.GROUP, ColumnUse.ORDER, ColumnUse.CONDITION)
_OUTER: Final = "whether an outer join fills in for them isn't recorded, so the stronger effect counts"


def _of(uses: tuple[ColumnUse, ...], effect: FaultEffect, then: ColumnFault, because: str) -> _Row:
    return dict.fromkeys(uses, EffectOfUse(effect, then, because))


def _always(effect: FaultEffect, fault: ColumnFault, because: str) -> _Row:
    return _of(tuple(ColumnUse), effect, fault, because)


_MAY: Final = _of(
    _INDIRECT, FaultEffect.MAY_TAINT, ColumnFault.POSSIBLE, "rows may be missing, too many, or in another place"
)
_WRONG: Final = _MAY | _of(
    (*_ANY_ROW, *_ANY_AGGREGATE), FaultEffect.TAINTS, ColumnFault.WRONG, "wrong values go into it"
)
_MISSING: Final = (
    _MAY
    | _of(_ANY_AGGREGATE, FaultEffect.TAINTS, ColumnFault.WRONG, "some of the aggregated rows or values are missing")
    | _of((ColumnUse.JOIN,), FaultEffect.TAINTS, ColumnFault.WRONG, f"some are missing, and {_OUTER}")
    | _of((ColumnUse.FILTER,), FaultEffect.DEGRADES, ColumnFault.MISSING_ROWS, "rows are missing")
)

EFFECTS: Final[Mapping[ColumnFault, Mapping[ColumnUse, EffectOfUse]]] = MappingProxyType(
    {
        ColumnFault.MISSING_ROWS: _MISSING
        | _of(_ANY_ROW, FaultEffect.DEGRADES, ColumnFault.MISSING_ROWS, "rows are missing, the others are right"),
        ColumnFault.NULLS: _MISSING
        | _of(_ANY_ROW, FaultEffect.DEGRADES, ColumnFault.NULLS, "values are missing, the others are right"),
        ColumnFault.DUPLICATES: _of((ColumnUse.VALUE,), FaultEffect.TAINTS, ColumnFault.DUPLICATES, "rows are repeated")
        | _of(
            (ColumnUse.GROUPED,),
            FaultEffect.MAY_TAINT,
            ColumnFault.POSSIBLE,
            "rows are repeated, unless the job's grouping leaves one of them",
        )
        | _of(
            (ColumnUse.AGGREGATE, ColumnUse.BLACK_BOX),
            FaultEffect.TAINTS,
            ColumnFault.WRONG,
            "each repeated row counts",
        )
        | _of((ColumnUse.JOIN,), FaultEffect.TAINTS, ColumnFault.DUPLICATES, "each repeated row is joined")
        | _of(
            (ColumnUse.ORDER, ColumnUse.CONDITION),
            FaultEffect.MAY_TAINT,
            ColumnFault.POSSIBLE,
            "repeated rows may change the result",
        ),
        ColumnFault.DANGLING: _WRONG
        | _of(_ANY_ROW, FaultEffect.TAINTS, ColumnFault.DANGLING, "some references find no row")
        | _of((ColumnUse.JOIN,), FaultEffect.TAINTS, ColumnFault.WRONG, "some references find no row"),
        ColumnFault.STALE: _always(FaultEffect.DEGRADES, ColumnFault.STALE, "it is old, not wrong"),
        ColumnFault.WRONG: _WRONG,
        ColumnFault.POSSIBLE: _always(
            FaultEffect.MAY_TAINT, ColumnFault.POSSIBLE, "values or rows may be wrong there already"
        ),
        ColumnFault.DRIFT: _always(FaultEffect.WARNS, ColumnFault.DRIFT, "its type or meaning has changed"),
        ColumnFault.OTHER: _always(FaultEffect.TAINTS, ColumnFault.OTHER, "it is made from bad data"),
    }
)
"""Effects by fault and use; a use without an entry has no effect."""

_FAULTS: Final = MappingProxyType(
    {
        IncidentType.DUPLICATES: ColumnFault.DUPLICATES,
        IncidentType.LATE: ColumnFault.STALE,
        IncidentType.BAD_RECORDS: ColumnFault.WRONG,
        IncidentType.SCHEMA: ColumnFault.DRIFT,
    }
)
_REFERENTIAL: Final = re.compile(r"\bREFERENTIAL\b")


def fault_of(type_: IncidentType | None, cause: str | None, *, of_column: bool) -> ColumnFault:
    """Return the fault of an incident's bad data.

    Args:
        type_: type of the incident; None: not stated.
        cause: cause of the incident. BAD_RECORDS whose cause has the word REFERENTIAL are DANGLING values.
        of_column: whether a part of the scope names a column. MISSING_DATA of a column means missing values, else
            missing rows.
    """
    if type_ is IncidentType.MISSING_DATA:
        return ColumnFault.NULLS if of_column else ColumnFault.MISSING_ROWS
    if type_ is IncidentType.BAD_RECORDS and cause is not None and _REFERENTIAL.search(cause):
        return ColumnFault.DANGLING
    return ColumnFault.OTHER if type_ is None else _FAULTS.get(type_, ColumnFault.OTHER)


_USES: Final = MappingProxyType(
    {
        "EXTERNAL": ColumnUse.BLACK_BOX,
        "UNKNOWN": ColumnUse.BLACK_BOX,
        "JOIN_DEPENDENCY": ColumnUse.JOIN,
        "FILTER_DEPENDENCY": ColumnUse.FILTER,
        "GROUP_DEPENDENCY": ColumnUse.GROUP,
        "SORT_DEPENDENCY": ColumnUse.ORDER,
        "WINDOW_DEPENDENCY": ColumnUse.ORDER,
        "CONDITIONAL": ColumnUse.CONDITION,
    }
)
_IDEMPOTENT: Final = frozenset(
    {
        *("max", "min", "first", "last", "first_value", "last_value", "any_value", "max_by", "min_by", "collect_set"),
        *("approx_count_distinct", "bit_or", "bit_and", "bool_and", "bool_or", "every", "some", "any"),
    }
)
"""Aggregates that repeated rows don't change."""
_COUNTING: Final = frozenset(
    {
        *("sum", "try_sum", "avg", "try_avg", "mean", "count", "count_if", "median", "mode", "percentile", "stddev"),
        *("stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "collect_list", "array_agg", "listagg"),
        *("string_agg", "percentile_cont", "percentile_disc", "percentile_approx", "approx_percentile"),
    }
)
"""Aggregates that repeated rows change."""
_OF_ONE_ROW: Final = frozenset(
    {"cast", "try_cast", "coalesce", "nvl", "ifnull", "round", "floor", "ceil", "abs", "upper", "lower", "trim"}
)
"""Functions of one row. Around or inside an aggregate such as `max`, they don't change the effect of repeated rows."""


class KnownUse(NamedTuple):
    """Use of a column by an edge of column lineage.

    Attributes:
        use: the use.
        function: name of the aggregate function; None: the use is no aggregate, or its function isn't known.
        is_known: False: an aggregate whose function isn't known, so the stronger effect counts.
    """

    use: ColumnUse
    function: str | None = None
    is_known: bool = True


def use_of(kind: str, text: str | None, field: str | None, *, grouped: bool) -> KnownUse:
    """Return the use of a column by an edge.

    Args:
        kind: kind of the transformation.
        text: formula of the output; None: not known.
        field: path of the input column in this formula.
        grouped: whether the job groups the rows of the output.
    """
    if kind == "AGGREGATE":
        return _aggregate(text or "", field)
    return KnownUse(_USES.get(kind, ColumnUse.GROUPED if grouped else ColumnUse.VALUE))


def _aggregate(text: str, field: str | None) -> KnownUse:
    around = functions_around(text, field)
    if counting := {each for each in around & _COUNTING if not _is_distinct(text, each)}:
        return KnownUse(ColumnUse.AGGREGATE, min(counting))
    aggregates = around & (_IDEMPOTENT | _COUNTING)
    if aggregates and around <= aggregates | _OF_ONE_ROW:
        return KnownUse(ColumnUse.IDEMPOTENT, min(aggregates))
    return KnownUse(ColumnUse.AGGREGATE, is_known=False)


def _is_distinct(text: str, function: str) -> bool:
    """Return whether each call of an aggregate in a formula is `DISTINCT`."""
    calls = re.findall(rf"(?i)\b{function}\s*\(\s*(distinct\b)?", text)
    return bool(calls) and all(calls)
