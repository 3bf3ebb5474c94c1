"""`headwater export contract`: data contracts out of the graph, after the events of declared ones have come there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from headwater import cli
from headwater_analysis.declaring.files import read_file

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[3]
SCHEMA = Path("shared", "specs", "odcs", "odcs-json-schema-v3.1.0.json")
DELAYS = ROOT / "docs" / "examples" / "declare" / "delays.odcs.yaml"
REPORT = "/tmp/headwater/demo/flights/daily_report"

Command = Callable[..., Any]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[str, str]:
    capsys.readouterr()
    assert cli.main(["export", "contract", *arguments]) == 0
    both = capsys.readouterr()
    return both.out, both.err


def test_contracts_of_datasets(
    followed_demo: dict[str, str], headwater: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headwater("declare", str(DELAYS))
    headwater("declare", str(ROOT / "docs" / "examples" / "declare" / "flights.yaml"))
    capsys.readouterr()
    assert cli.main(["declare", "--export", "odcs:flights-delays"]) == 0
    assert capsys.readouterr().out == DELAYS.read_text(encoding="utf-8")
    exported = headwater("declare", "--export", "odcs:flights-delays")
    assert (exported["format"], exported["revision"]) == ("odcs", 1)
    assert "There is no declaration set 'none'." in str(headwater("declare", "--export", "none", status=3))
    assert "not as a data contract" in str(headwater("declare", "--export", "flights", status=3))

    # The one that was declared comes back as it was, by any name of its dataset; others of them are made.
    for name in ("delays", "file:/tmp/headwater/demo/flights/delays", "/tmp/headwater/demo/flights/delays"):
        assert printed(capsys, name)[0] == DELAYS.read_text(encoding="utf-8")
    (declared, made) = headwater("export", "contract", "delays", "daily_report")["contracts"]
    assert (declared["set"], made["set"]) == ("odcs:flights-delays", None)

    # What is made has the types of the schema, and is declared again as what all sets declare.
    contract = yaml.safe_load(made["document"])
    valid(contract)
    (one,) = contract["schema"]
    properties = {each["name"]: each for each in one["properties"]}
    assert list(properties)[:3] == ["day", "origin", "carrier"]
    assert (properties["day"]["logicalType"], properties["day"]["physicalType"]) == ("date", "date")
    assert properties["mean_delay"]["logicalType"] == "number"
    assert contract["id"] == f"file:{REPORT}"
    body = next(iter(read_file("c.yaml", made["document"]).declarations.values()))
    assert body.dataset is not None
    assert (body.dataset.namespace, body.dataset.name) == ("file", REPORT)
    assert (body.certified, body.criticality, body.keep_days, body.freshness_seconds) == (True, "tier-1", 400, 86_400)
    assert (body.deadline, body.description) == ("06:00 Europe/Berlin", "Delays by carrier and day")
    assert body.owners is not None
    assert [owner.name for owner in body.owners] == ["team:flights"]
    file = tmp_path / "made.odcs.yaml"
    headwater("export", "contract", "daily_report", "-o", str(file))
    assert file.read_text(encoding="utf-8") == made["document"]
    assert headwater("declare", str(file))["sets"][0]["contradictions"] == []

    # Nested columns of JSON in a topic.
    topic = yaml.safe_load(headwater("export", "contract", "flights.departed")["contracts"][0]["document"])
    valid(topic)
    columns = {each["name"]: each for each in topic["schema"][0]["properties"]}
    assert columns["value"]["logicalType"] == "object"
    assert "tailnum" in {each["name"] for each in columns["value"]["properties"]}

    # One of several, and one where another was declared.
    text, _ = printed(capsys, "delays", "flights.departed", "--id", "both")
    both = yaml.safe_load(text)
    valid(both)
    assert (both["id"], [each["name"] for each in both["schema"]]) == ("both", ["delays", "departed"])
    assert yaml.safe_load(printed(capsys, "delays", "--made")[0])["id"] == "file:/tmp/headwater/demo/flights/delays"
    assert "No dataset is called" in str(headwater("export", "contract", "no.such", status=3))


@pytest.mark.nightly
def test_what_other_sets_declare_is_reported(
    followed_demo: dict[str, str], headwater: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    headwater("declare", str(DELAYS))
    other = tmp_path / "s.yaml"
    other.write_text(
        "set: s\nnamespace: file\ndatasets:\n- name: /tmp/headwater/demo/flights/delays\n  criticality: tier-3\n"
        "  owners: [team:other]\n  columns: {late: {approval: {covers: PII, sensitivity: PUBLIC, by: jo, reason: r}}}\n"
        "  marks: [{mark: legal-hold, version: '7', spread: UPSTREAM}]\n"
    )
    headwater("declare", str(other))
    text, warned = printed(capsys, "delays")
    assert text == DELAYS.read_text(encoding="utf-8")
    assert "It leaves out the declarations of s;" in " ".join(warned.split())
    text, warned = printed(capsys, "delays", "--made")
    assert "Sets contradict each other about file:/tmp/headwater/demo/flights/delays, in 1 property" in " ".join(
        warned.split()
    )
    body = next(iter(read_file("c.yaml", text).declarations.values()))
    assert body.criticality == "tier-3"
    assert body.marks is not None
    assert [(mark.mark, mark.version, mark.spread) for mark in body.marks] == [("legal-hold", "7", "UPSTREAM")]
    (late,) = [column for column in body.columns or () if column.path == "late"]
    assert late.approval is not None
    assert (late.approval.by, late.approval.until) == ("jo", None)


def valid(contract: dict[str, Any]) -> None:
    schema = next((found for parent in ROOT.parents if (found := parent / SCHEMA).is_file()), None)
    if schema is not None:
        jsonschema.Draft201909Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(contract)
