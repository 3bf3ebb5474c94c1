"""Scripts that ask for rows, of which there are none: what they do then, and what they do where there are some."""

from __future__ import annotations

import pytest

from headwater_review.jobs.job_review import JobReview, JobVerdict, review_job
from spark.dry_run.test_change_types import ORDERS, OUT
from support.dry_runs import HEAD, DryRuns
from support.gate import named_in_gate

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

LAKE = "o.where('amount > {}').write.mode('overwrite').parquet('/lake/{}')\n"
LINE = HEAD.count("\n") + ORDERS.count("\n") + 1
BATCHES = (
    "s = spark.readStream.schema('a INT, b STRING').json('/in')\n"
    "def each(batch, number):\n"
    "    if batch.isEmpty():\n        return\n"
    "    batch.where('a > {}').write.mode('append').parquet('/lake/out')\n"
    "s.writeStream.foreachBatch(each).start()\n"
)
NAMES = "for row in o.select('state').distinct().collect():\n    o.where(F.col('state') == row.state)"
CHECKED = "if o.where('id is null').count() > 0:\n    raise ValueError('ids are missing')\n"

CHANGES = {
    # What is there besides a number, which differs.
    "isEmpty, and an end": ORDERS + "if o.isEmpty():\n    raise SystemExit\n" + LAKE.format("{}", "a"),
    "count": ORDERS + "if o.count() > 0:\n    " + LAKE.format("{}", "a"),
    "count, in a variable": ORDERS + "n = o.count()\nprint(n)\nif n:\n    " + LAKE.format("{}", "a"),
    "first": ORDERS + "if o.first() is not None:\n    " + LAKE.format("{}", "a"),
    "head": ORDERS + "if o.head():\n    " + LAKE.format("{}", "a"),
    "some": ORDERS + "if len(o.head(1)) and o.take(1) and o.tail(1):\n    " + LAKE.format("{}", "a"),
    "collect": ORDERS + NAMES + ".write.mode('append').save(f'/lake/{{row.state}}', days={})",
    "an iterator": ORDERS + "for row in o.toLocalIterator():\n    " + LAKE.format("{}", "a"),
    "pandas": ORDERS + "if len(o.toPandas()):\n    " + LAKE.format("{}", "a"),
    "an RDD": ORDERS + "if not o.rdd.isEmpty():\n    " + LAKE.format("{}", "a"),
    "an aggregate": ORDERS + "top = o.agg(F.max('amount')).first()[0]\n"
    "o.where(F.col('amount') > (top or 0) * {})" + OUT,
    "an aggregate by SQL": ORDERS + "n = spark.sql('SELECT count(*) FROM shop.orders').collect()[0][0]\n"
    "if n > 0:\n    " + LAKE.format("{}", "a"),
    "what fails without any": ORDERS + "top = o.agg(F.max('amount')).first()[0] + 1\n"
    "o.where(F.col('amount') > top - {})" + OUT,
    "each batch": BATCHES,
    "behind a guard and a check": ORDERS + "if o.isEmpty():\n    raise SystemExit\n" + CHECKED + LAKE.format("{}", "a"),
    "behind two checks": ORDERS + "if o.isEmpty():\n    raise SystemExit\n" + CHECKED
    + CHECKED.replace("id", "customer").replace("raise ValueError", "raise SystemExit") + LAKE.format("{}", "a"),
}  # fmt: skip
SAME = {
    "only printed": ORDERS + "print(f'{o.count()} rows')\no.show()\n" + LAKE.format("{}", "a"),
    "a check": ORDERS + CHECKED + LAKE.format("{}", "a"),
    "rows of its own": ORDERS + "for row in spark.createDataFrame([(1,)], 'a INT').collect():\n    "
    + LAKE.format("{}", "a"),
}  # fmt: skip


def reviewed(dry_runs: DryRuns, old: str, new: str) -> JobReview:
    return review_job(None, dry_runs.with_rows(old, "old.py"), dry_runs.with_rows(new, "new.py"))


IN_GATE = {"isEmpty, and an end", "collect", "each batch"}
"""Scripts of the gate: a guard, a loop over rows, and foreachBatch. The nightly run has the others."""


@pytest.mark.parametrize("name", named_in_gate(IN_GATE, [*CHANGES, *SAME], str))
def test_what_differs_where_there_are_rows(dry_runs: DryRuns, name: str) -> None:
    """Without a difference it is no finding."""
    script = (CHANGES | SAME)[name]
    old, new = (script.replace("{}", number).replace("{{row.state}}", "{row.state}") for number in "12")
    found = reviewed(dry_runs, old, new)
    assert (found.problems, found.verdict) == ((), JobVerdict.DEGRADED)
    again = reviewed(dry_runs, old, old)
    assert (again.problems, again.verdict) == ((), JobVerdict.NONE)


