"""Name that a person typed ⇒ node of the asset.

Spellings are tried in this order:

1. The key of the node.
2. Namespace and name in one word (`assets.spelling`), or another name of the dataset in this form: by a catalog, by a
  cluster's id, or a path as Spark takes it.
3. The name alone, or the title, if only one asset has it.
4. The last part of a dataset's dotted name, `va` of `default.va`, if only one name ends in this part.
5. The first characters of a key, four or more, if only one key begins with them.

A name in another case is accepted if only one asset has it: the answer shows its spelling. `spark_catalog.db.table` and
`lake.db.table` mean `db.table` if a catalog has that table.

For any name of a dataset, the result is the shown dataset (`identity`). If several datasets have the name, existing
datasets take precedence over dropped datasets.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headwater_analysis.assets import Asset, AssetKind, column_asset, dataset_asset, job_asset
from headwater_analysis.errors import AmbiguousError, NotFoundError
from headwater_analysis.identity import MOST_NAMES, Identities
from headwater_analysis.reader import Transaction
from headwater_analysis.search import names
from headwater_graph.keys import column_key, dataset_key, job_key
from headwater_schemas import naming

_KEY = re.compile(r"[0-9a-f]{32}")
_SHORT_KEY = re.compile(r"[0-9a-fA-F]{4,32}")
# A spelling is split at each of its slashes; a path with more slashes is found only by key or name.
_MOST_SPLITS = 100
_MOST_HASHES = 8
_MOST_CANDIDATES = 20


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A node of the graph.

    Attributes:
        id: Neo4j's id, valid within the transaction.
    """

    id: int
    asset: Asset


def resolve_dataset(tx: Transaction, text: str, *, whole: bool = False) -> FoundNode:
    """Return the dataset that `text` names.

    Args:
        text: a name, or a key.
        whole: whether to ignore names of which `text` is only the last part.

    Raises:
        NotFoundError: no dataset has this name; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    found, identities = _datasets(tx, text, whole=whole) or _in_any_case(tx, AssetKind.DATASET, text), Identities.of(tx)
    # Replace each dataset by the shown one.
    shown = {identities.shown(each.asset.key): each for each in found}
    for key in shown:
        if (named := identities.named(key)) is not None:
            shown[key] = FoundNode(named.id, named.asset)
    live = [key for key in shown if len(shown) > 1 and not identities.is_dropped(key)]
    return _only(tx, text, AssetKind.DATASET, [shown[key] for key in (live if len(live) == 1 else shown)])


def _datasets(tx: Transaction, text: str, *, whole: bool) -> list[FoundNode]:
    """All datasets with this name, by any spelling."""
    if _KEY.fullmatch(text):
        return _by_keys(tx, AssetKind.DATASET, [text]) or [
            FoundNode(*each) for each in names.exact(tx, AssetKind.DATASET, text)
        ]
    keys = [dataset_key(tx.tenant, *split) for split in _splits(text)]
    if "/" in text:
        # As Spark takes it: s3a://lake/db/t, file:///data/t.
        path = naming.path(text)
        keys.append(dataset_key(tx.tenant, path.namespace, path.name))
    if found := _by_keys(tx, AssetKind.DATASET, keys):
        return found
    if Identities.of(tx).any:
        named = [row["key"] for row in tx.rows("identity/aliases", keys=keys, most=MOST_NAMES)]
        if named:
            return _by_keys(tx, AssetKind.DATASET, named)
    for name in (text, text.partition(".")[2] if text.count(".") > 1 else ""):
        matches = names.exact(tx, AssetKind.DATASET, name) if name else []
        if name and Identities.of(tx).any:
            matches += names.exact(tx, AssetKind.DATASET, name, aliases=True)
        if matches:
            return [FoundNode(*each) for each in dict.fromkeys(matches)]
    if not whole and (ending := names.by_last_part(tx, text, aliases=Identities.of(tx).any)):
        return [FoundNode(*each) for each in ending]
    return _begun(tx, AssetKind.DATASET, text)


def resolve_job(tx: Transaction, text: str) -> FoundNode:
    """Return the job that `text` names.

    Raises:
        NotFoundError: no job has this name; with the nearest names.
        AmbiguousError: several jobs have this name.
    """
    return _resolve(tx, text, AssetKind.JOB)


def resolve_column(tx: Transaction, dataset: str, column: str) -> FoundNode:
    """Return a column of the dataset that `dataset` names, by the column's field path (`address.city`), in any case.

    A column with several spellings is found by each spelling; the result is the shown column.

    Raises:
        NotFoundError: no such dataset, or it never had such a column; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    owner = resolve_dataset(tx, dataset)
    members = Identities.of(tx).members(owner.asset.key)
    found = next(filter(None, (_column(tx, column_key(tx.tenant, member, column)) for member in members)), None)
    if found is not None:
        return _shown_column(tx, found)
    rows = [row for member in members for row in tx.rows("resolve/columns", dataset=member)]
    known = list(dict.fromkeys(row["name"] for row in rows))
    matches = {row["name"]: row["key"] for row in rows if row["name"].casefold() == column.casefold()}
    each = filter(None, (_column(tx, key) for key in matches.values()))
    shown = {one.asset.key: one for one in (_shown_column(tx, one) for one in each)}
    if len(shown) > 1:
        raise AmbiguousError(
            f"{len(matches)} columns of {owner.asset.spelling} are called {column!r}: give the exact case.",
            candidates=[f"{owner.asset.spelling}#{name}" for name in matches],
        )
    if shown:
        return next(iter(shown.values()))
    raise NotFoundError(
        f"{owner.asset.spelling} has no column {column!r}.",
        nearest=difflib.get_close_matches(column, known, n=5, cutoff=0.3) or sorted(known)[:5],
    )


