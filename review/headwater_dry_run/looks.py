"""Looks: places where a script asks for rows (`count`, `first`, `collect` …), which a dry run doesn't have.

Code after a look may only run if there are rows. So the script is run once more, and gets a made-up row there: a
frame of columns `id BIGINT, day DATE` has the row `1, 2000-01-01`, and a count is 1.
"""

from __future__ import annotations

import dis
import functools
import sys
import threading
from collections.abc import Callable, Collection
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

from headwater_dry_run.sources import Sources
from headwater_producers.spark.connectors.rdd import LOCAL

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

_LISTS: Final = ("collect", "head", "tail", "take")
_ACTIONS: Final = (*_LISTS, "count", "first", "isEmpty", "toLocalIterator", "toPandas")
_OF_RDDS: Final = (
    *("collect", "collectAsMap", "count", "countByKey", "countByValue", "first", "isEmpty", "max", "mean", "min"),
    *("reduce", "sum", "take", "takeOrdered", "toLocalIterator", "top"),
)
# Plans whose rows the script itself has created, or that Spark knows without data.
_WITHOUT_DATA: Final = frozenset({LOCAL, "CommandResult", "OneRowRelation", "Range"})
_OURS: Final = ("pyspark.", "headwater_producers.")
_VALUES: Final[dict[str, Any]] = {
    "BooleanType": True,
    "ByteType": 1,
    "ShortType": 1,
    "IntegerType": 1,
    "LongType": 1,
    "FloatType": 1.0,
    "DoubleType": 1.0,
    "DecimalType": Decimal(1),
    "StringType": "1",
    "CharType": "1",
    "VarcharType": "1",
    "BinaryType": b"1",
    "DateType": date(2000, 1, 1),
    "TimestampType": datetime(2000, 1, 1),  # noqa: DTZ001  as Spark gives them
    "TimestampNTZType": datetime(2000, 1, 1),  # noqa: DTZ001
    "DayTimeIntervalType": timedelta(days=1),
}


class Looks:
    """Recorder of looks, which returns made-up rows.

    Args:
        empty: places that get no rows; all others get a made-up row. None: no place gets a row.

    Attributes:
        last: last place that got a made-up row, if any.
    """

    def __init__(self, sources: Sources, empty: Collection[str] | None) -> None:
        self.last: str | None = None
        self._sources = sources
        self._empty = empty
        self._reported: set[str] = set()
        # PySpark's `first` calls `head`, and `head` calls `take`.
        self._within = threading.local()

    def begin(self, empty: Collection[str] | None) -> None:
        """Begin another script, or the same script with other places."""
        self._empty, self.last = empty, None
        self._reported.clear()

    def serve(self) -> None:
        """Wrap PySpark's methods that return rows."""
        from pyspark import RDD
        from pyspark.sql import DataFrame

        # In Spark 4 frames have a subclass with its own methods.
        for kind in {DataFrame, type(self._sources.session.range(0))}:
            for name in _ACTIONS:
                if hasattr(kind, name):
                    setattr(kind, name, self._wrapped(name, getattr(kind, name), self._of_frame))
        for name in _OF_RDDS:
            setattr(RDD, name, self._wrapped(name, getattr(RDD, name), self._of_rdd))

    def _wrapped(self, name: str, method: Any, answer: Callable[..., Any]) -> Any:
        @functools.wraps(method)
        def wrapped(*given: Any, **named: Any) -> Any:
            caller = sys._getframe(1)
            if getattr(self._within, "any", False) or str(caller.f_globals.get("__name__")).startswith(_OURS):
                return method(*given, **named)
            self._within.any = True
            try:
                real = method(*given, **named)
                return real if _is_discarded(caller) else answer(name, caller, given[0], real)
            finally:
                self._within.any = False

        return wrapped

    def _of_frame(self, name: str, caller: FrameType, frame: DataFrame, real: Any) -> Any:
        if not _has_data(frame) or not self._makes_up(name, caller):
            return real
        match name:
            case "count":
                return real or 1
            case "isEmpty":
                return False
            case "toPandas":
                return self._sources.session.createDataFrame([made_up(frame.schema)], frame.schema).toPandas()
            case "toLocalIterator":
                return iter([_filled(row, frame.schema) for row in real] or [made_up(frame.schema)])
            case _ if isinstance(real, list):
                return [_filled(row, frame.schema) for row in real] or [made_up(frame.schema)]
            case _:
                return made_up(frame.schema) if real is None else _filled(real, frame.schema)

    def _of_rdd(self, name: str, caller: FrameType, _: Any, real: Any) -> Any:
        """Answer an RDD's call as if the RDD had rows. No row is made up, since the type of the rows is unknown."""
        if not self._makes_up(name, caller):
            return real
        return {"isEmpty": False, "count": real or 1}.get(name, real)

    def _makes_up(self, name: str, caller: FrameType) -> bool:
        """Report the place; return True if it gets a made-up row."""
        place = f"{name} in line {caller.f_lineno:,} of {Path(caller.f_code.co_filename).name}"
        if place not in self._reported:
            self._reported.add(place)
            self._sources.channel.report("look", {"text": place})
        if self._empty is None or place in self._empty:
            return False
        self.last = place
        return True


def made_up(schema: StructType) -> Any:
    """Make up a row of this schema, without nulls."""
    from pyspark.sql.types import _create_row

    return _create_row(schema.names, [_value(field.dataType) for field in schema.fields])


def _filled(row: Any, schema: StructType) -> Any:
    """Replace nulls and zeros in a row that exists even without data, such as the row of an aggregate."""
    from pyspark.sql.types import _create_row

    values = [value or _value(field.dataType) for value, field in zip(row, schema.fields, strict=True)]
    return _create_row(schema.names, values)


def _value(kind: DataType) -> Any:
    from pyspark.sql.types import ArrayType, BinaryType, MapType, StructType

    match kind:
        case ArrayType():
            return [_value(kind.elementType)]
        case MapType():
            return {_value(kind.keyType): _value(kind.valueType)}
        case StructType():
            return made_up(kind)
        case BinaryType():
            return bytearray(_VALUES["BinaryType"])
    return _VALUES.get(type(kind).__name__)


def _has_data(frame: DataFrame) -> bool:
    """Return True if the frame's rows come from a source."""
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()
    return any(leaves.apply(n).nodeName() not in _WITHOUT_DATA for n in range(leaves.size()))


def _is_discarded(caller: FrameType) -> bool:
    """Return True if the script discards the result, for example after `cache()`."""
    following = (each for each in dis.get_instructions(caller.f_code) if each.offset > caller.f_lasti)
    after = next(following, None)
    return after is not None and after.opname == "POP_TOP"