def test_where_a_script_asks_is_noted(dry_runs: DryRuns) -> None:
    script = ORDERS + "if not o.isEmpty():\n    print(o.count())\nfor _ in 'ab': o.first()\n"
    script += "o.count()\nspark.range(3).collect()\nspark.sql('SHOW TABLES').collect()\n" + LAKE.format(1, "a")
    version = dry_runs.with_rows(script)
    # The others are discarded, or no rows of a source.
    assert version.looks == (f"isEmpty in line {LINE} of job.py", f"count in line {LINE + 1} of job.py")
    assert version.unrun == ()
    assert dry_runs.with_rows(ORDERS + LAKE.format(1, "a")).looks == ()


NOT_KNOWN: dict[str, tuple[str, str]] = {
    "another branch": (
        "if o.count() > 1000:\n    o = o.coalesce({})\n",
        "ran neither without rows nor with a made-up row",
    ),
    "what another branch uses": (
        "least = {}\nif o.count() > 1000:\n    o = o.where(o.amount > least)\n",
        "whose values may differ (least, o): line ",
    ),
    "an error of Python's": ("if o.isEmpty():\n    raise SystemExit\nif {}:\n    nothing_here\n", "NameError"),
    "an error of Spark's": (
        "if o.isEmpty():\n    raise SystemExit\nif {}:\n    o = o.select('nothing')\n",
        "AnalysisException",
    ),
    "a source that isn't known": (
        "if o.isEmpty():\n    raise SystemExit\nif {}:\n    o = spark.table('shop.nothing')\n",
        "shop.nothing",
    ),
}


@pytest.mark.nightly
def test_what_isnt_known_is_no_pass(subtests: pytest.Subtests, dry_runs: DryRuns) -> None:
    for case, (guarded, text) in NOT_KNOWN.items():
        with subtests.test(case):
            old, new = (ORDERS + guarded.format(number) + LAKE.format(1, "a") for number in (0, 1))
            found = reviewed(dry_runs, old, new)
            assert found.verdict is JobVerdict.UNKNOWN
            assert "new.py" in {problem.script for problem in found.problems}
            assert text in found.problems[-1].text, found.problems
            assert reviewed(dry_runs, old, old).verdict is JobVerdict.NONE


def test_what_spark_would_call_is_compared_by_itself(dry_runs: DryRuns) -> None:
    """It never runs, with rows or without."""
    script = "def shout(text):\n    return text.{}()\n" + ORDERS + "if o.count():\n    print('some')\n"
    script += "o.select(F.udf(shout)('state').alias('s'))" + OUT
    found = reviewed(dry_runs, script.format("upper"), script.format("lower"))
    assert (found.problems, found.verdict) == ((), JobVerdict.DEGRADED)


def test_a_guard_that_is_new_is_a_difference_and_removes_nothing(dry_runs: DryRuns) -> None:
    write = LAKE.format(1, "a")
    found = reviewed(dry_runs, ORDERS + write, ORDERS + "if not o.isEmpty():\n    " + write)
    assert found.verdict is JobVerdict.DEGRADED
    assert [each.text for output in found.outputs for each in output.differences] == [
        "The job writes other rows: written → not written where there are no rows"
    ]


def test_a_row_of_every_type(dry_runs: DryRuns) -> None:
    """It has a value wherever a script may take one."""
    types = (
        "a BOOLEAN, b TINYINT, c BIGINT, d FLOAT, e DECIMAL(9,2), f STRING, g BINARY, h DATE, i TIMESTAMP, "
        "j TIMESTAMP_NTZ, k ARRAY<INT>, l MAP<STRING, ARRAY<DATE>>, m STRUCT<a: INT, b: STRUCT<c: STRING>>"
    )
    script = (
        f"s = spark.read.schema({types!r}).json('/in')\n"
        "row = s.first()\n"
        "if row is not None:\n"
        "    assert None not in list(row), row\n"
        "    assert row.m.b.c == '1' and row.l['1'][0].year == 2000 and row.k == [1], row\n"
        "    spark.createDataFrame([row], s.schema).write.parquet('/lake/a')\n"
    )
    version = dry_runs.with_rows(script)
    assert version.with_rows is not None
    assert version.with_rows.problems == ()
    assert [each.name for each in version.with_rows.outputs] == ["/lake/a"]
