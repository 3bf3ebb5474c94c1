"""Events of each statement in `cases.py`, beside its golden, which docs/sources-and-sinks.md is made of.

The cases of a family build on one another, in their order.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.sources.cases import Case, Family
from spark.sources.families import LAKE
from spark.sources.golden import check
from spark.sources.watching import Watched, emitted

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sources")


NIGHTLY = {
    "Delta: CREATE OR REPLACE TABLE",
    "Delta: writeTo().createOrReplace()",
    "Delta: writeTo().replace()",
    "Delta: saveAsTable()",
    "Delta: INSERT INTO … REPLACE WHERE",
    "Delta: ALTER TABLE ADD COLUMNS",
    "Delta: CREATE TABLE LIKE",
    "Delta: ALTER TABLE ADD CONSTRAINT, COMMENT ON TABLE",
    "Delta: MERGE that adds a column",
    "Delta: DELETE that meets no row",
    "Delta: table_changes(), readChangeFeed",
    "Iceberg: CREATE OR REPLACE TABLE",
    "Iceberg: CREATE OR REPLACE TABLE AS",
    "Iceberg: writeTo().createOrReplace()",
    "Iceberg: writeTo().replace()",
    "Iceberg: INSERT INTO … REPLACE WHERE",
    "Iceberg: UPDATE, merge-on-read",
    "Iceberg: DELETE, merge-on-read",
    "Partitions: Delta, replaceWhere",
    "Partitions: Delta, DELETE of a partition",
    "Partitions: MSCK REPAIR TABLE",
}
"""Further spellings of what a case of the gate writes: no case of the gate depends on them."""


def in_gate(family: Family, case: Case) -> bool:
    return family.name != "Maintenance" and f"{family.name}: {case.title}" not in NIGHTLY


def test_the_nightly_cases_are_there() -> None:
    assert {f"{family.name}: {case.title}" for family in LAKE for case in family.cases} > NIGHTLY


@pytest.mark.parametrize(
    ("family", "case"),
    [
        pytest.param(f, c, id=f"{f.name}: {c.title}", marks=() if in_gate(f, c) else pytest.mark.nightly)
        for f in LAKE
        for c in f.cases
    ],
)
def test_what_is_emitted(watched: Watched, folder: Path, family: Family, case: Case) -> None:
    check(family.name, case.title, emitted(watched, folder, family, case))
