"""`headwater run --with`: the jars of a format join those that PySpark has already."""

from __future__ import annotations

from pathlib import Path

import pytest

from headwater.commands.run import jars_added, submit_arguments
from headwater.errors import InputError


def test_jars_come_first_and_none_is_lost(subtests: pytest.Subtests) -> None:
    cases = [
        ("", "--jars /a.jar,/b.jar pyspark-shell"),
        ("--conf x=y pyspark-shell", "--jars /a.jar,/b.jar --conf x=y pyspark-shell"),
        ("--jars /c.jar pyspark-shell", "--jars /a.jar,/b.jar,/c.jar pyspark-shell"),
        ("--jars=/c.jar,/d.jar pyspark-shell", "--jars /a.jar,/b.jar,/c.jar,/d.jar pyspark-shell"),
        ("--name 'a b' pyspark-shell", "--jars /a.jar,/b.jar --name 'a b' pyspark-shell"),
    ]
    for given, made in cases:
        with subtests.test(given=given):
            assert jars_added(given, ["/a.jar", "/b.jar"]) == made


def test_a_name_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match="--with hudi: there are no such jars") as refused:
        submit_arguments(["hudi"])
    assert refused.value.fix == "Choose from kafka, delta, iceberg, avro."


def test_without_a_wish_nothing_is_set() -> None:
    assert submit_arguments([]) == {}


def test_jars_are_those_of_the_installed_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("headwater.stack.ensure_jars", lambda name: [Path(f"/{name}.jar")])
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf a=b pyspark-shell")
    made = submit_arguments(["kafka", "delta", "kafka"])
    assert made == {"PYSPARK_SUBMIT_ARGS": "--jars /spark.jar,/delta.jar --conf a=b pyspark-shell"}
