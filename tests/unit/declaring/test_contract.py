"""Declaration sets as ODCS contracts: valid by the standard's schema, and nothing of them is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
import yaml

from headwater.cli import main
from headwater_analysis.declaring.contract import ObservedType, contract_of
from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.declaring.sets import DeclaredSet
from headwater_schemas.events import DatasetRef
from support.declared_files import EVERY_FIELD

ROOT = Path(__file__).parents[3]
SCHEMA = Path("shared", "specs", "odcs", "odcs-json-schema-v3.1.0.json")
ODD = """\
set: odd
namespace: n
datasets:
- {name: a.b, tags: {"k:l": m, x: "y:z"}, owners: [u], glossary: [term]}
- {name: c/b, owners: [{name: v, type: T}], on_call: "#x"}
- name: "d,e"
  freshness: 90s
  columns: {"`p.q`.r": {sensitivity: PII}, "`p.q`": , "legs.[].x": {classification: pii}, "m.[].[].y": ,
    s: {type: array}, t: {type: "struct<u:decimal(10,2)>"}, "t.u": {type: "decimal(10,2)"}, v: {type: integer},
    w: {type: geography}}
- {name: empty}
"""
PLAIN = """\
set: plain
namespace: file
datasets:
- name: /lake/orders
  description: Orders
  owners: [{name: ana, type: Owner}]
  tags: {layer: gold, daily: }
  freshness: 1h
  keep: 14d
  deadline: "06:00"
  on_call: "#orders"
  contact: https://chat.example/orders
  columns: {id: {description: Key, classification: PII, sensitivity: PII}}
