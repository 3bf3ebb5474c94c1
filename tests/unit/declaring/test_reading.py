"""Files of declarations: what they become, and how mistakes are named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from headwater_analysis.declaring import yaml_lines
from headwater_analysis.declaring.files import read_file
from headwater_analysis.declaring.model import json_schema
from headwater_analysis.declaring.names import Names, UnresolvedNameError
from headwater_analysis.declaring.problems import DeclarationError
from headwater_analysis.declaring.reading import read_set
from headwater_analysis.declaring.sets import MOST_DECLARATIONS, DeclaredSet
from headwater_graph.fold import reject
from headwater_schemas.codec import Decoder, encode
from headwater_schemas.events import (
    Approval,
    ConsumerType,
    DatasetMark,
    DatasetRead,
    DatasetRef,
    DeclarationEvent,
    MarkSpread,
    Owner,
    PartitionMapping,
    Sensitivity,
    Tag,
    TransformationKind,
    TransformationType,
)
from support.declared_files import EVERY_FIELD as FLIGHTS
from support.events import TIME
from support.run_rules import rewrite, updating

ENRICHED = DatasetRef("kafka://broker:9092", "flights.enriched")
SHEET = DatasetRef("office", "delays.xlsx")


def read(text: str) -> DeclaredSet:
    return read_set("flights.yaml", text)


def of(declared: DeclaredSet, subject: str) -> DeclarationEvent:
    (found,) = [body for body in declared.declarations.values() if getattr(body, subject) is not None]
    return found


def problems(text: str) -> list[str]:
    with pytest.raises(DeclarationError) as raised:
        read(text)
    return [str(problem).removeprefix("flights.yaml, ") for problem in raised.value.problems]


def test_every_field_of_a_dataset() -> None:
    declared = read(FLIGHTS)
    (body,) = [each for each in declared.declarations.values() if each.dataset == ENRICHED]
    assert body.owners == (Owner("jo", "STEWARD"), Owner("team:flights"))
    assert body.tags == (Tag(key="domain", value="travel"), Tag(key="reviewed"))
    assert (body.freshness_seconds, body.notice_days, body.keep_days) == (900, 14, 400)
    assert (body.sensitivity, body.certified, body.criticality) == (Sensitivity.INTERNAL, True, "tier-1")
    assert (body.on_call, body.contact, body.url) == (
        "#flights-on-call",
        "flights@example.com",
        "https://wiki.example/flights",
    )
    assert (body.deadline, body.glossary, body.classification) == ("06:00 Europe/Berlin", ("flight",), "operations")
    assert body.description == "Flights with their airline and plane"
    assert [(column.path, column.sensitivity) for column in body.columns or ()] == [
        ("value.origin", None),
        ("value.plane", None),
        ("value.tailnum", Sensitivity.PII),
    ]
    assert [column.smallest_group for column in body.columns or ()] == [20, None, None]
    assert [column.type for column in body.columns or ()] == ["varchar(3)", None, None]
    assert [column.approval for column in body.columns or ()] == [
        None,
        Approval(
            covers=Sensitivity.PII,
            sensitivity=Sensitivity.INTERNAL,
            by="jo@example.com",
            reason="Public anyway",
            until="2027-06-30",
        ),
        None,
    ]
    assert body.marks == (
        DatasetMark(mark="critical", spread=MarkSpread.NONE),
        DatasetMark(mark="legal-hold", version="7", spread=MarkSpread.UPSTREAM, reason="Case 11"),
    )
    (reference,) = [each for each in declared.declarations.values() if each.reference]
    assert reference.dataset == DatasetRef("file", "airlines.csv")


def test_a_day_needs_no_quotes() -> None:
    approval = "{covers: PII, sensitivity: PUBLIC, by: b, reason: r, until: 2027-06-30}"
    body = of(
        read(f"set: x\nnamespace: n\ndatasets: [{{name: a, columns: {{c: {{approval: {approval}}}}}}}]"), "dataset"
    )
    assert [column.approval and column.approval.until for column in body.columns or ()] == ["2027-06-30"]


def test_a_job_with_columns_and_partitions() -> None:
    body = of(read(FLIGHTS), "job")
    assert (body.inputs, body.outputs) == ((ENRICHED,), (SHEET,))
    assert body.partitions == (
        PartitionMapping(input=ENRICHED, output=SHEET, input_field="day", output_field="month", transform="month"),
    )
    lineage = body.lineage
    assert lineage is not None
    assert lineage.datasets == (ENRICHED, SHEET)
    assert [(e.output_field, e.input_field, e.type, e.kind, e.expression) for e in lineage.edges] == [
        ("mean", "value.dep_delay", TransformationType.DIRECT, TransformationKind.AGGREGATE, "declared:0"),
        ("mean", "value.origin", TransformationType.INDIRECT, TransformationKind.FILTER_DEPENDENCY, None),
    ]
    assert [expression.text for expression in lineage.expressions] == ["mean"]


def test_a_consumer() -> None:
    body = of(read(FLIGHTS), "consumer")
    assert body.type is ConsumerType.DASHBOARD
    assert body.reads == (
        DatasetRead(ENRICHED),
        DatasetRead(DatasetRef(ENRICHED.namespace, "flights.routes"), ("origin",)),
    )


def test_its_events_keep_to_the_contract() -> None:
    events = list(read(FLIGHTS).events(3, tenant="acme", event_time=TIME))
    assert [event.kind for event in events] == ["DECLARATION"] * 4 + ["DECLARATION_SET"]
    assert [reject(event) for event in events] == [None] * 5
    assert [Decoder().decode(encode(event)) for event in events] == events


def test_the_order_in_a_file_does_not_matter() -> None:
    text = "set: s\nnamespace: n\ndatasets:\n- {name: a, owners: [x, y], tags: {p: 1a, q: 2a}}\n- name: b\n"
    other = "datasets:\n- name: b\n- {tags: {q: 2a, p: 1a}, owners: [y, x, y], name: a}\nnamespace: n\nset: s\n"
    assert read(text).declarations == read(other).declarations


def test_what_is_there_needs_no_event() -> None:
    declared = read(FLIGHTS)
    keys = declared.keys("default")
    events = list(declared.events(1, tenant="default", event_time=TIME, there=list(keys)[1:]))
    assert [event.kind for event in events] == ["DECLARATION", "DECLARATION_SET"]


def test_a_mistake_is_named_by_line_and_field(subtests: pytest.Subtests) -> None:
    cases = [
        ("", ["line 1: a declaration file is a mapping that begins with `set:`"]),
        ("set: x\na: [1", ["line 2: not YAML: did not find expected ',' or ']'"]),
        ("set: x\nset: y", ["line 2: set: the key is there twice"]),
        ("set: x\n? [a]\n: b", ["line 2: a key must be plain text"]),
        ("set: x\n<<: {a: 1}", ["line 2: merge keys (`<<`) aren't supported; write an alias for the whole value"]),
        (
            "set: !!python/object:os.system x",
            ["line 1: set: tag:yaml.org,2002:python/object:os.system isn't supported"],
        ),
        ("namespace: n", ["line 1: set: is missing"]),
        ("set: ''", ["line 1: set: is empty"]),
        (
            "set: x\ncolor: red",
            ["line 2: color: no such key; the keys are consumers, datasets, jobs, namespace, revision, set"],
        ),
        ("set: x\ndataset: []", ["line 2: dataset: no such key; did you mean `datasets`?"]),
        ("set: x\nrevision: 0", ["line 2: revision: must be 1 or more"]),
        ("set: x\ndatasets: 5", ["line 2: datasets: must be a list"]),
        ("set: x\njobs: [5]", ["line 2: jobs[0]: must be a mapping"]),
        (
            "set: x\ndatasets:\n- {name: a}",
            ["line 3: datasets[0]: has no namespace: add `namespace` here, or to the file for all names"],
        ),
        (
            "set: x\nnamespace: n\ndatasets:\n- name: a\n- name: b\n- name: a",
            ["line 6: datasets[2].name: is declared in line 4 already"],
        ),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n- name: a\n"
                "  sensitivity: SECRET\n  freshness: soon\n  notice: 5h\n  owners: [1]"
            ),
            [
                "line 5: datasets[0].sensitivity: must be one of PUBLIC, INTERNAL, CONFIDENTIAL, PII, RESTRICTED",
                "line 6: datasets[0].freshness: write a number and a unit: 90s, 15m, 2h, 14d or 2w",
                "line 7: datasets[0].notice: write whole days or weeks: 14d or 2w",
                "line 8: datasets[0].owners[0]: must be a name",
            ],
        ),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n- name: a\n"
                "  columns:\n    v.w: {sensitivty: PII}\n    z: {sensitivity: UNKNOWN}"
            ),
            [
                'line 6: datasets[0].columns["v.w"].sensitivty: no such key; did you mean `sensitivity`?',
                (
                    "line 7: datasets[0].columns.z.sensitivity: "
                    "must be one of PUBLIC, INTERNAL, CONFIDENTIAL, PII, RESTRICTED"
                ),
            ],
        ),
        (
            "set: x\nnamespace: n\nconsumers:\n- name: a\n  type: BOARD\n  reads:\n  - 5",
            [
                "line 5: consumers[0].type: must be one of DASHBOARD, REPORT, API, MODEL, EXPORT, SEARCH_INDEX, TEAM",
                "line 7: consumers[0].reads[0]: must be a name, or a mapping with `namespace` and `name`",
            ],
        ),
        (
            (
                "set: x\nnamespace: n\njobs:\n- name: a\n"
                "  columns:\n  - dataset: b\n    inputs:\n    - {dataset: c, colum: d}"
            ),
            ["line 8: jobs[0].columns[0].inputs[0].colum: no such key; did you mean `column`?"],
        ),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n"
                "- {name: a, tags: [b], columns: [{name: c}], owners: d, deadline: 6:00}\n- e"
            ),
            [
                "line 4: datasets[0].owners: must be a list: put it into [ ]",
                "line 4: datasets[0].tags: must be a mapping: `name: value`, without a dash before it",
                "line 4: datasets[0].deadline: must be a text: put it into quotes",
                "line 4: datasets[0].columns: must be a mapping: `name: value`, without a dash before it",
                "line 5: datasets[1]: must be a mapping that begins with `name:`",
            ],
        ),
        (
            "set: x\nnamespace: n\ndatasets: [{name: a, certified: 'yes', keep: 2y, freshness: 99999999999999999999w}]",
            [
                "line 3: datasets[0].certified: must be true or false",
                "line 3: datasets[0].freshness: is too large",
                "line 3: datasets[0].keep: write whole days or weeks: 14d or 2w",
            ],
        ),
        ("set: x\nrevision: 9223372036854775807", ["line 2: revision: is too large"]),
        (
            (
                "set: x\nnamespace: n\nconsumers:\n- name: a\n  reads:\n"
                "  - {dataset: d, column: e}\n  - {dataset: {name: f}}"
            ),
            [
                "line 6: consumers[0].reads[0].column: no such key; did you mean `columns`?",
                "line 7: consumers[0].reads[1].dataset.namespace: is missing",
            ],
        ),
        (
            "set: x\nnamespace: n\nconsumers:\n- name: a\n  contact:  # nobody yet\n  on_call: #flights",
            ["line 6: consumers[0].on_call: #flights is a comment in YAML, so there is no value: put it into quotes"],
        ),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n- name: a\n  columns:\n"
                "    b: {type: decimal(10,2)}\n    c: {type: map<string,int>}\n    d: {type: 5, tpe: x}"
            ),
            [
                (
                    'line 6: datasets[0].columns.b["2)"]: belongs to the previous value, which has a comma: '
                    "put that value into quotes"
                ),
                (
                    'line 7: datasets[0].columns.c["int>"]: belongs to the previous value, which has a comma: '
                    "put that value into quotes"
                ),
                "line 8: datasets[0].columns.d.type: must be a text: put it into quotes",
                "line 8: datasets[0].columns.d.tpe: no such key; did you mean `type`?",
            ],
        ),
        ("set: x\ndatasets:\n\t- name: a", ["line 3: not YAML: a tab before the text; YAML is indented by spaces"]),
        ("set: x\n---\nset: y", ["line 2: a file has one YAML document, but a second one begins here"]),
        ("set: !!binary aGk=", ["line 1: set: tag:yaml.org,2002:binary isn't supported"]),
        ("set: !mine x", ["line 1: set: !mine isn't supported"]),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n- name: a\n  marks:\n  - {mark: m, spreads: UPSTREAM}\n"
                "  columns:\n    c:\n      smallest_group: 0\n      approval: {covers: PII, sensitivity: PUBLIC,\n"
                "        by: b, reason: r, until: soon}"
            ),
            [
                "line 6: datasets[0].marks[0].spreads: no such key; did you mean `spread`?",
                "line 9: datasets[0].columns.c.smallest_group: must be 1 or more",
                "line 11: datasets[0].columns.c.approval.until: write a day: 2027-06-30",
            ],
        ),
        (
            (
                "set: x\nnamespace: n\ndatasets:\n- name: a\n  marks: [3]\n"
                "  columns:\n    c: {approval: {covers: PII, bye: x}}"
            ),
            [
                "line 5: datasets[0].marks[0]: must be a mark, or a mapping with `mark`",
                "line 7: datasets[0].columns.c.approval.sensitivity: is missing",
                "line 7: datasets[0].columns.c.approval.by: is missing",
                "line 7: datasets[0].columns.c.approval.reason: is missing",
                "line 7: datasets[0].columns.c.approval.bye: no such key; did you mean `by`?",
            ],
        ),
    ]
    for text, expected in cases:
        with subtests.test(text=text):
            assert problems(text) == expected


def test_an_alias_within_its_own_anchor_ends() -> None:
    (problem,) = problems("set: &a [*a]")
    assert problem.endswith("no anchor &a is complete before this alias")


def test_a_file_of_brackets_ends_in_an_error(subtests: pytest.Subtests) -> None:
    """Files of nested brackets would end the process with a segmentation fault if PyYAML built its own tree of them."""
    for opening in ["[", "{a: ", "- ", "? ", "[? "]:
        with subtests.test(opening=opening):
            (problem,) = problems(opening * 100_000)
            assert "nested deeper than 60 levels" in problem or "a key must be plain text" in problem


def test_a_hundred_mistakes_under_a_long_key_are_a_short_answer() -> None:
    wrong = "".join(f"      x{number}: 1\n" for number in range(100))
    text = f"set: s\ndatasets:\n- name: d\n  namespace: n\n  columns:\n    ? {'k' * 100_000}\n    :\n{wrong}"
    with pytest.raises(DeclarationError) as raised:
        read_set("f.yaml", text)
    assert len(raised.value.problems) == 100
    assert all(len(each.field + each.pointer + each.message) < 1_000 for each in raised.value.problems)


def test_a_pointer_leads_to_the_field() -> None:
    with pytest.raises(DeclarationError) as raised:
        read('set: x\ndatasets: [{name: a, namespace: n, columns: {"a/b~c": {x: 1}}}]')
    assert [problem.pointer for problem in raised.value.problems] == ["/datasets/0/columns/a~1b~0c/x"]


def test_aliases_that_are_billions_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_lines, "_MOST_VALUES", 1_000)
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (problem,) = problems("\n".join(lines))
    assert problem.endswith("the file has more than 1,000 values")


def test_aliases_are_fine() -> None:
    text = "set: x\nnamespace: n\ndatasets:\n- {name: a, owners: &us [team:a, team:b]}\n- {name: b, owners: *us}"
    assert [body.owners for body in read(text).declarations.values()] == [(Owner("team:a"), Owner("team:b"))] * 2


def test_of_a_file_of_mistakes_a_hundred_are_reported() -> None:
    """Each is compared with none of the others: with all of them this would take long."""
    assert len(problems("set: x\ndatasets:\n" + "- a\n" * 20_000)) == 100


def test_a_job_has_no_more_pairs_than_the_materializer_takes() -> None:
    many = ", ".join(f"d{number}" for number in range(1_000))
    (problem,) = problems(f"set: x\nnamespace: n\njobs: [{{name: j, inputs: [{many}], outputs: [{many}]}}]")
    assert "every input feeds every output: 1,000,000 pairs, at most 50,000; split the job" in problem


def test_a_set_may_not_be_larger_than_an_event() -> None:
    rows = "".join(f"- name: d{number}\n" for number in range(MOST_DECLARATIONS + 1))
    (problem,) = problems(f"set: x\nnamespace: n\ndatasets:\n{rows}")
    assert "a set may have 25,000 declarations, this one has 25,001 datasets, jobs and consumers" in problem


def test_the_largest_set_fits_in_a_record() -> None:
    declared = read("set: x\nnamespace: n\ndatasets: [{name: a}]")
    [body] = declared.declarations.values()
    full = DeclaredSet("x", {f"{number:032x}": body for number in range(MOST_DECLARATIONS)})
    *_, revision = full.events(1, tenant="default", event_time=TIME, there=full.keys("default"))
    assert len(encode(revision)) < 1_000_000


def test_the_published_schema_is_that_of_the_model() -> None:
    page = Path(__file__).parents[3] / "schemas" / "headwater_schemas" / "json" / "declarations-1.schema.json"
    text = json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    if updating():
        rewrite(page, text)
    else:
        assert page.read_text(encoding="utf-8") == text


def test_editors_see_by_the_schema_what_is_wrong(subtests: pytest.Subtests) -> None:
    cases = [
        (FLIGHTS, True),
        ("{set: x, datasets: [{name: a, sensitivity: UNKNOWN}]}", False),
        ("{set: x, datasets: [{name: a, freshness: soon}]}", False),
        ("{set: x, other: 1}", False),
    ]
    for text, good in cases:
        with subtests.test(text=text):
            document: Any = yaml.load(text, Loader=yaml.SafeLoader)
            errors = list(jsonschema.Draft202012Validator(json_schema()).iter_errors(document))
            assert (not errors) == good


FRIENDLY = """\
set: x
datasets: [{name: shop.orders}, {name: d, namespace: n}]
jobs:
- {name: j, namespace: office, inputs: [shop.orders, lake.shop.orders], outputs: [{namespace: n, name: sheet}]}
consumers: [{name: board, reads: [shop.orders, {dataset: shop.items, columns: [c]}]}]
"""
ORDERS, ITEMS = DatasetRef("file", "/warehouse/shop.db/orders"), DatasetRef("file", "/warehouse/shop.db/items")


def test_names_without_a_namespace_are_datasets_of_the_graph() -> None:
    asked = []

    def find(name: str) -> DatasetRef:
        asked.append(name)
        return {"shop.orders": ORDERS, "lake.shop.orders": ORDERS, "shop.items": ITEMS}[name]

    names = Names(find)
    declared = read_file("f.yaml", FRIENDLY, names=names)
    assert of(declared, "job").inputs == (ORDERS,)
    assert of(declared, "consumer").reads == (DatasetRead(ITEMS, ("c",)), DatasetRead(ORDERS))
    assert {body.dataset for body in declared.declarations.values() if body.dataset} == {ORDERS, DatasetRef("n", "d")}
    assert sorted(asked) == ["lake.shop.orders", "shop.items", "shop.orders"]
    assert not names.unchecked


def test_names_that_are_not_looked_up_are_listed() -> None:
    names = Names(None)
    read_file("f.yaml", FRIENDLY, names=names)
    assert list(names.unchecked) == ["shop.orders", "lake.shop.orders", "shop.items"]


def test_a_name_that_is_no_datasets_is_a_mistake_where_it_stands() -> None:
    def find(name: str) -> DatasetRef:
        if name == "shop.items":
            raise UnresolvedNameError("the graph has several datasets shop.items: a, b")
        return ORDERS

    with pytest.raises(DeclarationError) as raised:
        read_file("f.yaml", FRIENDLY, names=Names(find))
    assert [str(problem) for problem in raised.value.problems] == [
        (
            "f.yaml, line 5: consumers[0].reads[1].dataset: the graph has several datasets shop.items: a, b; "
            "or add `namespace` here, or to the file for all names"
        )
    ]


def test_two_names_of_one_dataset_declare_it_twice() -> None:
    text = "set: x\ndatasets:\n- {name: shop.orders}\n- {name: lake.shop.orders}\n"
    with pytest.raises(DeclarationError) as raised:
        read_file("f.yaml", text, names=Names(lambda _: ORDERS))
    assert str(raised.value) == "f.yaml, line 4: datasets[1].name: is declared in line 3 already"


def test_a_job_has_a_namespace() -> None:
    with pytest.raises(DeclarationError) as raised:
        read_file("f.yaml", "set: x\njobs: [{name: j}]", names=Names(lambda _: ORDERS))
    assert "has no namespace" in str(raised.value)


def test_a_contract_without_servers_names_tables_of_the_graph() -> None:
    text = (
        "kind: DataContract\napiVersion: v3.1.0\nid: x\nversion: '1'\nstatus: s\n"
        "schema: [{name: orders, physicalName: shop.orders}]"
    )
    declared = read_file("c.yaml", text, names=Names(lambda name: {"shop.orders": ORDERS}[name]))
    assert of(declared, "dataset").dataset == ORDERS
    names = Names(None)
    read_file("c.yaml", text, names=names)
    assert list(names.unchecked) == ["shop.orders"]

    def nowhere(name: str) -> DatasetRef:
        raise UnresolvedNameError(f"the graph has no dataset {name}")

    with pytest.raises(DeclarationError) as raised:
        read_file("c.yaml", text, names=Names(nowhere))
    assert (
        "its dataset is unknown, since no server gives a namespace, and the graph has no dataset shop.orders: add"
        in str(raised.value)
    )


def test_deadlines(subtests: pytest.Subtests) -> None:
    cases = [
        "06:00",
        "06:00 Europe/Berlin",
        "Mon-Fri 23:59 UTC",
        "Mon,Wed,Fri 06:00",
        "06:00 Z",
        "06:00 +02:00",
    ]
    for deadline in cases:
        with subtests.test(deadline=deadline):
            (body,) = read_set(
                "f.yaml", f"set: s\nnamespace: n\ndatasets: [{{name: a, deadline: '{deadline}'}}]"
            ).declarations.values()
            assert body.deadline == deadline


def test_what_is_no_deadline(subtests: pytest.Subtests) -> None:
    cases = [
        ("soon", "write a time of day: 06:00 Europe/Berlin, or Mon-Fri 07:30 UTC"),
        ("24:00", "write a time of day: 06:00 Europe/Berlin, or Mon-Fri 07:30 UTC"),
        ("6:00", "write a time of day: 06:00 Europe/Berlin, or Mon-Fri 07:30 UTC"),
        ("Montag 06:00", "write a time of day: 06:00 Europe/Berlin, or Mon-Fri 07:30 UTC"),
        ("06:00 Europe/Berlim", "there is no time zone Europe/Berlim; the nearest is Europe/Berlin"),
    ]
    for deadline, wrong in cases:
        with subtests.test(deadline=deadline):
            with pytest.raises(DeclarationError) as raised:
                read_set("f.yaml", f"set: s\nnamespace: n\ndatasets: [{{name: a, deadline: '{deadline}'}}]")
            assert [str(each) for each in raised.value.problems] == [f"f.yaml, line 3: datasets[0].deadline: {wrong}"]
