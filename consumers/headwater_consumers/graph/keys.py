"""Keys of nodes and keyed relationships, one function each: `identity.graph_key` over the tuple written here.

| of           | tuple, after the tenant                                                                   |
|--------------|-------------------------------------------------------------------------------------------|
| Job          | "job", namespace, name                                                                    |
| Dataset      | "dataset", namespace, name                                                                |
| Alias        | "alias", namespace, name                                                                  |
| Column       | "column", dataset key, field path                                                         |
| Version      | "version", dataset key, format ("files" for a manifest), snapshot id or manifest digest   |
| Run          | "run", run id                                                                             |
| Query        | "query", query id                                                                         |
| Plan         | "plan", job key, digest                                                                   |
| Interval     | "interval", query key, batch id                                                           |
| Conflict     | "conflict", query key, batch id, source end digest                                        |
| CONSUMED, PRODUCED | type, key of the node it leaves, dataset key, how many times it used that dataset before |
| FEEDS        | "FEEDS", job key, key of the dataset fed from, key of the dataset fed                     |
| DERIVES, INFLUENCES, GENERATES | type, plan key, keys of both ends, edge type, subtype, kind, masking, expression id |

Cached, because a batch of events names the same few jobs and datasets thousands of times and a key costs 5 µs. An entry
takes 300 bytes, so all caches together stay below 30 MB.
"""

from __future__ import annotations

from functools import lru_cache

from headwater_schemas.identity import Part, graph_key

_CACHED = 1 << 14


@lru_cache(_CACHED)
def job_key(tenant: str, namespace: str, name: str) -> str:
    """Key of a job."""
    return graph_key(tenant, "job", namespace, name)


@lru_cache(_CACHED)
def dataset_key(tenant: str, namespace: str, name: str) -> str:
    """Key of a dataset."""
    return graph_key(tenant, "dataset", namespace, name)


@lru_cache(_CACHED)
def alias_key(tenant: str, namespace: str, name: str) -> str:
    """Key of a name that a dataset is known by besides its own."""
    return graph_key(tenant, "alias", namespace, name)


@lru_cache(_CACHED)
def column_key(tenant: str, dataset: str, path: str) -> str:
    """Key of a column of the dataset with that key."""
    return graph_key(tenant, "column", dataset, path)


def version_key(tenant: str, dataset: str, format_: str, version: str) -> str:
    """Key of one version of a dataset."""
    return graph_key(tenant, "version", dataset, format_, version)


@lru_cache(_CACHED)
def run_key(tenant: str, run_id: str) -> str:
    """Key of a run."""
    return graph_key(tenant, "run", run_id)


@lru_cache(_CACHED)
def query_key(tenant: str, query_id: str) -> str:
    """Key of a streaming query."""
    return graph_key(tenant, "query", query_id)


@lru_cache(_CACHED)
def plan_key(tenant: str, job: str, digest: str) -> str:
    """Key of a plan of the job with that key."""
    return graph_key(tenant, "plan", job, digest)


def interval_key(tenant: str, query: str, batch_id: int) -> str:
    """Key of a micro-batch of the query with that key."""
    return graph_key(tenant, "interval", query, batch_id)


def conflict_key(tenant: str, query: str, batch_id: int, digest: str) -> str:
    """Key of what was reported of a micro-batch with other source end positions than the interval's."""
    return graph_key(tenant, "conflict", query, batch_id, digest)


def use_key(tenant: str, type_: str, owner: str, dataset: str, ordinal: int) -> str:
    """Key of a CONSUMED or PRODUCED relationship; `ordinal` counts uses of one dataset by one owner from 0."""
    return graph_key(tenant, type_, owner, dataset, ordinal)


@lru_cache(_CACHED)
def feeds_key(tenant: str, job: str, source: str, target: str) -> str:
    """Key of a FEEDS relationship."""
    return graph_key(tenant, "FEEDS", job, source, target)


def edge_key(tenant: str, type_: str, plan: str, *parts: Part) -> str:
    """Key of a DERIVES, INFLUENCES or GENERATES relationship."""
    return graph_key(tenant, type_, plan, *parts)
