"""Documents of the sequences that real producers emit, in short."""

from __future__ import annotations

from typing import Any

from support.openlineage_spec import CORE

PRODUCER = "https://example.com/producer"
Json = dict[str, Any]


def run_id(number: int) -> str:
    """Always the same for a number; its beginning distinguishes runs."""
    return f"{number:08x}-52f0-7bd1-9d55-1a2b3c4d5e6f"


def facet(**members: Any) -> Json:
    """A facet of any name."""
    return {"_producer": PRODUCER, "_schemaURL": "https://openlineage.io/spec/facets/1-0-0/Any.json", **members}


def dataset(name: str, namespace: str = "postgres://db:5432", **more: Json) -> Json:
    """A dataset; `facets`, `inputFacets`, `outputFacets` as given."""
    return {"namespace": namespace, "name": name, **more}


def run(
    type_: str,
    time: str,
    job: str = "totals",
    number: int = 1,
    *,
    inputs: list[Json] | None = None,
    outputs: list[Json] | None = None,
    facets: Json | None = None,
    job_facets: Json | None = None,
) -> Json:
    """A RunEvent; a time such as 05:20:00 is of one day, in UTC."""
    return {
        "eventType": type_,
        "eventTime": time if "T" in time else f"2013-01-01T{time}Z",
        "producer": PRODUCER,
        "schemaURL": f"{CORE}#/$defs/RunEvent",
        "run": {"runId": run_id(number), "facets": facets or {}},
        "job": {"namespace": "shop", "name": job, "facets": job_facets or {}},
        **({} if inputs is None else {"inputs": inputs}),
        **({} if outputs is None else {"outputs": outputs}),
    }


def parent(number: int, job: str, root: int | None = None, root_job: str = "") -> Json:
    """The parent facet, by its name."""
    found = facet(run={"runId": run_id(number)}, job={"namespace": "shop", "name": job})
    if root is not None:
        found["root"] = {"run": {"runId": run_id(root)}, "job": {"namespace": "shop", "name": root_job}}
    return {"parent": found}


def columns(**fields: list[tuple[str, str]]) -> Json:
    """A columnLineage facet, by its name: output field = [(input dataset, input field), …], all copies."""
    transformations = [{"type": "DIRECT", "subtype": "IDENTITY"}]
    entries = {
        name: {
            "inputFields": [
                {**dataset(source), "field": field, "transformations": transformations} for source, field in sources
            ]
        }
        for name, sources in fields.items()
    }
    return {"columnLineage": facet(fields=entries)}


def explicit(**targets: list[str]) -> Json:
    """A job's lineage facet, by its name: target dataset = [source datasets]."""
    entries = [
        {**dataset(target), "type": "DATASET", "inputs": [{**dataset(source), "type": "DATASET"} for source in sources]}
        for target, sources in targets.items()
    ]
    return {"lineage": facet(entries=entries)}
