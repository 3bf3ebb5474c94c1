"""Questions of every kind that the API answers, about assets of a graph whether hidden or not, drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from headwater_graph.facts.delta import GraphDelta
from headwater_graph.fold import fold
from headwater_schemas.events import LineageEvent


@dataclass(frozen=True)
class Question:
    """A request of the API.

    Attributes:
        operation: template of the path, with the method where it isn't GET.
        path: the path's own names, by place.
        query: parameters.
        body: JSON of the request; None for GET.
    """

    operation: str
    path: tuple[tuple[str, str], ...] = ()
    query: tuple[tuple[str, str], ...] = ()
    body: Any = None


class Names:
    """Names of a graph: those by which a person would ask for its nodes."""

    def __init__(self, events: Iterable[LineageEvent]) -> None:
        whole: GraphDelta = fold(list(events))
        self.datasets = sorted(
            f"{each.identity['namespace']}/{each.identity['name']}" for each in whole.datasets.values()
        )
        self.keys = sorted(whole.datasets)
        self.columns = sorted((key, path) for key, each in whole.datasets.items() for path in each.columns)
        self.jobs = sorted(whole.jobs)
        self.job_names = sorted(str(each.identity["name"]) for each in whole.jobs.values())
        self.runs = sorted(str(each.identity["run_id"]) for each in whole.runs.values())
        self.queries = sorted(str(each.identity["query_id"]) for each in whole.queries.values())
        self.consumers = sorted(str(each.identity["name"]) for each in whole.consumers.values())
        self.versions = sorted((each.dataset, str(each.identity["version"])) for each in whole.versions.values())
        self.topics = sorted({str(each.identity["name"]) for each in whole.datasets.values()})
        self.times = sorted(
            time.isoformat().replace("+00:00", "Z")
            for each in whole.runs.values()
            if (time := each.seen.last) is not None
        ) or ["2013-01-01T05:15:05Z"]


def questions(names: Names, seed: random.Random) -> Iterator[Question]:
    """Endless questions; each kind is as frequent as any other."""
    while True:
        found = _MAKERS[seed.randrange(len(_MAKERS))](names, seed)
        if found is not None:
            yield found


def _dataset(names: Names, seed: random.Random) -> str:
    """By key, by whole name, by the start of a key, or with a letter too many: near names are suggested."""
    key, name = seed.choice(names.keys), seed.choice(names.datasets)
    return seed.choice([key, key, name, name, key[:5], name + "x", name.rpartition("/")[2]])


def _some(seed: random.Random, **values: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in values.items() if seed.random() < 0.4)


def _page(seed: random.Random) -> tuple[tuple[str, str], ...]:
    return _some(seed, limit=seed.choice(["1", "2", "5"]))


def _of_dataset(below: str, **more: str) -> Any:
    def make(names: Names, seed: random.Random) -> Question:
        query = _some(seed, **more) + (_page(seed) if below not in {"", "/last-good", "/timeline/overview"} else ())
        return Question(f"/assets/{{id}}{below}", (("id", _dataset(names, seed)),), query)

    return make


def _of_job(below: str) -> Any:
    def make(names: Names, seed: random.Random) -> Question:
        job = seed.choice([seed.choice(names.jobs), seed.choice(names.job_names), seed.choice(names.jobs)[:5]])
        query = _page(seed) if below not in {"", "/last-good", "/timeline/overview"} else ()
        return Question(f"/jobs/{{id}}{below}", (("id", job),), query)

    return make


def _of_run(below: str) -> Any:
    def make(names: Names, seed: random.Random) -> Question | None:
        return Question(f"/runs/{{id}}{below}", (("id", seed.choice(names.runs)),)) if names.runs else None

    return make


def _lineage(direction: str) -> Any:
    def make(names: Names, seed: random.Random) -> Question:
        query = _some(seed, columns="true", depth="2", as_of=seed.choice(names.times), quality="true") + _page(seed)
        return Question(f"/assets/{{id}}/{direction}", (("id", _dataset(names, seed)),), query)

    return make


def _column_lineage(direction: str) -> Any:
    def make(names: Names, seed: random.Random) -> Question | None:
        if not names.columns:
            return None
        key, path = seed.choice(names.columns)
        query = _some(seed, influence=seed.choice(["DIRECT", "INDIRECT"]), depth="2") + _page(seed)
        return Question(f"/columns/{{asset}}/{{column}}/{direction}", (("asset", key), ("column", path)), query)

    return make


def _list(path: str, **more: str) -> Any:
    def make(_names: Names, seed: random.Random) -> Question:
        return Question(path, (), _some(seed, **more) + _page(seed))

    return make


def _graph(names: Names, seed: random.Random) -> Question:
    return Question("/graph", (), (("asset", _dataset(names, seed)), *_drawn(names, seed)))


def _drawn(names: Names, seed: random.Random) -> tuple[tuple[str, str], ...]:
    columns, limit = seed.choice(["start", "all"]), seed.choice(["1", "2", "3"])
    opened = ":".join(
        [seed.choice(["UPSTREAM", "DOWNSTREAM"]), *(seed.choice(names.keys) for _ in seed.choice(["1", "12"]))]
    )
    return _some(
        seed,
        columns=columns,
        depth="2",
        as_of=seed.choice(names.times),
        limit=limit,
        width=seed.choice(["1", "2"]),
        open=opened,
        to=_dataset(names, seed),
    )


def _neighbours(names: Names, seed: random.Random) -> Question:
    words, direction = seed.choice(names.topics), seed.choice(["UPSTREAM", "DOWNSTREAM"])
    more = _some(seed, q=words[:2], as_of=seed.choice(names.times)) + _page(seed)
    return Question("/neighbours", (), (("asset", _dataset(names, seed)), ("direction", direction), *more))


def _search(names: Names, seed: random.Random) -> Question:
    words = seed.choice([*names.topics, *names.job_names, "data", "job", "flights"])
    start = words[: seed.randrange(1, len(words) + 1)]
    return Question(
        "/search", (), (("q", start), *_some(seed, fuzzy="true", facets="true", sensitivity="PII"), *_page(seed))
    )


def _trace(names: Names, seed: random.Random) -> Question:
    at = str(seed.randrange(90))
    query = (("topic", seed.choice(names.topics)), ("partition", seed.choice("01")), ("offset", at))
    return Question("/traces", (), (*query, *_some(seed, direction="backward")))


def _trace_of_version(names: Names, seed: random.Random) -> Question | None:
    if not names.versions:
        return None
    dataset, version = seed.choice(names.versions)
    return Question("/traces", (), (("dataset", dataset), ("version", version), *_some(seed, direction="backward")))


def _blast(names: Names, seed: random.Random) -> Question | None:
    if names.queries and seed.random() < 0.5:
        return Question(
            "/blast", (), (("query", seed.choice(names.queries)), ("first_batch", "0"), ("last_batch", "5"))
        )
    return Question("/blast", (), (("run", seed.choice(names.runs)),)) if names.runs else None


def _impact(names: Names, seed: random.Random) -> Question:
    if names.columns and seed.random() < 0.6:
        key, path = seed.choice(names.columns)
        change = seed.choice([("REMOVED", {}), ("RENAMED", {"new_name": "n"}), ("RETYPED", {"new_type": "string"})])
        body = {"dataset": key, "column": path, "schema": change[0], **change[1]}
        return Question("POST /impact/analyze", (), _page(seed), body)
    return Question("/impact", (), (("dataset", _dataset(names, seed)), *_page(seed)))


def _may_delete(names: Names, seed: random.Random) -> Question:
    return Question("/may-delete", (), (("dataset", _dataset(names, seed)), ("since", "2013-01-01T00:00:00Z")))


def _privacy(names: Names, seed: random.Random) -> Question:
    return Question("/privacy", (), _some(seed, dataset=_dataset(names, seed)) + _page(seed))


def _diff(names: Names, seed: random.Random) -> Question:
    before, after = sorted(seed.choice(names.times) for _ in range(2))
    return Question("/diff", (), (("before", before), ("after", after), *_some(seed, job=seed.choice(names.jobs))))


def _consumer(names: Names, seed: random.Random) -> Question | None:
    return Question("/consumers/{id}", (("id", seed.choice(names.consumers)),)) if names.consumers else None


def _column(names: Names, seed: random.Random) -> Question | None:
    if not names.columns:
        return None
    key, path = seed.choice(names.columns)
    return Question("/columns/{id}", (("id", f"{key}#{path}"),))


def _named(names: Names, seed: random.Random) -> Question:
    anything = [_dataset(names, seed), seed.choice(names.job_names)]
    if names.columns:
        anything.append("#".join(seed.choice(names.columns)))
    anything += [seed.choice(each) for each in (names.consumers, names.runs) if each]
    name = seed.choice(anything)
    kinds = tuple(
        ("kind", kind) for kind in seed.choice([(), (), ("dataset", "job"), ("consumer",), ("run", "column")])
    )
    return Question("/named", (), (("name", seed.choice([name, name, name[:6], name + "x"])), *kinds))


def _status(_names: Names, _seed: random.Random) -> Question:
    return Question("/status")


_MAKERS = (
    *(_of_dataset(below) for below in ("", "/runs", "/versions")),
    *(_of_job(below) for below in ("", "/runs", "/intervals")),
    *(_of_run(below) for below in ("", "/inputs", "/outputs", "/intervals")),
    *(_lineage(direction) for direction in ("upstream", "downstream")),
    *(_column_lineage(direction) for direction in ("upstream", "downstream")),
    *(_list(path) for path in ("/assets", "/jobs", "/consumers", "/runs", "/open-runs", "/most-used")),
    *(_graph, _neighbours, _search, _search, _trace, _trace_of_version, _blast, _impact, _may_delete, _privacy, _diff),
    *(_consumer, _column, _named, _status),
)
