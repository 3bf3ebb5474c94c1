"""Search words of names, texts and paths for the full-text indexes, and display titles of datasets.

No analyzer of Neo4j finds `departed` in `flights.departed`, `2013` in `x_2013` and `case` in `camelCase` (tried:
standard, simple, whitespace, keyword, classic, url, cjk, english). So names are cut here and stored as the property
`_words`; the index only splits this property at spaces. A word has only lower-case letters, marks and digits. No such
character is special to Lucene's query parser, so words need no escaping.

    s3://b/x_2013/OrderIDs  ⇒ s3 b x 2013 order ids
    HTTPServer2Log          ⇒ http server2 log
    Büro.Straße             ⇒ buro strasse
    注文データ               ⇒ 注文 文テ テー ータ      (pairs, because these scripts don't separate words)

A path is found only as a whole, by its mark: a hash of 64 bits. A run or micro-batch that read or wrote a file has the
file's mark in the `_marks` of its positions. The index `headwater_position_paths` covers these marks. The paths
themselves can't be indexed: Lucene accepts no word over 32,766 bytes, and a commit with a longer word stops the
database. Marks may collide, so a search compares the paths as well.

    file:///lake/d/dt=1/part-0   ⇒ marks of  file:/lake/d/dt=1/part-0  and of its partition  file:/lake/d/dt=1
    s3a://b/d/part-0             ⇒ mark of   s3://b/d/part-0
    dt=1/hour=2                  ⇒ marks of  dt=1/hour=2  and  dt=1    (a table's partition)
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice, pairwise

LONGEST_WORD = 64
"""Maximum length of a word in characters; a longer word is cut."""
MOST_WORDS = 200
"""Maximum number of words per name: a name of 10 KB is found by its first 200 words."""

# Every batch names the same jobs and datasets again, and most tables have columns of the same names; words take 100 µs.
_CACHED = 1 << 13

_RUN = re.compile(r"[^\W_]+")
_ASCII_WORD = re.compile(r"[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[A-Z]|[0-9]+")
_PAIRED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)")


def words(text: str) -> list[str]:
    """The words of a text, each once, in order."""
    found: dict[str, None] = {}
    for run in _RUN.findall(text if text.isascii() else _folded(text)):
        for word in _ASCII_WORD.findall(run) if run.isascii() else _unicode_words(run):
            found[word.casefold()[:LONGEST_WORD]] = None
            if len(found) == MOST_WORDS:
                return list(found)
    return list(found)


@lru_cache(_CACHED)
def dataset_words(tenant: str, namespace: str, name: str) -> str:
    """`_words` of a dataset."""
    return _name_words(tenant, name, dataset_title(name), namespace=namespace)


@lru_cache(_CACHED)
def job_words(tenant: str, namespace: str, name: str) -> str:
    """`_words` of a job."""
    return _name_words(tenant, name, namespace=namespace)


def consumer_words(tenant: str, name: str) -> str:
    """`_words` of a consumer."""
    return _name_words(tenant, name)


@lru_cache(_CACHED)
def column_words(tenant: str, path: str) -> str:
    """`_words` of a column."""
    return _name_words(tenant, path)


def _name_words(tenant: str, *titles: str, namespace: str = "") -> str:
    """Words of all names of a node, and a mark of each title.

    A search for a whole title looks for its mark (`whole_mark`). Titles of two to four
    words are also included as one word (`dailyreport`).
    """
    out = dict.fromkeys((tenant_mark(tenant), *map(whole_mark, titles)))
    for name in (namespace, *titles):
        out.update(dict.fromkeys(words(name)))
    for title in titles:
        parts = words(title)
        if 1 < len(parts) <= 4 and len(joined := "".join(parts)) <= LONGEST_WORD:
            out[joined] = None
    return " ".join(out)


def text_words(texts: Iterable[str]) -> str:
    """Words of several texts, for example of owners."""
    return " ".join(dict.fromkeys(word for text in texts for word in words(text)))


def tenant_mark(tenant: str) -> str:
    """Word that all nodes of a tenant have, and no others."""
    return f"t_{_digest(tenant)}"


def id_start(tenant: str, text: str) -> str:
    """Return the prefix that finds a tenant's ids beginning with `text`; cut, because an index accepts at most 8 KB."""
    return f"{tenant_mark(tenant)} {text[:LONGEST_WORD]}"


def whole_mark(name: str) -> str:
    """Word for a whole name, with its exact spelling."""
    return f"n_{_digest(name)}"


def _digest(text: str) -> str:
    # 64 bits: names with the same mark are compared afterwards anyway.
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _folded(text: str) -> str:
    """Normalize compatible forms and remove accents: Ａ becomes A, é becomes e."""
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(each for each in parts if unicodedata.category(each) != "Mn"))


def _unicode_words(run: str) -> list[str]:
    """Words of a run of letters and digits: cut at capitals; pairs of characters for scripts without spaces."""
    out: list[str] = []
    for part in _PAIRED.split(run):
        if _PAIRED.fullmatch(part):
            out += ["".join(pair) for pair in pairwise(part)] or [part]
            continue
        start = 0
        for at in range(1, len(part)):
            begins = part[at].isupper() and (not part[at - 1].isupper() or part[at + 1 : at + 2].islower())
            ends_number = part[at].isalpha() and part[at - 1].isdigit() and part[start:at].isdigit()
            if begins or ends_number:
                out.append(part[start:at])
                start = at
        if part:
            out.append(part[start:])
    return out


def dataset_title(name: str) -> str:
    """Display title of a dataset: the last step of a path; any other name unchanged.

    /data/flights/daily_report ⇒ daily_report
    s3 key warehouse/orders/   ⇒ orders
    flights.departed           ⇒ flights.departed
    /                          ⇒ /
    """
    return name.rstrip("/").rpartition("/")[2] or name


_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?://([^/]*))?(.*)", re.DOTALL)
_MOST_FOLDERS = 100
"""Maximum number of a path's folders, from its root, that are searched for partitions."""
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}


def path_marks(paths: Iterable[str]) -> list[str]:
    """Sorted marks of some paths and of the partitions (`key=value` folders) in them."""
    return sorted({_digest(each) for path in paths for each in _path_and_partitions(canonical_path(path))})


def path_mark(path: str) -> str:
    """Mark of one path or partition: 16 hex digits."""
    return _digest(canonical_path(path))


def canonical_path(path: str) -> str:
    """Canonical spelling of a path: `file:///x`, `file://localhost/x` and `/x` become `file:/x`, `s3a:` becomes `s3:`.

    A text without a scheme or leading slash, such as a table's partition, only loses its trailing slashes.
    """
    match = _URI.fullmatch(path)
    if match is None:
        scheme, authority, rest = ("file", "", path) if path.startswith("/") else ("", "", path)
    else:
        scheme, authority, rest = match[1].lower(), match[2] or "", match[3]
    scheme = _SCHEMES.get(scheme, scheme)
    rest = re.sub(r"/{2,}", "/", rest).rstrip("/")
    if scheme == "file" and authority.lower() == "localhost":
        authority = ""
    return f"{scheme}://{authority}{rest}" if authority else f"{scheme}:{rest}" if scheme else rest


def is_within(path: str, place: str) -> bool:
    """Return True if a path is the file or partition `place`, or lies in it. Both must be canonical."""
    return path == place or path.startswith(place + "/")


def _path_and_partitions(path: str) -> Iterator[str]:
    yield path
    for slash in reversed([match.start() for match in islice(re.finditer("/", path), _MOST_FOLDERS)]):
        folder = path[:slash]
        if "=" in folder.rpartition("/")[2]:
            yield folder
