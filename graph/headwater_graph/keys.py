"""Keys of nodes and keyed relationships, one function each: `identity.graph_key` of these tuples.

| of           | tuple, after the tenant                                                                   |
|--------------|-------------------------------------------------------------------------------------------|
| Job          | "job", namespace, name                                                                    |
| Dataset      | "dataset", namespace, name                                                                |
| Alias        | "alias", namespace, name                                                                  |
| Column       | "column", dataset key, field path                                                         |
| Version      | "version", dataset key, format ("files" for a manifest), snapshot id or manifest digest   |
| SchemaVersion | "schema", dataset key, digest of its fields                                              |
| Run          | "run", run id                                                                             |
| Query        | "query", query id                                                                         |
| Plan         | "plan", job key, digest                                                                   |
| Interval     | "interval", query key, batch id                                                           |
| Segment      | "segment", query key, number (batch ids 0 to 511: 0)                                      |
| Summary      | "summary", query key, run key or null, days from the epoch or null                        |
| Retention    | "retention", namespace or null, job's name or null                                         |
| Consumer     | "consumer", name                                                                          |
| DeclarationSet | "declaration_set", the set's id                                                         |
| Declaration  | "declaration", key of its set, digest of its content                                      |
| Incident     | "incident", the incident's id                                                             |
| campaign of a Run | "campaign", the campaign's id                                                        |
| Conflict     | "conflict", query key, batch id, source end digest                                        |
| CONSUMED, PRODUCED | type, key of the start node, dataset key, number of earlier uses of that dataset |
| FEEDS        | "FEEDS", job key, key of the source dataset, key of the dataset that it feeds             |
| DERIVES, INFLUENCES, GENERATES | type, plan key, keys of both ends, edge type, subtype, kind, masking, expression id |

Keys are cached, because a batch of events names the same few jobs and datasets thousands of times, and computing a key
takes 5 µs. An entry takes 300 bytes, so all caches together stay below 30 MB.
"""

from __future__ import annotations

from functools import lru_cache

from headwater_graph.facts.model import UseKey
from headwater_graph.facts.nodes import IntervalFacts, Link
from headwater_graph.facts.properties import flatten
from headwater_graph.facts.registers import Props, Registers
from headwater_graph.words import column_words
from headwater_schemas.identity import Part, canonical, graph_key, key_of

_CACHED = 1 << 14

ASSET = "_asset"
SCOPE = "_scope"


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
    """Key of an alias: a further name of a dataset."""
    return graph_key(tenant, "alias", namespace, name)


@lru_cache(_CACHED)
def column_key(tenant: str, dataset: str, path: str) -> str:
    """Key of a column of the dataset with that key."""
    return graph_key(tenant, "column", dataset, path)


@lru_cache(_CACHED)
def scope_key(tenant: str, kind: str, namespace: str = "") -> str:
    """Key of a scope: all datasets or jobs of a namespace, or all consumers. Short, because every node stores one."""
    return graph_key(tenant, "scope", kind, namespace)[:16]


def owned(tenant: str, kind: str, namespace: str, asset: str) -> Props:
    """Access-control properties of a node: the asset that it belongs to, and the asset's scope.

    Args:
        kind: "dataset", "job" or "consumer".
        namespace: namespace of the dataset or job; empty for a consumer.
        asset: key of the dataset, job or consumer. Nodes of the asset, such as columns and runs, have this key, too.
    """
    return {ASSET: asset, SCOPE: scope_key(tenant, kind, namespace)}


def owner_of(identity: Props) -> Props:
    """Return the access-control properties (`owned`) of a node, for another node of the same asset."""
    return {name: identity[name] for name in (ASSET, SCOPE)}


def version_key(tenant: str, dataset: str, format_: str, version: str) -> str:
    """Key of one version of a dataset."""
    return graph_key(tenant, "version", dataset, format_, version)


@lru_cache(_CACHED)
def schema_key(tenant: str, dataset: str, digest: str) -> str:
    """Key of one schema of the dataset with that key."""
    return graph_key(tenant, "schema", dataset, digest)


@lru_cache(_CACHED)
def run_key(tenant: str, run_id: str) -> str:
    """Key of a run."""
    return graph_key(tenant, "run", run_id)


@lru_cache(_CACHED)
def query_key(tenant: str, query_id: str) -> str:
    """Key of a streaming query."""
    return graph_key(tenant, "query", query_id)


@lru_cache(_CACHED)
def campaign_key(tenant: str, campaign: str) -> str:
    """Key of a campaign. A campaign has no node: its runs store the key."""
    return graph_key(tenant, "campaign", campaign)


