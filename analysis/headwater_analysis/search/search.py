"""Search question: assets with a name, owner, tag or column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any

from headwater_analysis import paging
from headwater_analysis.assets import Asset, AssetKind
from headwater_analysis.errors import NotPreparedError, QuestionError
from headwater_analysis.identity import Identities
from headwater_analysis.reader import Reader, Transaction
from headwater_analysis.search import lucene_query
from headwater_analysis.search.consumers import FoundConsumer, begins, consumers_called
from headwater_analysis.search.declared import declared_rows, with_declared
from headwater_analysis.search.facets import SearchFacets, facets_of_hits
from headwater_analysis.search.found_rows import Row, columns_of, read_rows, with_uses
from headwater_graph.words import words
from headwater_schemas.events import Sensitivity

MOST_HITS = 1_000
"""Maximum number of hits of one kind to rank; if there are more, the answer is `truncated`."""

# The filter by namespace runs after the index, which returns at most this number of best hits.
_LOOKED_AT = 10_000
_KINDS = (AssetKind.DATASET, AssetKind.JOB, AssetKind.COLUMN)


class Match(StrEnum):
    """Match of a hit with the text; the best match is first."""

    EXACT = "EXACT"
    """The name, title, spelling or field path is the text."""
    WORDS = "WORDS"
    """The names have all words of the text."""
    BEGINNINGS = "BEGINNINGS"
    """The names have words that begin with the words of the text."""
    OWNER_OR_TAG = "OWNER_OR_TAG"
    """The owners, or the tags, of the dataset or job have all words of the text."""
    ALIKE = "ALIKE"
    """The names have words like the text's, with one or two wrong letters."""
    FILTERS = "FILTERS"
    """No text was given; the asset passes the filters."""


