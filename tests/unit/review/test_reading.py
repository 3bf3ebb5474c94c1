"""Schemas of every format: the same columns, and what is wrong with a file that isn't one."""

from __future__ import annotations

import contextlib
import json
import time
from random import Random
from typing import Any

import pytest

from headwater_analysis.data_types import parse_type, type_text
from headwater_analysis.declaring.problems import DeclarationError
from headwater_review.reading import document
from headwater_review.reading.files import read_schema
from headwater_review.schema import Schema, steps_of

# Orders: a required id, a nullable price, legs of a struct, scores by name.
DDL = """CREATE TABLE orders (
  id BIGINT NOT NULL COMMENT 'of the order',
  price DECIMAL(10, 2),
  legs ARRAY<STRUCT<origin: STRING>>,
  scores MAP<STRING, INT>
) USING parquet PARTITIONED BY (day DATE)
"""
SPARK = {
    "type": "struct",
    "fields": [
        {"name": "id", "type": "long", "nullable": False, "metadata": {"comment": "of the order", "unit": "1"}},
        {"name": "price", "type": "decimal(10,2)", "nullable": True, "metadata": {}},
        {
            "name": "legs",
            "type": {
                "type": "array",
                "elementType": {"type": "struct", "fields": [{"name": "origin", "type": "string", "nullable": True}]},
                "containsNull": True,
            },
            "nullable": True,
        },
        {
            "name": "scores",
            "type": {"type": "map", "keyType": "string", "valueType": "integer", "valueContainsNull": True},
            "nullable": True,
        },
    ],
}
AVRO = {
    "type": "record",
    "name": "Order",
    "namespace": "shop",
    "fields": [
        {"name": "id", "type": "long", "doc": "of the order"},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {
            "name": "legs",
            "type": [
                "null",
                {
                    "type": "array",
                    "items": [
                        "null",
                        {"type": "record", "name": "Leg", "fields": [{"name": "origin", "type": ["null", "string"]}]},
                    ],
                },
            ],
        },
        {"name": "scores", "type": ["null", {"type": "map", "values": ["null", "int"]}]},
    ],
}
COLUMNS = {
    "fields": [
        {"name": "id", "type": "long", "nullable": False, "description": "of the order"},
        {"name": "price", "type": "decimal(10,2)", "nullable": True},
        {"name": "legs", "type": "array<struct<origin:string>>", "nullable": True},
        {"name": "scores", "type": "map<string,int>", "nullable": True},
    ]
}
JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "required": ["id"],
    "$defs": {"leg": {"type": "object", "properties": {"origin": {"type": "string"}}}},
    "properties": {
        "id": {"type": "integer", "description": "of the order"},
        "price": {"type": ["number", "null"], "unit": "EUR"},
        "legs": {"type": "array", "items": {"$ref": "#/$defs/leg"}},
        "scores": {"type": "object", "additionalProperties": {"type": "integer"}},
    },
}
ODCS = {
    "kind": "DataContract",
    "apiVersion": "v3.1.0",
    "schema": [
        {
            "name": "orders",
            "properties": [
                {"name": "id", "physicalType": "bigint", "required": True, "primaryKey": True},
                {
                    "name": "price",
                    "logicalType": "number",
                    "partitioned": True,
                    "partitionKeyPosition": 1,
                    "customProperties": [{"property": "unit", "value": "EUR"}],
                },
                {"name": "legs", "logicalType": "array", "items": {"logicalType": "object", "properties": []}},
            ],
        }
    ],
}
PATHS = ["id", "price", "legs", "legs.[]", "legs.[].origin", "scores", "scores.{}"]


def read(value: object) -> Schema:
    return read_schema("f", value if isinstance(value, str) else json.dumps(value, indent=1))


def types(schema: Schema) -> dict[str, str | None]:
    return {column.path: column.type for column in schema.columns.values()}


def test_one_schema_in_each_format(subtests: pytest.Subtests) -> None:
    cases = {"ddl": DDL, "spark": SPARK, "avro": AVRO, "columns": COLUMNS}
    for case, given in cases.items():
        with subtests.test(case):
            schema = read(given)
            found = types(schema)
            assert [path for path in found if path != "day"] == PATHS
            assert found["id"] == "bigint"
            assert found["price"] == "decimal(10,2)"
            assert found["legs"] == "array<struct<origin:string>>"
            assert found["scores"] == "map<string,int>"
            assert schema.columns["id",].nullable is False
            assert schema.columns["price",].nullable is True
            assert schema.columns["id",].description == "of the order"
            lines = [schema.columns[path,].line for path in ("id", "price", "legs", "scores")]
            assert lines == sorted(set(lines))


