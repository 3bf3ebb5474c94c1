"""Statements of a dry run: a MERGE by methods where Spark's has no schema evolution, and those that aren't run."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest
from py4j.protocol import Py4JError

from headwater_dry_run import merging
from headwater_dry_run.merging import Actions
from headwater_dry_run.options import options_text
from headwater_dry_run.sources import ScriptSource
from headwater_dry_run.writing import Writes


def refused(*_: Any) -> None:
    raise Py4JError("a constructor with seven parameters does not exist")


@pytest.mark.parametrize("evolves", [False, True])
def test_schema_evolution_is_compared_where_the_statement_cannot_have_it(
    monkeypatch: pytest.MonkeyPatch, evolves: bool
) -> None:
    reported: list[tuple[Any, bool]] = []

    def report(statement: Any, _target: ScriptSource, *, evolves: bool = False) -> None:
        reported.append((statement, evolves))

    fake: Any = SimpleNamespace(
        sources=SimpleNamespace(session=None),
        seq=list,
        made=lambda name, *arguments: (name, len(arguments)),
        report=report,
    )
    monkeypatch.setattr(merging, "statics", lambda *_: refused)
    actions = Actions(fake, ScriptSource("table", "orders"), "table", "source", "on")
    if evolves:
        actions.withSchemaEvolution()
    actions.run()
    assert reported == [(("MergeIntoTable", 6), evolves)]


def test_a_statement_is_shown_without_secrets_and_another_secret_is_another_statement() -> None:
    texts: list[str] = []
    channel = SimpleNamespace(report=lambda _what, content: texts.append(content["text"]))
    writes = Writes(cast("Any", SimpleNamespace(channel=channel, last_write="")), cast("Any", None))
    for secret in ("hunter2", "hunter3"):
        writes.report_statement(f"ALTER TABLE a  SET TBLPROPERTIES ('password' = '{secret}')")
    first, second = texts
    assert "hunter" not in first + second
    assert first.startswith("ALTER TABLE a SET TBLPROPERTIES ('password' = [redacted]")
    assert first != second
    writes.report_statement("TRUNCATE  TABLE a")
    assert texts[-1] == "TRUNCATE TABLE a"


def test_an_output_is_shown_without_secrets_and_another_secret_is_another_output() -> None:
    reports: list[dict[str, Any]] = []
    channel = SimpleNamespace(report=lambda _what, content: reports.append(content))
    writes = Writes(cast("Any", SimpleNamespace(channel=channel, last_write="")), cast("Any", None))
    schema: Any = SimpleNamespace(json=lambda: "{}")
    for secret in ("hunter2", "hunter3"):
        found = {
            "expressions": {"a": f"f(a, 'password={secret}')", "b": "upper(token)"},
            "influences": [f"READ: x as uri=mongodb://bob:{secret}@db/x", "FILTER: a > 1"],
        }
        options = options_text(
            {
                "eventhubs.connectionstring": f"Endpoint=x;Key={secret}",
                "uri": f"mongodb://bob:{secret}@db/x",
                "sep": ";",
            }
        )
        writes.report_found(found, schema, ScriptSource("sink", "x"), mode=f"append {options}")
    first, second = reports
    assert "hunter" not in json.dumps(reports)
    assert (first["expressions"]["b"], first["influences"][1]) == ("upper(token)", "FILTER: a > 1")
    assert first["mode"].startswith("append sep=; uri=mongodb://[redacted]@db/x")
    assert first["mode"] != second["mode"]
    assert first["expressions"]["a"] != second["expressions"]["a"]
    assert first["influences"][0] != second["influences"][0]


def test_a_long_option_is_cut_after_its_secrets_are_out() -> None:
    long = f"{'x' * 70} password=hunter2{'0' * 50}"
    assert "hunter" not in options_text({"query.hint": long})
    one, other = (options_text({"a": f"{'x' * 100}{last}"}) for last in "yz")
    assert (len(one), one == other) == (len("a=") + 80 + 1 + 8, False)
