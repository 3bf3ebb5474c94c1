"""Facets that Headwater's producers write and its consumers read: names and JSON contents."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from headwater_schemas.events.common import DatasetRef

COLUMNS_FACET: Final = "headwater_columns"
"""Facet of a dataset that an ALTER or a REPLACE TABLE (an OVERWRITE) changed; its content is a `ColumnChanges`."""

ADDED_FILES_FACET: Final = "headwater_addedFiles"
"""Facet of an output whose position is a table's version; its content is an `AddedFiles`."""

EVENT_TIME_FACET: Final = "headwater_eventTime"
"""Facet of a streaming run's START: the watermarks of the run's plan, and the largest lateness of a record that can
still reach the state."""

SINK_FACET: Final = "headwater_sink"
"""Facet of a streaming run's START: the sink's `name`, and `callback`: True if code writes, as in foreachBatch."""

WRITE_FACET: Final = "headwater_write"
"""Facet of a START emitted while a batch write ran: the write's outputs, and facts that identify its commit.

Members: `application` (Spark's id), `run` (of the application), `marked` (True if commits name that run), `command`,
`outputs` (`namespace`, `name`, `format`, `names`)."""


class RenamedColumn(msgspec.Struct, frozen=True, order=True):
    """Renamed column, which keeps its values. The paths of its nested fields change, too.

    Attributes:
        previous, path: path before and after, written as in `ColumnEdge`.
    """

    previous: str
    path: str


class ColumnChanges(msgspec.Struct, frozen=True, omit_defaults=True):
    """Column changes of an ALTER or a REPLACE TABLE that the dataset's schema doesn't show.

    Attributes:
        dropped: paths of columns whose values are gone. A column that is added later under the same name is another
            column.
    """

    renamed: tuple[RenamedColumn, ...] = ()
    dropped: tuple[str, ...] = ()


class AddedFiles(msgspec.Struct, frozen=True):
    """The files that a version of a table added.

    Attributes:
        paths: all paths, or only the first in sorted order if `len(paths) < count`.
    """

    count: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
    paths: tuple[str, ...] = ()

    def of(self, dataset: DatasetRef) -> AddedFiles:
        """Return a copy with full paths of files in the dataset's folder: `part-0` ⇒ `file:/lake/t/part-0`."""
        namespace, name = dataset.namespace, dataset.name.rstrip("/")
        root = f"{namespace}/{name}" if not name.startswith("/") else namespace + ":" * ("://" not in namespace) + name
        whole = (path if path.startswith("/") or ":/" in path else f"{root}/{path}" for path in self.paths)
        return AddedFiles(self.count, tuple(whole))

    def without_values(self) -> AddedFiles:
        """Return a copy without paths that contain values of partitions: `city=Oslo/part-0`."""
        return AddedFiles(self.count, tuple(path for path in self.paths if "=" not in path))

    def facets(self) -> dict[str, str]:
        """Return the files as a facet."""
        return {ADDED_FILES_FACET: msgspec.json.encode(self).decode()}


_column_changes = msgspec.json.Decoder(ColumnChanges)
_added_files = msgspec.json.Decoder(AddedFiles)


def column_changes(text: str | None) -> ColumnChanges:
    """Parse the changes in a facet's text; empty for another shape: anybody can send a facet of this name."""
    try:
        return _column_changes.decode(text or "{}")
    except (msgspec.DecodeError, UnicodeError):
        return ColumnChanges()


def added_files(text: str | None) -> AddedFiles | None:
    """Parse the files in a facet's text; None if there is no text, or the text has another shape."""
    try:
        return _added_files.decode(text) if text else None
    except (msgspec.DecodeError, UnicodeError):
        return None