def test_a_json_schema() -> None:
    schema = read(JSON_SCHEMA)
    assert list(types(schema)) == PATHS
    assert types(schema)["price"] == "double"
    assert schema.columns["id",].nullable is False
    assert schema.columns["price",].nullable is True
    assert schema.columns["legs",].nullable is True
    assert schema.columns["price",].unit == "EUR"


def test_what_only_ddl_has() -> None:
    schema = read(DDL)
    assert schema.partitioning == ("day",)
    assert schema.columns["day",].type == "date"
    assert "partitioning" in schema.states
    assert "partitioning" not in read("id int").states
    assert read("create table t (a int) partitioned by (bucket(4, a))").partitioning == ("bucket(4, a)",)
    keyed = read("a int, b int, c int not null default 3, PRIMARY KEY (a)")
    assert [column.nullable for column in keyed.columns.values()] == [False, True, False]
    assert [column.required for column in keyed.columns.values()] == [True, False, False]


def test_what_only_avro_has() -> None:
    status = {"type": "enum", "name": "Status", "symbols": ["PAID", "OPEN"]}
    fields = [
        {"name": "status", "type": status, "default": "OPEN"},
        {"name": "before", "type": ["null", "Status"]},
        {"name": "parent", "type": ["null", "Order"]},
        {"name": "amount", "type": ["int", "long"]},
        {"name": "either", "type": ["int", "string"]},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    ]
    schema = read({"type": "record", "name": "Order", "fields": fields})
    assert schema.columns["status",].enum == ("OPEN", "PAID")
    assert schema.columns["before",].enum == ("OPEN", "PAID")
    assert not schema.columns["status",].required
    assert types(schema)["parent"] == "recursive Order"
    assert types(schema)["amount"] == "bigint"
    assert types(schema)["either"] == "struct<member0:int,member1:string>"
    assert types(schema)["at"] == "timestamp"


def test_what_only_json_schema_has() -> None:
    properties = {
        "state": {"enum": ["a", "b", None]},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "day": {"type": "string", "format": "date"},
        "node": {"$ref": "#/$defs/node"},
        "both": {"allOf": [{"properties": {"x": {"type": "string"}}}, {"properties": {"y": {"type": "integer"}}}]},
    }
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    found = read({"type": "object", "properties": properties, "$defs": {"node": node}})
    assert found.columns["state",].enum == ("a", "b")
    assert types(found)["either"] == "any of bigint, string"
    assert types(found)["day"] == "date"
    assert types(found)["node.next"] == "recursive #/$defs/node"
    assert types(found)["both"] == "struct<x:string,y:bigint>"


CONTRACT = """apiVersion: v3.1.0
kind: DataContract
id: orders
schema:
  - name: orders
    properties:
      - {name: id, physicalType: bigint, logicalType: integer, required: true, description: of the order}
      - {name: day, logicalType: date, partitioned: true, partitionKeyPosition: 2}
      - {name: region, logicalType: string, partitioned: true, partitionKeyPosition: 1}
      - name: legs
        logicalType: array
        items: {logicalType: object, properties: [{name: origin, logicalType: string}]}
      - {name: km, physicalType: "decimal(10, 2)", customProperties: [{property: unit, value: km}]}
  - name: other
    physicalName: o_2
    properties: [{name: x}]
"""


def test_a_table_of_a_data_contract() -> None:
    schema = read_schema("f", CONTRACT, "orders")
    assert types(schema) == {
        "id": "bigint",
        "day": "date",
        "region": "string",
        "legs": "array<struct<origin:string>>",
        "legs.[]": "struct<origin:string>",
        "legs.[].origin": "string",
        "km": "decimal(10,2)",
    }
    assert schema.partitioning == ("region", "day")
    assert (schema.columns["id",].nullable, schema.columns["day",].nullable) == (False, True)
    assert schema.columns["id",].description == "of the order"
    assert schema.columns["km",].unit == "km"
    assert [schema.columns[path,].line for path in ("id", "legs", "km")] == [7, 10, 13]
    as_json = {
        "kind": "DataContract",
        "schema": [{"name": "t", "properties": [{"name": "a", "logicalType": "number"}]}],
    }
    assert types(read(as_json)) == {"a": "double"}


