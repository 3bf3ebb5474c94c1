"""Datasets, and what feeds what."""

from __future__ import annotations

from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.names import STAMP, TENANT
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.times import DAY, SPAN, moment
from headwater_graph.keys import feeds_key
from headwater_graph.words import dataset_words, text_words

_TEAMS = 40
_TAGGED = 10
_CRITICAL = 50


def write_datasets(estate: Estate, sheets: Sheets) -> None:
    """Sheets `Dataset` and `FEEDS`."""
    nodes = sheets.node(
        "Dataset", "key", "name", "tenant", "namespace", "title", "type", "storage_layer", "columns:string[]",
        "owners:string[]", "owner_types:string[]", "tags:string[]", "tag_values:string[]", "criticality", "_words",
        "_owner_words", "_tag_words", "_stamp",
    )  # fmt: skip
    firsts = estate.columns.firsts
    for index, dataset in enumerate(estate.datasets):
        width = int(firsts[index + 1] - firsts[index])
        paths = LIST.join(estate.columns.name(index, number) for number in range(width))
        owner = f"team:{index % _TEAMS}" if index % 3 else ""
        tag = ("pii", "yes") if index % _TAGGED == 0 else ("", "")
        nodes.add(
            index, dataset.key, dataset.name, TENANT, dataset.namespace, dataset.title, dataset.type,
            dataset.type.lower(), paths, owner, "team" if owner else "", *tag, "" if index % _CRITICAL else "HIGH",
            dataset_words(TENANT, dataset.namespace, dataset.name), text_words([owner]), text_words(tag), STAMP,
        )  # fmt: skip
    edges = sheets.relationship(
        "FEEDS", "key", "job", "job_name", "observed:boolean", "first_seen:datetime", "last_seen:datetime"
    )
    drawn = estate.feeds
    for source, target, number in zip(drawn.sources.tolist(), drawn.targets.tolist(), drawn.jobs.tolist(), strict=True):
        job = estate.jobs[number]
        key = feeds_key(TENANT, job.key, estate.datasets[source].key, estate.datasets[target].key)
        edges.add(
            source, target, key, job.key, job.name, "true", moment(number % 90 * DAY), moment(SPAN - number % 60 * DAY)
        )