@dataclass(frozen=True, slots=True)
class HitTag:
    """A tag of a dataset, a job or a column.

    Attributes:
        key: such as `pii`.
        value: '' for none.
        column: field path, for a tag of one column; None: the whole dataset or job.
    """

    key: str
    value: str
    column: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """An asset that was found.

    Attributes:
        asset: the asset.
        match: match with the text.
        owners: owners (for a column, its dataset's): reported by events, then declared.
        tags: tags reported by events, then declared; for a column, only its own.
        gone: whether the dataset was dropped, or the column left its schema.
        sensitivity: declared sensitivity. For a dataset, the greatest of its own and of its columns; for a column its
            own, else that of its dataset.
    """

    asset: Asset
    match: Match
    owners: tuple[str, ...]
    tags: tuple[HitTag, ...]
    gone: bool
    sensitivity: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Hits, the best first.

    Hits are in this order: whole names, names that begin with the text, other matches by `match`. Among equal hits,
    datasets come before jobs and columns, then datasets that feed more datasets, then hits that the index ranks higher.

    Attributes:
        items: hits of this page.
        total: number of hits; at most the best 1,000 of each kind count.
        truncated: whether there are more hits than `total`.
        next_cursor: cursor of the next page; None on the last page.
        consumers: declared consumers by words of their names, by owner and tag; at most 20. Only on the first page;
            none if the question gives kinds, types, a sensitivity, a column or a namespace. `total` doesn't include
            them.
        facets: number of counted hits by type, namespace, owner, tag, sensitivity and kind; None if not requested.
    """

    items: tuple[Hit, ...]
    total: int
    truncated: bool
    next_cursor: str | None
    consumers: tuple[FoundConsumer, ...] = ()
    facets: SearchFacets | None = None


def search(
    reader: Reader,
    text: str = "",
    *,
    kinds: Sequence[AssetKind] | None = None,
    owner: str | None = None,
    tag: str | None = None,
    column: str | None = None,
    namespace: str | None = None,
    types: Sequence[str] = (),
    sensitivity: Sensitivity | None = None,
    fuzzy: bool = False,
    facets: bool = False,
    limit: int = 20,
    cursor: str | None = None,
) -> SearchPage:
    """Search assets by words of their names; words of the text match beginnings: `fli dep` finds `flights.departed`.

    A single letter matches only a whole word. Datasets and jobs are also found by whole words of an owner or a tag.

    If this finds nothing, or with `fuzzy`, words with one or two wrong letters match, too.

    Args:
        text: words of names, or a whole name; case doesn't matter. Without a text, everything that passes the filters
            is a hit.
        kinds: kinds of assets. Default: all kinds; without a text, or with types, only datasets and jobs.
        owner: words that the owner's name must all have: `flights` finds assets of `team:flights`.
        tag: words of a tag's key or value; or `key=value`, which must match as a whole in any case.
        column: words of a column; the hits are then columns, and `text` is about their datasets.
        namespace: exact namespace of the dataset or job.
        types: types of datasets (TOPIC, TABLE …) or jobs (STREAMING, BATCH), in any case; a column has its dataset's
            type.
        sensitivity: declared sensitivity; for a dataset, the greatest of its own and of its columns.
        fuzzy: whether to include words with one or two wrong letters even if there are exact hits.
        facets: whether to count the hits by type, namespace, owner, tag, sensitivity and kind.
        limit: maximum number of hits on a page.
        cursor: `next_cursor` of the page before.

    Raises:
        QuestionError: the cursor belongs to another question, or `column` is combined with kinds other than columns.
    """
    if column is not None and kinds is not None and set(kinds) != {AssetKind.COLUMN}:
        raise QuestionError("With `column`, all hits are columns: leave `kind` out.", field="kind")
    filters = _Filters(owner, tag, namespace, tuple(each.upper() for each in types), sensitivity)
    narrowed = bool(filters.types) or sensitivity is not None
    with_consumers = kinds is None and column is None and namespace is None and cursor is None and not narrowed
    if kinds is None:
        kinds = (AssetKind.COLUMN,) if column is not None else _KINDS if text and not filters.types else _KINDS[:2]
    wanted = tuple(kind for kind in _KINDS if kind in kinds)
    more = (filters.types, sensitivity) if narrowed else ()
    asked = ("search", reader.tenant, text, wanted, filters, column, fuzzy, *more)
    start = paging.decode_start(cursor, question=asked)

    after = start + limit

    def question(tx: Transaction) -> SearchPage:
        if column is not None:
            hits, truncated = _columns(tx, column, text, filters, fuzzy=fuzzy)
        else:
            hits, truncated = _hits(tx, partial(_read, tx, text=text, filters=filters), wanted, text, fuzzy=fuzzy)
            if not hits and text.count(".") > 1:
                # The first part may be the catalog's name in a session: `lake.db.table` means the catalog's `db.table`,
                # if any.
                rest = text.partition(".")[2]
                hits, truncated = _hits(tx, partial(_read, tx, text=rest, filters=filters), wanted, rest, fuzzy=fuzzy)
        rows = with_declared(tx, [row for row, _ in (hits if facets else hits[start:after])])
        shown = rows[start:after] if facets else rows
        return SearchPage(
            items=tuple(_hit(row, match) for row, (_, match) in zip(shown, hits[start:after], strict=True)),
            total=len(hits),
            truncated=truncated,
            next_cursor=paging.encode((after,), question=asked) if after < len(hits) else None,
            consumers=filters.consumers(tx, text) if with_consumers else (),
            facets=facets_of_hits(rows) if facets else None,
        )

    try:
        return reader.read(question)
    except NotPreparedError:
        return SearchPage((), 0, truncated=False, next_cursor=None, facets=facets_of_hits(()) if facets else None)


@dataclass(frozen=True, slots=True)
class _Filters:
    owner: str | None
    tag: str | None
    namespace: str | None
    # In a question's cursor only if set (`search`), so that other questions' cursors stay valid.
    types: tuple[str, ...] = field(default=(), repr=False)
    sensitivity: Sensitivity | None = field(default=None, repr=False)

    @property
    def any_label(self) -> bool:
        """True if rows must be compared with declared owners, tags or sensitivities."""
        return self.owner is not None or self.tag is not None or self.sensitivity is not None

    def clauses(self) -> list[str]:
        """Clauses on the index's fields of datasets and jobs."""
        out = []
        if self.owner is not None:
            out.append(lucene_query.has_words("_owner_words", self.owner))
        if self.tag is not None:
            out.append(lucene_query.has_words("_tag_words", self.tag))
        return out

    def admit(self, row: Row) -> bool:
        """Check conditions that the index can't check: values of tags, and owners and tags of a column's dataset."""
        if self.owner is not None and not _has_words(row.owners, self.owner):
            return False
        if self.sensitivity is not None and row.sensitivity != self.sensitivity:
            return False
        return self.tag is None or any(_is_tag(self.tag, key, value) for key, value, _ in _tags(row))

    def declared(self, tx: Transaction, kind: AssetKind) -> list[Row]:
        """Assets with any name for which a set declares the owner, the tag or the sensitivity."""
        return declared_rows(
            tx,
            kind,
            is_owner=self._is_owner(),
            is_tag=self._is_tag(),
            namespace=self.namespace,
            limit=_LOOKED_AT,
            types=self.types,
            sensitivity=self.sensitivity,
        )

    def declared_as(self, tx: Transaction, kind: AssetKind, text: str) -> list[Row]:
        """Assets for which a set declares an owner or a tag with all words of a text."""
        return declared_rows(
            tx,
            kind,
            is_owner=lambda name: _has_words((name,), text),
            is_tag=lambda key, value: _has_words((key, value), text),
            namespace=self.namespace,
            limit=_LOOKED_AT,
            types=self.types,
        )

    def consumers(self, tx: Transaction, text: str) -> tuple[FoundConsumer, ...]:
        """Declared consumers with this name."""
        return consumers_called(tx, text, is_owner=self._is_owner(), is_tag=self._is_tag())

    def _is_owner(self) -> Callable[[str], bool] | None:
        owner = self.owner
        return None if owner is None else lambda name: _has_words((name,), owner)

    def _is_tag(self) -> Callable[[str, str], bool] | None:
        tag = self.tag
        return None if tag is None else lambda key, value: _is_tag(tag, key, value)


