"""Facets that Headwater's producers write and its consumers read: their names, and what is in them, JSON."""

from __future__ import annotations

from typing import Final

import msgspec

COLUMNS_FACET: Final = "headwater_columns"
"""Of a dataset that an ALTER changed: `ColumnChanges`."""

EVENT_TIME_FACET: Final = "headwater_eventTime"
"""At a streaming run's START: the watermarks of its plan, and how far behind one a record may be kept in the state."""

SINK_FACET: Final = "headwater_sink"
"""At a streaming run's START: the sink's `name`, and `callback`: code writes, as in foreachBatch."""

WRITE_FACET: Final = "headwater_write"
"""At START of a batch write that was announced while it ran: what it is to write, and how its commit is recognized:
`application` (Spark's id), `run` (of the application), `marked` (whether commits name that run), `command`, `outputs`
(`namespace`, `name`, `format`, `names`)."""


class RenamedColumn(msgspec.Struct, frozen=True, order=True):
    """A column that has another name since, and the values that it had. Its nested fields have new paths with it.

    Attributes:
        previous, path: its path before and after, written as in `ColumnEdge`.
    """

    previous: str
    path: str


class ColumnChanges(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an ALTER did to columns of a dataset beyond what its schema shows.

    Attributes:
        renamed: columns of another name since.
        dropped: paths of columns whose values are gone. A column that is added under the name later is another one.
    """

    renamed: tuple[RenamedColumn, ...] = ()
    dropped: tuple[str, ...] = ()


_decoder = msgspec.json.Decoder(ColumnChanges)


def column_changes(text: str | None) -> ColumnChanges:
    """The changes in a facet's text; none where it has another shape: anybody can send a facet of this name."""
    if not text:
        return ColumnChanges()
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        return ColumnChanges()
