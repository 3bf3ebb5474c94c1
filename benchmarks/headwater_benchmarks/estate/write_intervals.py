"""Micro-batches: which offsets they read and wrote, and the versions of tables that they made."""

from __future__ import annotations

from headwater_benchmarks.estate import batches
from headwater_benchmarks.estate.batches import Offsets
from headwater_benchmarks.estate.drawn import Estate
from headwater_benchmarks.estate.lines import Query, partitions
from headwater_benchmarks.estate.names import TENANT, digest, query_id
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.times import moment
from headwater_consumers.graph.keys import interval_key, query_key, use_key, version_key

_SECONDS = 60
"""From one micro-batch to the next."""
_POSITION = ("key", "certainty", "position", "rows:long")
_KAFKA = (*_POSITION, "topic", "partitions:long[]", "from:long[]", "to_exclusive:long[]")
_SNAPSHOT = (*_POSITION, "format", "snapshot_id", "parent_id", "operation")


class write_intervals:  # noqa: N801  a step, as the others are
    """Sheets `Interval` and `Version`, and what leaves them."""

    def __init__(self, estate: Estate, sheets: Sheets) -> None:
        self._estate = estate
        self._nodes = sheets.node(
            "Interval", "key", "name", "tenant", "query", "query_id", "batch_id:long", "provenance",
            "processing_time:datetime", "watermark_after:datetime", "duration_ms:long", "rows_in:long", "rows_out:long",
            "plan_digest", "run_id", "code_version", "engine", "reason", "source_end_digest",
        )  # fmt: skip
        self._versions = sheets.node(
            "Version", "key", "name", "tenant", "dataset", "format", "version", "parent_id", "operation"
        )
        self._in_query = sheets.relationship("IN_QUERY")
        self._in_run = sheets.relationship("IN_RUN")
        self._next = sheets.relationship("NEXT")
        self._consumed = sheets.relationship("CONSUMED", *_KAFKA)
        self._produced = sheets.relationship("PRODUCED", *_KAFKA)
        self._snapshots = sheets.relationship("PRODUCED", *_SNAPSHOT, of="-snapshot")
        self._of = sheets.relationship("OF", of="-version")
        self._wrote = sheets.relationship("WROTE")
        for query in estate.lines.queries:
            self._query(query)

    def _query(self, query: Query) -> None:
        estate, job = self._estate, self._estate.jobs[query.number]
        id_ = query_id(query.number)
        owner, batches_ = query_key(TENANT, id_), estate.lines.batches
        first = estate.first_interval + query.number * batches_
        reads = batches.read(estate.sizes, estate.lines, query)
        rows = (reads[1:] - reads[:-1]).sum(axis=1).tolist()
        keys = [interval_key(TENANT, owner, batch) for batch in range(batches_)]
        node_of_query, node_of_run = estate.first_query + query.number, estate.first_run + query.number
        for batch, key in enumerate(keys):
            time = moment(batch * _SECONDS)
            self._nodes.add(
                first + batch, key, f"batch {batch}", TENANT, owner, id_, batch, "OBSERVED", time, time, 900,
                rows[batch], rows[batch], job.digest, job.run_id, "v1", "spark", "CHECKPOINT", digest(key, "end"),
            )  # fmt: skip
            self._in_query.add(first + batch, node_of_query)
            self._in_run.add(first + batch, node_of_run)
            if batch:
                self._next.add(first + batch - 1, first + batch)
        self._kafka(query, keys, "CONSUMED", query.reads, reads)
        if query.to_table:
            self._table(query, keys)
        else:
            self._kafka(
                query, keys, "PRODUCED", query.writes, batches.written(estate.sizes, estate.lines, query.writes)
            )

    def _kafka(self, query: Query, keys: list[str], type_: str, topic: int, offsets: Offsets) -> None:
        sheet = self._consumed if type_ == "CONSUMED" else self._produced
        dataset, first = self._estate.datasets[topic], self._estate.first_interval + query.number * len(keys)
        numbers = LIST.join(map(str, range(partitions(topic))))
        texts = [LIST.join(map(str, row)) for row in offsets.tolist()]
        rows = (offsets[1:] - offsets[:-1]).sum(axis=1).tolist()
        for batch, key in enumerate(keys):
            use = use_key(TENANT, type_, key, dataset.key, 0)
            sheet.add(
                first + batch, topic, use, "EXACT", "kafka", rows[batch], dataset.name, numbers, texts[batch],
                texts[batch + 1],
            )  # fmt: skip

    def _table(self, query: Query, keys: list[str]) -> None:
        dataset, first = self._estate.datasets[query.writes], self._estate.first_interval + query.number * len(keys)
        for batch, key in enumerate(keys):
            version, parent = str(query.number * 1_000_000 + batch + 1), str(query.number * 1_000_000 + batch)
            node = self._estate.first_version + self._versions.rows
            self._versions.add(
                node, version_key(TENANT, dataset.key, "iceberg", version), version, TENANT, dataset.key, "iceberg",
                version, parent, "append",
            )  # fmt: skip
            self._of.add(node, query.writes)
            self._wrote.add(first + batch, node)
            use = use_key(TENANT, "PRODUCED", key, dataset.key, 0)
            self._snapshots.add(
                first + batch, query.writes, use, "EXACT", "table_snapshot", 1_000, "iceberg", version, parent, "append"
            )