def _shown_column(tx: Transaction, column: FoundNode) -> FoundNode:
    """Column that is shown for another column: by its name since its RENAME, in the spelling of the latest schema."""
    identities = Identities.of(tx)
    identities.learn([column.id])
    node = identities.shown_node(column.id)
    return column if node == column.id else _column_of(tx.row("resolve/column_by_id", node=node)) or column


def resolve_asset(tx: Transaction, text: str) -> FoundNode:
    """Return the dataset that `text` names, or the column: `dataset#field.path`, as answers spell it, or its key.

    Raises:
        NotFoundError: no asset has this name; with the nearest names.
        AmbiguousError: several datasets have this name.
    """
    try:
        return resolve_dataset(tx, text)
    except NotFoundError as error:
        if _KEY.fullmatch(text) and (found := _column(tx, text)) is not None:
            return _shown_column(tx, found)
        # Names may contain a #, too: the longest dataset name wins, and the rest is the column.
        last: NotFoundError = error
        for hash_ in [match.start() for match in re.finditer("#", text)][: -_MOST_HASHES - 1 : -1]:
            try:
                return resolve_column(tx, text[:hash_], text[hash_ + 1 :])
            except NotFoundError as narrower:
                last = narrower
        raise last from None


def _column(tx: Transaction, key: str) -> FoundNode | None:
    return _column_of(tx.row("resolve/column", key=key))


def _column_of(row: Mapping[str, Any] | None) -> FoundNode | None:
    return None if row is None else FoundNode(row["id"], column_asset(row["dataset"], row["properties"]))


def _resolve(tx: Transaction, text: str, kind: AssetKind) -> FoundNode:
    keys = [text] if _KEY.fullmatch(text) else [job_key(tx.tenant, *split) for split in _splits(text)]
    found = _by_keys(tx, kind, keys) or [FoundNode(id_, asset) for id_, asset in names.exact(tx, kind, text)]
    return _only(tx, text, kind, found or _begun(tx, kind, text) or _in_any_case(tx, kind, text))


def _in_any_case(tx: Transaction, kind: AssetKind, text: str) -> list[FoundNode]:
    """Assets with this name in another case, as found by `names.nearest`."""
    wanted = text.casefold()
    near = names.nearest(tx, kind, text)
    matches = [asset for asset in near if wanted in (asset.spelling.casefold(), asset.name.casefold())]
    return _by_keys(tx, kind, [asset.key for asset in matches])


def _by_keys(tx: Transaction, kind: AssetKind, keys: list[str]) -> list[FoundNode]:
    asset_of = job_asset if kind is AssetKind.JOB else dataset_asset
    rows = tx.rows(f"resolve/{kind.value.lower()}_keys", keys=keys)
    return [FoundNode(row["id"], asset_of(row["properties"])) for row in rows]


def _begun(tx: Transaction, kind: AssetKind, text: str) -> list[FoundNode]:
    """The only asset whose key has this prefix, if any.

    Raises:
        AmbiguousError: several keys have this prefix.
    """
    if _SHORT_KEY.fullmatch(text) is None:
        return []
    asset_of, label = job_asset if kind is AssetKind.JOB else dataset_asset, kind.value.lower()
    rows = tx.rows(f"resolve/{label}_prefix", prefix=text.lower(), limit=_MOST_CANDIDATES)
    if len(rows) > 1:
        raise AmbiguousError(
            f"Several {label}s have keys that begin with {text!r}: give more of it.",
            candidates=[row["properties"]["key"] for row in rows],
        )
    return [FoundNode(row["id"], asset_of(row["properties"])) for row in rows]


def _only(tx: Transaction, text: str, kind: AssetKind, found: list[FoundNode]) -> FoundNode:
    label = kind.value.lower()
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
    """Every pair of namespace and name with this spelling."""
    for slash in [match.start() for match in re.finditer("/", text)][:_MOST_SPLITS]:
        yield text[:slash], text[slash + 1 :]
        yield text[:slash].removesuffix(":"), text[slash:]