def test_what_is_no_table_of_a_contract(subtests: pytest.Subtests) -> None:
    cases = [
        (CONTRACT, None, "f, line 4: schema: has 2 tables (orders, other): name one with --table"),
        (CONTRACT, "others", "has no table, or several, of the name 'others'; there are orders, other"),
        (CONTRACT, "o_2", "f, line 16: schema[1].properties[0].physicalType: is missing, and so is `logicalType`"),
        ("kind: DataContract\nschema: [{name: a}]", None, "f, line 2: schema[0].properties: is missing"),
        ("kind: DataContract\nschema: {", None, "not YAML"),
        ("id int", "orders", "f, line 1: is no data contract: leave --table out"),
    ]
    for text, table, message in cases:
        with subtests.test(text=text, table=table):
            with pytest.raises(DeclarationError) as refused:
                read_schema("f", text, table)
            assert message in str(refused.value)


def test_elements_as_open_lineage_has_them() -> None:
    element = {"name": "_element", "type": "struct", "fields": [{"name": "a", "type": "int"}]}
    assert types(read([{"name": "l", "type": "array", "fields": [element]}])) == {
        "l": "array<struct<a:int>>",
        "l.[]": "struct<a:int>",
        "l.[].a": "int",
    }


def test_what_is_no_schema(subtests: pytest.Subtests) -> None:
    cases = [
        ("", "f, line 1: is empty"),
        ("[]", "f, line 1: has no columns"),
        ("{}", "f, line 1: is no schema"),
        ('{"type": "string"}', "f, line 1: is no schema"),
        ('{"a":\n 1,,}', "f, line 2: not JSON"),
        ('{"fields": [], "fields": []}', "f, line 1: fields: the key is there twice"),
        ('[{"name": "a", "type": "int"},\n{"nam": "b"}]', "f, line 2: [1].name: is missing"),
        ('[{"name": "a", "type": "int"},\n{"name": "a", "type": "int"}]', "f, line 2: a: is there twice"),
        ('[{"name": "a"}]', "f, line 1: [0].type: is missing"),
        ('[{"name": "a", "type": "int",\n"nullable": 1}]', "f, line 2: [0].nullable: must be true or false"),
        ('[{"name": "a", "type": 3}]', "f, line 1: [0].type: must be a text"),
        ('{"type": "struct"}', "f, line 1: fields: is missing"),
        (
            '{"type": "struct", "fields": [{"name": "a",\n"type": {"type": "list"}}]}',
            "f, line 2: fields[0].type.type: 'list' is none of struct, array, map and udt",
        ),
        (
            '{"type": "struct", "fields": [{"name": "a", "type": {"type": "array"}}]}',
            "f, line 1: fields[0].type.elementType: is missing",
        ),
        (
            '{"type": "record", "name": "R", "fields": [\n{"name": "a", "type": "lng"}]}',
            "f, line 2: fields[0].type: 'lng' is no type of Avro",
        ),
        ('{"type": "record", "name": "R"}', "f, line 1: fields: is missing"),
        (
            '{"type": "object", "properties": {"a": {"type": "strin"}}}',
            "f, line 1: properties.a.type: strin is no type",
        ),
        ('{"type": "object", "properties": {"a": {}, "b": {"$ref": "b.json"}}}', "is in another file"),
        ('{"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}', "isn't in the file"),
        ('{"$schema": "x", "type": "string"}', "f, line 1: type: must be `object`"),
        ("id int,\nb", "f, line 2: b: has no type"),
        ("id int,\nb strng", "f, line 2: not DDL of Spark"),
        ("select 1", "is no CREATE TABLE"),
        ("create table t as select 1", "is no CREATE TABLE"),
        ("create table t (a int); create table u (a int)", "has 2 statements"),
        ("some prose, about nothing", "f, line 1"),
        ("[" * 100_000, "f, line 1: n"),
        ('[{"name": "a", "type": "int", "default": ' + "1" * 5_000 + "}]", "f, line 1: not JSON"),
        ('{"type": "object", "properties": {"a": {"type": {}}}}', "properties.a.type: {} is no type"),
        ('{"type": "object", "properties": {"a": {"type": "string", "format": []}}}', "a.format: must be a text"),
        ('{"type": "object", "properties": {"a": {"type": "string", "enum": 5}}}', "a.enum: must be a list"),
        ('{"type": "object", "properties": {"a": {"enum": 5}}}', "a.enum: must be a list"),
        ('{"type": "object", "allOf": [{"required": 5}], "properties": {}}', "allOf[0].required: must be a list"),
        ('{"allOf": [{"$ref": "#"}]}', "nested too deep, references followed"),
        ("array<" * 10_000, "f, line 1"),
        ("a " + "array<" * 5_000 + "int" + ">" * 5_000, "nested too deep"),
        ("a: |\n kind: x\nkind: DataContract\nb: [", "f, line 4: not YAML"),
        ("# x\nkind: DataContract\n", "f, line 2: schema: must be a list"),
        (",\n".join(f"c{number} int" for number in range(20_001)), "has more than 20,000 columns"),
        ("a int default " + "1+" * 131_072 + "1", "has 262,159 characters; DDL may have 262,144"),
    ]
    for text, message in cases:
        with subtests.test(text=text):
            with pytest.raises(DeclarationError) as refused:
                read_schema("f", text)
            assert message in str(refused.value)


