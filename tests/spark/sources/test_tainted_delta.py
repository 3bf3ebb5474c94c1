"""Writes to Delta tables whose inputs hold bad data, and repairs of a table that holds some itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_producers.spark import TaintedInputError, attach
from spark.sources.conftest import foremost
from support.capture import RecordingSink
from support.gate import in_gate
from support.played_gate import PlayedGate, folder
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_row_level_changes(lake: SparkSession, gate: PlayedGate, tmp_path: Path) -> None:
    bad, table = tmp_path / "bad", tmp_path / "table"
    with foremost(lake):
        for path in (bad, table):
            lake.range(3).selectExpr("id", "id AS n").write.format("delta").save(str(path))
        source, target = f"delta.`{bad}`", f"delta.`{table}`"
        gate.hold(bad)
        settings: dict[str, Any] = {
            "refuse_tainted_inputs": True,
            "gate_url": gate.url,
            "gate_timeout_seconds": patience(30),
        }
        with attach(lake, sink=RecordingSink(), job_name="job", **settings):
            merge = "WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN INSERT *"
            for statement in (
                f"MERGE INTO {target} t USING {source} s ON t.id = s.id {merge}",
                f"INSERT INTO {target} SELECT * FROM {source}",
            ):
                with pytest.raises(TaintedInputError, match=f"Refused: file:{bad} holds"):
                    lake.sql(statement)
            with pytest.raises(TaintedInputError, match=f"Refused: file:{bad} holds"):
                lake.read.format("delta").load(str(bad)).write.format("delta").mode("append").save(str(table))
            assert sorted(map(tuple, lake.read.format("delta").load(str(table)).collect())) == [
                (n, n) for n in range(3)
            ]
            # The table that holds bad data is repaired by statements that change its own rows.
            lake.sql(f"DELETE FROM {source} WHERE id = 2")
            if not in_gate():
                lake.sql(f"UPDATE {source} SET n = 0 WHERE id = 1")
                lake.sql(f"MERGE INTO {source} t USING {target} s ON t.id = s.id {merge}")
            assert lake.read.format("delta").load(str(bad)).count() == (2 if in_gate() else 3)
        assert set(gate.asked) == ({folder(bad)} if in_gate() else {folder(bad), folder(table)})