def _hits(
    tx: Transaction,
    read: Callable[[AssetKind, Callable[..., str | None]], list[Row]],
    kinds: Sequence[AssetKind],
    text: str,
    *,
    fuzzy: bool,
) -> tuple[list[tuple[Row, Match]], bool]:
    query_makers: list[Callable[..., str | None]] = (
        [lucene_query.similar] if fuzzy else [lucene_query.beginnings, lucene_query.similar]
    )
    for make_query in query_makers if text else [lucene_query.beginnings]:
        found = {kind: read(kind, make_query) for kind in kinds}
        if any(found.values()):
            ranked = [(row, _match(row, text)) for rows in found.values() for row in with_uses(tx, rows)]
            ranked.sort(key=lambda hit: _rank(hit[0], hit[1], text))
            return ranked, any(len(rows) >= MOST_HITS for rows in found.values())
    return [], False


def _read(
    tx: Transaction,
    kind: AssetKind,
    make_query: Callable[..., str | None],
    text: str,
    filters: _Filters,
    *,
    labels: bool = True,
) -> list[Row]:
    """Rows that the index finds for a text, by words of names; with `labels` also by words of owners and tags."""
    # Columns have no owners and tags in the index: the owners and tags of their datasets are compared afterwards.
    clauses = [] if kind is AssetKind.COLUMN else filters.clauses()
    asked = make_query(tx.tenant, text, *clauses)
    if asked is None:
        return []
    given: dict[str, Any] = {"looked_at": _LOOKED_AT, "limit": MOST_HITS}
    given |= {"namespace": filters.namespace, "types": filters.types}
    rows = read_rows(tx, kind, asked, **given)
    if kind is AssetKind.DATASET and not clauses and text and Identities.of(tx).any:
        rows = _with_aliases(tx, rows, asked, filters)
    found = {row.asset.key: row for row in rows}
    if labels and text and kind is not AssetKind.COLUMN:
        of_labels = lucene_query.labelled(tx.tenant, text, *clauses)
        by_label = read_rows(tx, kind, of_labels, **given) if of_labels else []
        for row in _shown(tx, [*by_label, *filters.declared_as(tx, kind, text)]):
            found[row.asset.key] = replace(found.get(row.asset.key, row), labelled=True)
    if not filters.any_label:
        return list(found.values())[:MOST_HITS]
    for row in filters.declared(tx, kind):
        if row.asset.key not in found and _match(row, text) is not Match.ALIKE:
            found[row.asset.key] = row
    return [row for row in with_declared(tx, list(found.values())) if filters.admit(row)][:MOST_HITS]


def _shown(tx: Transaction, rows: Sequence[Row]) -> list[Row]:
    """Rows with the shown name of each dataset; other rows stay unchanged."""
    if not rows or rows[0].asset.kind is not AssetKind.DATASET or not Identities.of(tx).any:
        return list(rows)
    identities = Identities.of(tx)
    identities.look_at(row.asset.key for row in rows)
    out = []
    for row in rows:
        key = identities.shown(row.asset.key)
        named = identities.named(key)
        same = key == row.asset.key or named is None
        out.append(row if same or named is None else replace(row, id=named.id, asset=named.asset, gone=named.dropped))
    return out


def _with_aliases(tx: Transaction, rows: Sequence[Row], asked: str, filters: _Filters) -> list[Row]:
    """Datasets found by their own or other names, each once, under its shown name."""
    given: dict[str, Any] = {"namespace": filters.namespace, "types": filters.types}
    named = read_rows(tx, AssetKind.DATASET, asked, looked_at=_LOOKED_AT, limit=MOST_HITS, aliases=True, **given)
    identities, found = Identities.of(tx), dict[str, Row]()
    identities.look_at(row.asset.key for row in (*rows, *named))
    for row in (*rows, *named):
        key = identities.shown(row.asset.key)
        shown = identities.named(key)
        known = found.get(key)
        names = dict.fromkeys((*(known.names if known else ()), *row.names))
        best = row if known is None else known
        if shown is not None and best.asset.key == row.asset.key:
            best = replace(best, asset=shown.asset, gone=shown.dropped)
        found[key] = replace(best, names=tuple(names), score=max(row.score, best.score))
    return list(found.values())