def test_references_that_double_at_each_of_many_levels_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "_MOST_OBJECTS", 10_000)
    records: list[Any] = ["int"]
    for level in range(30):
        fields = [{"name": name, "type": records[0] if level == 0 else f"R{level - 1}"} for name in "ab"]
        records.append({"type": "record", "name": f"R{level}", "fields": fields})
    definitions = {
        f"r{level}": {"anyOf": [{"$ref": f"#/$defs/r{level + 1}"}] * 2} if level < 30 else {"type": "string"}
        for level in range(31)
    }
    for value in (
        {
            "type": "record",
            "name": "All",
            "fields": [{"name": f"x{n}", "type": each} for n, each in enumerate(records)],
        },
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/r0"}}, "$defs": definitions},
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/r"}},
            "$defs": {"r": {"anyOf": [{"$ref": "#/$defs/r"}] * 2}},
        },
    ):
        with pytest.raises(DeclarationError, match="more than 10,000 objects"):
            read(value)


WEIRD: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    1e308,
    "",
    "\x1b[31m",
    "\ud800",
    "struct<a:int>",
    [],
    [None],
    [[]],
    {},
    {"type": None},
    {"": []},
)


def replaced(value: Any, random: Random) -> Any:
    """Copy of a value with something else at one place."""
    if isinstance(value, (dict, list)) and value and random.random() < 0.9:
        key = random.choice(list(value) if isinstance(value, dict) else range(len(value)))
        copy: Any = dict(value) if isinstance(value, dict) else list(value)
        if random.random() < 0.1:
            del copy[key]
        else:
            copy[key] = replaced(value[key], random)
        return copy
    return random.choice(WEIRD)


def test_whatever_stands_in_a_place_it_is_a_schema_or_an_error_with_its_line(subtests: pytest.Subtests) -> None:
    for seed in range(20):
        with subtests.test(seed=seed):
            random = Random(seed)
            for value in (SPARK, AVRO, COLUMNS, JSON_SCHEMA, ODCS):
                for _ in range(20):
                    text = json.dumps(replaced(value, random), indent=1)
                    with contextlib.suppress(DeclarationError):
                        assert read_schema("f", text).columns
            for _ in range(20):
                words = DDL.split()
                for _ in range(3):
                    words[random.randrange(len(words))] = random.choice(
                        [*words, "(", ")", "<", ",", "'", "`", "\x1b[31m", "/*"]
                    )
                with contextlib.suppress(DeclarationError):
                    assert read_schema("f", " ".join(words)).columns


def test_types_as_spark_writes_them(subtests: pytest.Subtests) -> None:
    cases = [
        ("LONG", "bigint"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("numeric", "decimal(10,0)"),
        ("struct<a:int,`b.c`:array<map<string,decimal(3,1)>>>", "struct<a:int,b.c:array<map<string,decimal(3,1)>>>"),
        ("struct<>", "struct<>"),
        ("struct<a", "struct<a"),
        ("array<int>>", "array<int>>"),
    ]
    for written, text in cases:
        with subtests.test(written=written):
            assert type_text(parse_type(written)) == text


def test_steps_of_paths() -> None:
    assert steps_of("legs.[].`a.b`.c") == ("legs", "[]", "`a.b`", "c")


@pytest.mark.nightly
def test_five_thousand_columns_are_read_in_seconds() -> None:
    began = time.monotonic()
    ddl = read_schema("f", ",\n".join(f"c{number} int" for number in range(5_000)))
    fields = [{"name": f"c{number}", "type": "integer", "nullable": True} for number in range(5_000)]
    spark = read_schema("f", json.dumps({"type": "struct", "fields": fields}, indent=1))
    assert types(ddl) == types(spark)
    assert ddl.columns["c4999",].line == 5_000
    assert time.monotonic() - began < 20
