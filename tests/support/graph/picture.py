"""A dump that people can check by eye: names instead of keys, times of day, a line for each node and relationship.

    Run "enrich r1" state=COMPLETE ended_at=05:20:00
    Run "enrich r1" -CONSUMED-> Dataset "t" partitions=[0] from=[0] to_exclusive=[10]

Properties that follow from names are left out: key, name, title, tenant, namespace and those that hold a node's key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

_LEFT_OUT = frozenset(
    {"key", "name", "title", "tenant", "namespace", "query_id", "source_end_digest", "producer", "batch_id"}
)
_DAY = datetime(2013, 1, 1, tzinfo=UTC)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def picture(lines: Iterable[str]) -> list[str]:
    """The picture of a dump, sorted by what it shows."""
    return sorted(
        " ".join([title, *(f"{name}={value}" for name, value in properties.items())])
        for title, properties in shown(lines)
    )


def shown(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each node and relationship of a dump: its title, and its properties as the picture writes them."""
    documents = [json.loads(line) for line in lines]
    names = {d["key"]: f'{d["labels"][0]} "{_name(d["properties"])}"' for d in documents if "labels" in d}
    assert len(set(names.values())) == len(names), "two nodes of one name: choose others"
    for document in documents:
        if "labels" in document:
            title = names[document["key"]]
        else:
            title = f"{names[document['start']]} -{document['type']}-> {names[document['end']]}"
        yield (
            title,
            {
                name: _value(name, value, names)
                for name, value in document["properties"].items()
                if name not in _LEFT_OUT and not _is_reference(document, name)
            },
        )


def _is_reference(document: dict[str, Any], name: str) -> bool:
    # A column's dataset, an interval's query … are also relationships; a FEEDS edge's job is not.
    return "labels" in document and name in {"dataset", "job", "query", "digest"}


def _name(properties: dict[str, Any]) -> str:
    return str(properties["name"])


def _value(name: str, value: Any, names: dict[str, str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(name, item, names) for item in value)}]"
    if isinstance(value, str):
        return names.get(value, value if value and " " not in value else f"'{value}'")
    if isinstance(value, int) and value >= 10**15:
        return _time(_EPOCH + timedelta(microseconds=value))
    return json.dumps(value)


def _time(time: datetime) -> str:
    return f"{time:%H:%M:%S}" if time.date() == _DAY.date() else time.isoformat()