@lru_cache(_CACHED)
def plan_key(tenant: str, job: str, digest: str) -> str:
    """Key of a plan of the job with that key."""
    return graph_key(tenant, "plan", job, digest)


def interval_key(tenant: str, query: str, batch_id: int) -> str:
    """Key of a micro-batch of the query with that key."""
    return graph_key(tenant, "interval", query, batch_id)


def segment_key(tenant: str, query: str, number: int) -> str:
    """Key of a segment of the query with that key."""
    return graph_key(tenant, "segment", query, number)


def conflict_key(tenant: str, query: str, batch_id: int, digest: str) -> str:
    """Key of a Conflict: a report of a micro-batch with other source end positions than the interval's."""
    return graph_key(tenant, "conflict", query, batch_id, digest)


def summary_key(tenant: str, query: str, run: str | None, day: int | None) -> str:
    """Key of a summary: the query's key, the run's key and the day, counted from the epoch."""
    return graph_key(tenant, "summary", query, run, day)


def retention_key(tenant: str, namespace: str | None, job: str | None) -> str:
    """Key of a retention scope: all jobs, the jobs of a namespace, or one job."""
    return graph_key(tenant, "retention", namespace, job)


def consumer_key(tenant: str, name: str) -> str:
    """Key of a consumer."""
    return graph_key(tenant, "consumer", name)


@lru_cache(_CACHED)
def declaration_set_key(tenant: str, set_: str) -> str:
    """Key of a declaration set."""
    return graph_key(tenant, "declaration_set", set_)


def declaration_key(tenant: str, set_: str, digest: str) -> str:
    """Key of a declaration of the set with that key."""
    return graph_key(tenant, "declaration", set_, digest)


def incident_key(tenant: str, incident: str) -> str:
    """Key of an incident."""
    return graph_key(tenant, "incident", incident)


def use_key(tenant: str, type_: str, owner: str, dataset: str, ordinal: int) -> str:
    """Key of a CONSUMED or PRODUCED relationship; `ordinal` counts uses of one dataset by one owner from 0."""
    # A batch has thousands of uses. Caching the parts that many of them share halves the time.
    return key_of(_canonical(tenant, type_) + canonical((owner,)) + _canonical(dataset, ordinal))


@lru_cache(_CACHED)
def _canonical(*parts: Part) -> bytes:
    return canonical(parts)


@lru_cache(_CACHED)
def feeds_key(tenant: str, job: str, source: str, target: str) -> str:
    """Key of a FEEDS relationship."""
    return graph_key(tenant, "FEEDS", job, source, target)


def edge_key(tenant: str, type_: str, plan: str, *parts: Part) -> str:
    """Key of a DERIVES, INFLUENCES or GENERATES relationship."""
    return graph_key(tenant, type_, plan, *parts)


def use_properties(tenant: str, owner: str, use: UseKey, registers: Registers) -> Props:
    """Visible properties of a CONSUMED or PRODUCED relationship."""
    out: Props = {"key": use_key(tenant, use.type, owner, use.dataset, use.ordinal)}
    if use.ordinal:
        out["ordinal"] = use.ordinal
    out.update(flatten(registers))
    return out


def column_identity(dataset: Props, path: str) -> Props:
    """Properties of a column that follow from its path and its dataset's identity."""
    tenant, owner = str(dataset["tenant"]), str(dataset["key"])
    return {
        "key": column_key(tenant, owner, path),
        "name": path,
        "tenant": tenant,
        "dataset": owner,
        "_words": column_words(tenant, path),
        **owner_of(dataset),
    }


def interval_identity(key: str, tenant: str, query: str, query_id: str, batch_id: int) -> Props:
    """Properties of a micro-batch, of the query with that key, that follow from its own key."""
    return {
        "key": key,
        "name": f"batch {batch_id}",
        "tenant": tenant,
        "query": query,
        "query_id": query_id,
        "batch_id": batch_id,
    }


def conflict_identity(interval: IntervalFacts, digest: str) -> Props:
    """Properties of a conflict that follow from its key."""
    identity = interval.identity
    key = conflict_key(str(identity["tenant"]), interval.query, interval.batch_id, digest)
    return {**identity, "key": key, "name": f"batch {interval.batch_id} (conflict)"}


def feeds_identity(tenant: str, job_name: str, scope: str, link: Link) -> Props:
    """Properties of a FEEDS relationship that follow from its key; `scope` is its job's scope."""
    key = feeds_key(tenant, link.via, link.start, link.end)
    return {"key": key, "job": link.via, "job_name": job_name, SCOPE: scope}