def _columns(
    tx: Transaction, column: str, text: str, filters: _Filters, *, fuzzy: bool
) -> tuple[list[tuple[Row, Match]], bool]:
    """Columns by their own words; with a text, only columns of datasets that match the text."""
    if not text:
        return _hits(tx, lambda kind, make: _read(tx, kind, make, column, filters), _KINDS[2:], column, fuzzy=fuzzy)

    of_datasets = _Filters(None, None, filters.namespace, filters.types)

    def read(kind: AssetKind, make_query: Callable[..., str | None]) -> list[Row]:
        return _read(tx, kind, make_query, text, of_datasets, labels=False)

    datasets, truncated = _hits(tx, read, _KINDS[:1], text, fuzzy=fuzzy)
    keys = [row.asset.key for row, _ in datasets]
    rows = [] if fuzzy or not words(column) else columns_of(tx, keys, words(column), limit=MOST_HITS)
    full = len(rows) >= MOST_HITS
    if not rows:
        of = {(row.asset.namespace, row.asset.name) for row, _ in datasets}
        every = _read(tx, AssetKind.COLUMN, lucene_query.similar, column, of_datasets)
        full = len(every) >= MOST_HITS
        rows = [row for row in every if (row.asset.namespace, row.asset.name) in of]
    if filters.any_label:
        rows = [row for row in with_declared(tx, rows) if filters.admit(row)]
    hits = sorted(((row, _match(row, column)) for row in rows), key=lambda hit: _rank(hit[0], hit[1], column))
    return hits, truncated or full


def _match(row: Row, text: str) -> Match:
    if not text:
        return Match.FILTERS
    if text in row.names or text == row.asset.spelling:
        return Match.EXACT
    of_text = _words(text)
    of_names = {word for name in (row.asset.namespace, *row.names) for word in _words(name)}
    if of_text and of_names.issuperset(of_text):
        return Match.WORDS
    if of_text and begins(of_names, of_text):
        return Match.BEGINNINGS
    return Match.OWNER_OR_TAG if row.labelled else Match.ALIKE


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[str, ...]:
    """Words of a text or a name. Cached, since thousands of rows share a text and a few namespaces."""
    return tuple(words(text))


def _rank(row: Row, match: Match, text: str) -> tuple[int, bool, bool, int, int, float, str]:
    asset = row.asset
    score = 0.0 if match is Match.FILTERS else row.score
    first = match is Match.EXACT or (match in _BY_WORDS and _starts(row, text))
    rank = _RANKS[match]
    # Names that begin with the text rank equally, even if the text's last word isn't whole: the other criteria decide.
    rank = rank if match is Match.EXACT or not first else _AFTER_EXACT
    return (rank, not first, row.gone, _KINDS.index(asset.kind), -row.uses, -score, asset.spelling)


_BY_WORDS = (Match.WORDS, Match.BEGINNINGS)
_RANKS = {match: rank for rank, match in enumerate(Match)}
_AFTER_EXACT = _RANKS[Match.WORDS]


def _starts(row: Row, text: str) -> bool:
    """Return whether a name, or its last part, begins with the text, in any case."""
    begin = text.casefold()
    parts = (part for name in row.names for part in (name, _LAST_PART.split(name)[-1]))
    return any(part.casefold().startswith(begin) for part in parts)


_LAST_PART = re.compile(r"[./]")


def _has_words(texts: Sequence[str], text: str) -> bool:
    asked = words(text)
    return bool(asked) and {word for each in texts for word in words(each)}.issuperset(asked)


def _is_tag(asked: str, key: str, value: str) -> bool:
    if "=" in asked:
        return asked.casefold() == f"{key}={value}".casefold()
    return _has_words((key, value), asked)


def _tags(row: Row) -> list[tuple[str, str, str]]:
    """Tags of a row; for a column, the tags of its dataset that are for this column."""
    if row.asset.kind is AssetKind.COLUMN:
        return [tag for tag in row.tags if tag[2] == row.asset.column]
    return list(row.tags)


def _hit(row: Row, match: Match) -> Hit:
    is_column = row.asset.kind is AssetKind.COLUMN
    tags = tuple(HitTag(key, value, None if is_column else field or None) for key, value, field in _tags(row))
    return Hit(row.asset, match, row.owners, tags, row.gone, row.sensitivity)
