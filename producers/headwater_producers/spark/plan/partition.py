"""Partitions of a table or folder by the values of their columns, and changes of them by DDL."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from headwater_schemas.redaction import redact

MAX_PARTITIONS: Final = 100
"""Maximum number of listed partitions; further ones are only counted."""

Partition = tuple[tuple[str, str | None], ...]
"""Values of partition columns, in the order of the columns; None for null."""

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
# Characters that Spark and Hive write as %XX in the name of a partition's folder (ExternalCatalogUtils).
_ESCAPED: Final = re.compile(r"[\x00-\x1f\x7f\"#%'*/:=?\\{\[\]^]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionChange:
    """DDL change of a table's partitions.

    Attributes:
        change: ADD, DROP, RENAME, TRUNCATE, LOCATION, or RECOVER for the partitions that MSCK REPAIR TABLE adds or
            removes.
        partitions: first `MAX_PARTITIONS` changed partitions; empty if the statement doesn't name them.
        previous: with RENAME, the partition's former values.
        count: number of partitions that the statement names; None if it names none.
    """

    change: str
    partitions: tuple[Partition, ...] = ()
    previous: Partition = ()
    count: int | None = None


def partition_path(partition: Partition) -> str:
    """Return a partition's folder as Spark names it: `day=2024-01-01/city=S%3At`; null is a reserved name.

    A path with a secret is redacted and not escaped: if a quote were `%27`, the end of the secret wouldn't be found.
    """
    values = [(name, _NULL if value is None else value) for name, value in partition]
    plain = "/".join(f"{name}={value}" for name, value in values)
    if (shown := redact(plain)) != plain:
        return shown
    return "/".join(f"{_escaped(name)}={_escaped(value)}" for name, value in values)


def path_partition(path: str) -> Partition:
    """Parse a folder's path as a partition: `/data/flights/day=2024-01-01/city=S%3At` has two values."""
    found: list[tuple[str, str | None]] = []
    for folder in reversed(path.rstrip("/").split("/")):
        name, equals, value = folder.partition("=")
        if not name or not equals:
            break
        found.append((name, partition_value(re.sub("%([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), value))))
    return tuple(reversed(found))


def partition_value(text: str | None) -> str | None:
    """Return the value of a catalog's text; None for an empty text, and for Spark's reserved name of null."""
    return None if text in ("", _NULL) else text


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
