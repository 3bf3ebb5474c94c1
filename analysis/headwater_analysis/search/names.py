"""Lookup of assets by exact name, and of the most similar names.

Each look-up is one query of the full-text index. With 100,000 datasets, an exact name takes 2 ms and the nearest names
70 ms (on two busy cores); a comparison with every name would take seconds.
"""

from __future__ import annotations

import difflib

from headwater_analysis.assets import Asset, AssetKind, dataset_asset
from headwater_analysis.reader import Transaction
from headwater_analysis.search import lucene_query
from headwater_analysis.search.found_rows import Row, read_rows

MOST_EXACT = 1_000
"""Maximum number of assets with one name that `exact` returns; there may be more."""

_LOOKED_AT = 10_000
_COMPARED = 50
_COMPARED_CHARACTERS = 200
_MOST_NEAREST = 5
_LEAST_ALIKE = 0.3


def exact(tx: Transaction, kind: AssetKind, name: str, *, aliases: bool = False) -> list[tuple[int, Asset]]:
    """Assets with exactly this name, in this case: a dataset's name or title, a job's name, a column's field path.

    A dataset or job can be found as soon as its write transaction ends; a column some milliseconds later.

    Args:
        aliases: whether to find datasets by another name, for example in a catalog.

    Returns:
        Neo4j's id, valid within the transaction, and the asset; in order of key.
    """
    asked = lucene_query.whole(tx.tenant, name)
    rows = read_rows(tx, kind, asked, looked_at=MOST_EXACT, limit=MOST_EXACT, aliases=aliases)
    found = [row for row in rows if name in row.names]
    return [(row.id, row.asset) for row in sorted(found, key=lambda row: row.asset.key)]


def by_last_part(tx: Transaction, part: str, *, aliases: bool) -> list[tuple[int, Asset]]:
    """Datasets whose dotted name ends with this part: `orders` finds `default.orders` and `shop.sales.orders`.

    Only the best 10,000 datasets with these words anywhere in their names are considered.

    Args:
        part: part of a name, in its exact case; a part with a dot or a slash finds nothing.
        aliases: whether to search other names of datasets, too.

    Returns:
        Like `exact`.
    """
    asked = None if "." in part or "/" in part else lucene_query.containing(tx.tenant, part)
    if asked is None:
        return []
    statements = ["resolve/last_part", *(["resolve/last_part_of_alias"] if aliases else [])]
    parameters = {"query": asked, "ending": f".{part}", "looked_at": _LOOKED_AT, "limit": MOST_EXACT}
    rows = [row for statement in statements for row in tx.rows(statement, **parameters)]
    return list(dict.fromkeys((row["id"], dataset_asset(row["properties"])) for row in rows))


def nearest(tx: Transaction, kind: AssetKind, text: str, *, most: int = _MOST_NEAREST) -> list[Asset]:
    """Assets with similar names, the most similar first; may be empty.

    Candidates share with the text a word, a prefix of a word, or a word with one or two wrong letters.
    """
    asked = lucene_query.any_similar(tx.tenant, text)
    if asked is None:
        return []
    rows = read_rows(tx, kind, asked, looked_at=_COMPARED, limit=_COMPARED)
    wanted = text.casefold()[:_COMPARED_CHARACTERS]
    ranked = sorted(
        ((_likeness(row, wanted), row.asset.spelling, row) for row in rows), key=lambda each: (-each[0], each[1])
    )
    return [row.asset for likeness, _, row in ranked[:most] if likeness >= _LEAST_ALIKE]


def _likeness(row: Row, wanted: str) -> float:
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(wanted)
    best = 0.0
    for name in {*row.names, row.asset.spelling}:
        matcher.set_seq1(name.casefold()[:_COMPARED_CHARACTERS])
        if matcher.quick_ratio() > best:
            best = max(best, matcher.ratio())
    return best