"""


def set_of(text: str) -> DeclaredSet:
    return read_file("f.yaml", text)


def bodies(declared: DeclaredSet) -> list[Any]:
    rows = [msgspec.to_builtins(body) for body in declared.declarations.values()]
    return sorted(({**row, "set": "x"} for row in rows), key=str)


def custom(of: dict[str, Any]) -> dict[str, Any]:
    return {row["property"]: row["value"] for row in of.get("customProperties", ())}


FLIGHTS = (ROOT / "docs" / "examples" / "declare" / "flights.yaml").read_text(encoding="utf-8")


TEXTS = [EVERY_FIELD, FLIGHTS, ODD, PLAIN, "set: nothing\n"]


def test_nothing_is_lost(subtests: pytest.Subtests) -> None:
    for text in TEXTS:
        with subtests.test(text=text):
            declared = set_of(text)
            contract = contract_of(declared)
            back = read_file("contract.yaml", contract)
            assert bodies(back) == bodies(declared)
            assert (back.name, back.format) == (f"odcs:{declared.name}", "odcs")
            assert contract_of(back) == contract, "a contract stays the contract that it is"


def test_it_is_valid_by_the_standard(subtests: pytest.Subtests) -> None:
    schema = next((found for parent in ROOT.parents if (found := parent / SCHEMA).is_file()), None)
    if schema is None:
        pytest.skip("ODCS' schema isn't in shared/specs/odcs beside the checkout")
    validator = jsonschema.Draft201909Validator(json.loads(schema.read_text(encoding="utf-8")))
    for text in TEXTS:
        with subtests.test(text=text):
            validator.validate(yaml.safe_load(contract_of(set_of(text))))


def test_what_the_standard_has_a_place_for_is_there() -> None:
    contract = yaml.safe_load(contract_of(set_of(PLAIN)))
    (one,) = contract["schema"]
    assert (one["name"], one["physicalName"], one["description"]) == ("orders", "/lake/orders", "Orders")
    assert one["tags"] == ["daily", "layer:gold"]
    assert custom(one) == {"headwater.namespace": "file", "headwater.name": "/lake/orders"}
    assert one["properties"] == [{"name": "id", "description": "Key", "classification": "PII"}]
    assert contract["team"] == {"members": [{"username": "ana", "role": "Owner"}]}
    assert contract["support"] == [{"channel": "#orders", "url": "https://chat.example/orders"}]
    assert [(level["property"], level["value"]) for level in contract["slaProperties"]] == [
        ("latency", 3_600),
        ("retention", 14),
        ("timeOfAvailability", "06:00"),
    ]
    assert custom(contract) == {"headwater.declarations": []}


def test_types_are_the_standard_s_where_it_has_them() -> None:
    contract = yaml.safe_load(contract_of(set_of(ODD)))
    (one,) = [each for each in contract["schema"] if each["physicalName"] == "d,e"]
    names = {each["name"]: each for each in one["properties"]}
    inner = names["t"]["properties"][0]
    types = {name: (each.get("logicalType"), each.get("physicalType")) for name, each in {**names, "u": inner}.items()}
    assert types == {
        "legs": ("array", None),
        "m": ("array", None),
        "p.q": ("object", None),
        "s": ("array", "array"),
        "t": ("object", "struct<u:decimal(10,2)>"),
        "u": ("number", "decimal(10,2)"),
        "v": ("integer", "integer"),
        "w": (None, "geography"),
    }


def test_a_declared_type_is_a_promise_that_the_observed_one_does_not_change() -> None:
    declared = set_of("set: x\nnamespace: n\ndatasets: [{name: d, columns: {a: {type: bigint}, b: }}]\n")
    observed = {name: ObservedType("string", nullable=False) for name in ("a", "b")}
    contract = yaml.safe_load(contract_of(declared, {DatasetRef("n", "d"): observed}))
    found = [
        (each["name"], each["logicalType"], each["physicalType"], each["required"])
        for each in contract["schema"][0]["properties"]
    ]
    assert found == [("a", "integer", "bigint", True), ("b", "string", "string", True)]


def test_columns_are_nested_as_their_paths_are() -> None:
    contract = yaml.safe_load(contract_of(set_of(ODD)))
    (one,) = [each for each in contract["schema"] if each["physicalName"] == "d,e"]
    names = {each["name"]: each for each in one["properties"]}
    assert names.keys() >= {"p.q", "legs", "s"}
    assert [each["name"] for each in names["p.q"]["properties"]] == ["r"]
    assert custom(names["legs"]) == {"headwater.not_declared": True}


def test_a_field_of_the_wrong_type_is_a_mistake(subtests: pytest.Subtests) -> None:
    cases = [
        ("{property: headwater.criticality, value: 5}", "customProperties[0].value: Expected `str | null`, got `int`"),
        ("{property: headwater.keep_days, value: -1}", "customProperties[0].value: Expected `int` >= 0"),
    ]
    for row, expected in cases:
        with subtests.test(row=row):
            text = (
                "kind: DataContract\napiVersion: v3.1.0\nid: x\nversion: '1'\nstatus: s\n"
                f"schema:\n- name: d\n  customProperties:\n  - {row}\n"
            )
            with pytest.raises(DeclarationError) as raised:
                read_file("contract.yaml", text, namespace="n")
            assert str(raised.value) == f"contract.yaml, line 9: schema[0].{expected}"


def test_the_command_prints_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.yaml"
    file.write_text(PLAIN, encoding="utf-8")
    assert main(["declare", "--as-contract", str(file)]) == 0
    assert capsys.readouterr().out == contract_of(set_of(PLAIN))
    assert main(["declare", "--as-contract", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "contracts": [{"set": "plain", "contract": contract_of(set_of(PLAIN))}]
    }
    file.write_text("set: x\ndatasets: [{name: shop.orders}]\n", encoding="utf-8")
    assert main(["declare", "--as-contract", str(file), "--json"]) == 2
    assert "1 name has no namespace: shop.orders" in json.loads(capsys.readouterr().out)["error"]["message"]


def test_a_check_says_what_it_did_not_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: x\ndatasets: [{name: shop.orders}]\nconsumers: [{name: b, reads: [lake.shop.items]}]\n")
    assert main(["declare", "--check", str(file)]) == 0
    printed = capsys.readouterr()
    assert printed.out == "x: 2 declarations, no mistakes.\n"
    assert "2 names without a namespace were not checked, since --check doesn't ask the graph: " in printed.err
    assert "shop.orders, lake.shop.items" in printed.err
    assert main(["declare", "--check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["unchecked_names"] == ["shop.orders", "lake.shop.items"]


def test_types_of_the_schema_are_in_it() -> None:
    columns = '{a: {sensitivity: PII}, "s.x": , "l.[].y": , u: }'
    text = f"set: t\nnamespace: n\ndatasets: [{{name: d, columns: {columns}}}]\n"
    declared = set_of(text)
    types = {
        "a": ObservedType("decimal(10,2)", nullable=False),
        "s.x": ObservedType("STRING", nullable=True),
        "l.[].y": ObservedType("timestamp_ntz", nullable=None),
        "u": ObservedType("interval day to second", nullable=None),
    }
    contract = contract_of(declared, {DatasetRef("n", "d"): types})
    (back,) = read_file("c.yaml", contract).declarations.values()
    assert {column.path: column.type for column in back.columns or ()} == {
        name: each.type for name, each in types.items()
    }
    schema = next((found for parent in ROOT.parents if (found := parent / SCHEMA).is_file()), None)
    if schema is not None:
        jsonschema.Draft201909Validator(json.loads(schema.read_text(encoding="utf-8"))).validate(
            yaml.safe_load(contract)
        )
    properties = {each["name"]: each for each in yaml.safe_load(contract)["schema"][0]["properties"]}
    assert {name: properties["a"][name] for name in ("logicalType", "physicalType", "required")} == {
        "logicalType": "number",
        "physicalType": "decimal(10,2)",
        "required": True,
    }
    (x,) = properties["s"]["properties"]
    assert (x["logicalType"], x["required"]) == ("string", False)
    (y,) = properties["l"]["items"]["properties"]
    assert y == {"name": "y", "logicalType": "timestamp", "physicalType": "timestamp_ntz"}
    assert properties["u"] == {"name": "u", "physicalType": "interval day to second"}


def test_one_declaration_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: x\ndatasets: [{name: shop.orders, namespace: n}]\n")
    assert main(["declare", "--check", str(file)]) == 0
    assert capsys.readouterr().out == "x: 1 declaration, no mistakes.\n"
