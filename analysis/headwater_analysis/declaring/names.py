"""Dataset names without a namespace, `db.table` and `catalog.db.table`, resolved by the graph.

Names are looked up as in every question (`analysis.resolve`), but only by their whole names: a declaration must not
match another dataset by the end of its name or the beginning of its key.
"""

from __future__ import annotations

from collections.abc import Callable

from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.reader import Reader
from headwater_analysis.resolve import resolve_dataset
from headwater_schemas.events import DatasetRef

_MOST_NAMED = 5


class UnresolvedNameError(Exception):
    """No dataset, or several, have this name."""


class Names:
    """Lookup of datasets by name; each name is looked up once.

    Args:
        find: function that returns the dataset of a name, or raises UnresolvedNameError. None: no access to the graph.

    Attributes:
        unchecked: names that weren't looked up, because there is no access to the graph.
    """

    def __init__(self, find: Callable[[str], DatasetRef] | None) -> None:
        self._find = find
        self._found: dict[str, DatasetRef] = {}
        self.unchecked: dict[str, None] = {}

    def dataset(self, name: str) -> DatasetRef:
        """Return the dataset of a name; without access to the graph, a dataset without a namespace.

        Raises:
            UnresolvedNameError: no dataset, or several, have this name.
        """
        if self._find is None:
            self.unchecked[name] = None
            return DatasetRef("", name)
        if name not in self._found:
            self._found[name] = self._find(name)
        return self._found[name]


def found_in(reader: Reader) -> Names:
    """Return a lookup of names in the graph."""

    def find(name: str) -> DatasetRef:
        try:
            asset = reader.read(lambda tx: resolve_dataset(tx, name, whole=True)).asset
        except NotFoundError as error:
            near = f", the nearest are {', '.join(error.nearest[:_MOST_NAMED])}" if error.nearest else ""
            raise UnresolvedNameError(f"the graph has no dataset {name}{near}") from error
        except AmbiguousError as error:
            several = ", ".join(error.candidates[:_MOST_NAMED])
            raise UnresolvedNameError(f"the graph has several datasets {name}: {several}") from error
        if asset.key.startswith(name.lower()):
            raise UnresolvedNameError(f"{name} is the beginning of a dataset's key, not a name")
        return DatasetRef(asset.namespace or "", asset.name)

    return Names(find)
