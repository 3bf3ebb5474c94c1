"""What a person calls an asset ⇒ its node.

Understood are, in this order: the key of the node; namespace and name in one word (`assets.spelling`); the name alone,
or the title, where only one asset has it.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater_consumers.analysis.assets import Asset, AssetKind, column_asset, dataset_asset, job_asset
from headwater_consumers.analysis.errors import AmbiguousError, NotFoundError
from headwater_consumers.analysis.search import names
from headwater_consumers.graph.keys import column_key, dataset_key, job_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from headwater_consumers.analysis.reader import Transaction

_KEY = re.compile(r"[0-9a-f]{32}")
# A spelling is tried at each of its slashes; a longer path than this is named by key or by name alone.
_MOST_SPLITS = 100
_MOST_HASHES = 8
_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class Found:
    """A node of the graph.

    Attributes:
        id: Neo4j's, good within the transaction.
        asset: what it is.
    """

    id: int
    asset: Asset


def resolve_dataset(tx: Transaction, text: str) -> Found:
    """The dataset that `text` names.

    Raises:
        NotFoundError: none does; with the nearest names.
        AmbiguousError: several do.
    """
    return _resolve(tx, text, AssetKind.DATASET, dataset_key, dataset_asset)


def resolve_job(tx: Transaction, text: str) -> Found:
    """The job that `text` names.

    Raises:
        NotFoundError: none does; with the nearest names.
        AmbiguousError: several do.
    """
    return _resolve(tx, text, AssetKind.JOB, job_key, job_asset)


def resolve_column(tx: Transaction, dataset: str, column: str) -> Found:
    """The column of the dataset that `dataset` names, by its field path (`address.city`).

    Raises:
        NotFoundError: no such dataset, or it never had such a column; with the nearest.
        AmbiguousError: several datasets are called that.
    """
    owner = resolve_dataset(tx, dataset)
    found = _column(tx, column_key(tx.tenant, owner.asset.key, column))
    if found is None:
        known = [found["name"] for found in tx.rows("resolve/columns", dataset=owner.asset.key)]
        raise NotFoundError(
            f"{owner.asset.spelling} has no column {column!r}.",
            nearest=difflib.get_close_matches(column, known, n=5, cutoff=0.3) or sorted(known)[:5],
        )
    return found


def resolve_asset(tx: Transaction, text: str) -> Found:
    """The dataset that `text` names; or the column, spelled `dataset#field.path` as answers show it, or by its key.

    Raises:
        NotFoundError: none does; with the nearest names.
        AmbiguousError: several datasets are called that.
    """
    try:
        return resolve_dataset(tx, text)
    except NotFoundError as error:
        if _KEY.fullmatch(text) and (found := _column(tx, text)) is not None:
            return found
        # Names may have a # too: the longest that is a dataset's leaves the column.
        last: NotFoundError = error
        for hash_ in [match.start() for match in re.finditer("#", text)][: -_MOST_HASHES - 1 : -1]:
            try:
                return resolve_column(tx, text[:hash_], text[hash_ + 1 :])
            except NotFoundError as narrower:
                last = narrower
        raise last from None


def _column(tx: Transaction, key: str) -> Found | None:
    row = tx.row("resolve/column", key=key)
    return None if row is None else Found(row["id"], column_asset(row["dataset"], row["properties"]))


def _resolve(
    tx: Transaction,
    text: str,
    kind: AssetKind,
    key_of: Callable[[str, str, str], str],
    asset_of: Callable[[Mapping[str, Any]], Asset],
) -> Found:
    label = kind.value.lower()
    keys = [text] if _KEY.fullmatch(text) else [key_of(tx.tenant, *split) for split in _splits(text)]
    found = [Found(row["id"], asset_of(row["properties"])) for row in tx.rows(f"resolve/{label}_keys", keys=keys)]
    found = found or [Found(id_, asset) for id_, asset in names.exact(tx, kind, text)]
    if len(found) == 1:
        return found[0]
    if found:
        raise AmbiguousError(
            f"{len(found)} {label}s are called {text!r}: name one with its namespace, or by key.",
            candidates=[each.asset.spelling for each in found[:_MOST_CANDIDATES]],
        )
    nearest = dict.fromkeys(asset.spelling for asset in names.nearest(tx, kind, text))
    raise NotFoundError(f"No {label} is called {text!r}.", nearest=list(nearest))


def _splits(text: str) -> Iterator[tuple[str, str]]:
    """Every namespace and name that would be spelled so."""
    for slash in [match.start() for match in re.finditer("/", text)][:_MOST_SPLITS]:
        yield text[:slash], text[slash + 1 :]
        yield text[:slash].removesuffix(":"), text[slash:]
