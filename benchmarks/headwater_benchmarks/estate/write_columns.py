"""Columns, and which derives from which."""

from __future__ import annotations

import numpy as np

from headwater_benchmarks.estate.columns import DIRECT_KINDS, INDIRECT_KINDS, INFLUENCE_KINDS
from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.names import COLUMN_NAMES, DATA_TYPES, TENANT
from headwater_benchmarks.estate.sheets import Sheet, Sheets
from headwater_benchmarks.estate.times import moment
from headwater_graph.keys import column_key, edge_key
from headwater_graph.words import column_words

_FACTS = ("key", "plan", "job", "type", "subtype", "kind", "masking:boolean", "expression_id", "expression")


def write_columns(estate: Estate, sheets: Sheets) -> None:
    """Sheets `Column`, `HAS_COLUMN`, `DERIVES` and `INFLUENCES`."""
    keys = _columns(estate, sheets)
    drawn, first = estate.columns, estate.first_column
    derives = sheets.relationship("DERIVES", *_FACTS)
    for source, target, job, direct in zip(
        drawn.sources.tolist(), drawn.targets.tolist(), drawn.derives_jobs.tolist(), drawn.direct.tolist(), strict=True
    ):
        kinds, type_ = (DIRECT_KINDS, "DIRECT") if direct else (INDIRECT_KINDS, "INDIRECT")
        _edge(estate, derives, (source + first, target + first), (keys[source], keys[target]), job, type_, kinds)
    influences = sheets.relationship("INFLUENCES", *_FACTS)
    for source, target, job in zip(
        drawn.influencers.tolist(), drawn.influenced.tolist(), drawn.influences_jobs.tolist(), strict=True
    ):
        ends = (keys[source], estate.datasets[target].key)
        _edge(estate, influences, (source + first, target), ends, job, "INDIRECT", INFLUENCE_KINDS)


def _columns(estate: Estate, sheets: Sheets) -> list[str]:
    """Writes the nodes; their keys, by index."""
    nodes = sheets.node(
        "Column", "key", "name", "tenant", "dataset", "data_type", "nullable:boolean", "position:long", "_words"
    )
    words = {name: column_words(TENANT, name) for name in COLUMN_NAMES}
    has = sheets.relationship("HAS_COLUMN", "current:boolean", "first_seen:datetime")
    keys: list[str] = []
    begun = moment(0)
    for index, width in enumerate(np.diff(estate.columns.firsts).tolist()):
        dataset = estate.datasets[index].key
        for number in range(width):
            name = estate.columns.name(index, number)
            key = column_key(TENANT, dataset, name)
            node = estate.first_column + len(keys)
            type_ = DATA_TYPES.get(name.rpartition("_")[2], "string")
            nodes.add(node, key, name, TENANT, dataset, type_, "true", number, words[name])
            has.add(index, node, "true", begun)
            keys.append(key)
    return keys


def _edge(
    estate: Estate,
    sheet: Sheet,
    ids: tuple[int, int],
    keys: tuple[str, str],
    job: int,
    type_: str,
    kinds: tuple[tuple[str, str], ...],
) -> None:
    kind, subtype = kinds[sum(ids) % len(kinds)]
    made, expression = estate.jobs[job], f"f{ids[0] % 100}(x)"
    id_ = f"{ids[0] % 100:016x}"
    key = edge_key(TENANT, sheet.kind, made.plan_key, *keys, type_, subtype, kind, 0, id_)
    sheet.add(*ids, key, made.plan_key, made.key, type_, subtype, kind, "false", id_, expression)
