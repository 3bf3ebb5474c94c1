"""Changes of a revision: the datasets it names, the cycles it declares, and contradictions between sets."""

from __future__ import annotations

from headwater_analysis.declared import Declaration, contradictions, merge, merged
from headwater_analysis.declaring.cycles import cycles, declared_pairs
from headwater_analysis.declaring.difference import ChangedValue, difference, edges_of, made, named_datasets
from headwater_analysis.declaring.reading import read_set
from headwater_analysis.declaring.sets import DeclaredSet


def read(text: str, name: str = "s") -> DeclaredSet:
    return read_set("f.yaml", f"set: {name}\nnamespace: n\n{text}")


def differences(before: str, after: str) -> list[tuple[str, str, str, list[ChangedValue]]]:
    bodies = [read(text).by_key("default") for text in (before, after)]
    now, then = (made(each, tenant="default") for each in bodies)
    edges = {of: edge for each in bodies for of, edge in edges_of(each, tenant="default").items()}
    return [(one.change, one.subject_type, one.name, one.values) for one in difference(then, now, edges=edges)]


def test_nothing() -> None:
    text = "datasets: [{name: a, owners: [x], columns: {c: {sensitivity: PII}}}]"
    assert differences(text, text) == []


def test_added_withdrawn_and_changed() -> None:
    before = "datasets: [{name: a, owners: [x], columns: {c: {sensitivity: PII}, d: }}, {name: b}]"
    after = "datasets: [{name: a, owners: [y], freshness: 1h, columns: {c: {sensitivity: INTERNAL}}}]"
    after += "\nconsumers: [{name: z}]"
    assert differences(before, after) == [
        ("added", "consumer", "z", []),
        (
            "changed",
            "dataset",
            "a",
            [
                ChangedValue(None, "freshness_seconds", None, 3600),
                ChangedValue(None, "owners", ["x"], ["y"]),
                ChangedValue("c", "sensitivity", "PII", "INTERNAL"),
                ChangedValue("d", "declared", True, None),
            ],
        ),
        ("withdrawn", "dataset", "b", []),
    ]


def test_a_column_without_a_word_on_it() -> None:
    assert differences("datasets: [{name: a}]", "datasets: [{name: a, columns: {c: }}]") == [
        ("changed", "dataset", "a", [ChangedValue("c", "declared", None, True)])
    ]
    assert differences(
        "datasets: [{name: a, columns: {c: }}]", "datasets: [{name: a, columns: {c: {sensitivity: PII}}}]"
    ) == [
        (
            "changed",
            "dataset",
            "a",
            [ChangedValue("c", "declared", True, None), ChangedValue("c", "sensitivity", None, "PII")],
        )
    ]


def test_what_a_consumer_reads() -> None:
    before = "consumers: [{name: z, reads: [a, b]}]"
    after = "consumers: [{name: z, reads: [{dataset: a, columns: [x, y]}, /c]}]"
    reads = ChangedValue(None, "reads", ["n/a", "n/b"], ["n/a#x", "n/a#y", "n:/c"])
    assert differences(before, after) == [("changed", "consumer", "z", [reads])]


def test_datasets_of_a_job_are_named() -> None:
    one = "{input: a, input_field: day, output: b, output_field: month, transform: month}"
    before = f"jobs: [{{name: j, inputs: [a], outputs: [b], partitions: [{one}]}}]"
    after = "jobs: [{name: j, inputs: [a, /c], outputs: [{namespace: s3://x, name: d}]}]"
    assert differences(before, after) == [
        (
            "changed",
            "job",
            "j",
            [
                ChangedValue(None, "inputs", ["n/a"], ["n/a", "n:/c"]),
                ChangedValue(None, "outputs", ["n/b"], ["s3://x/d"]),
                ChangedValue(None, "partitions", ["n/a#day → n/b#month (month)"], None),
            ],
        )
    ]


def test_edges_of_column_lineage_that_come_and_go() -> None:
    def job(*inputs: str) -> str:
        return f"jobs: [{{name: j, columns: [{{dataset: a, column: x, inputs: [{', '.join(inputs)}]}}]}}]"

    kept, gone, come = "{dataset: b, column: y}", "{dataset: b, kind: COPY}", "{dataset: /c, column: z, masking: true"
    come += ", kind: AGGREGATE, expression: max(z)}"
    edges = ["n/a#x ← n/b (COPY)"], ["n/a#x ← n:/c#z (AGGREGATE, masked: max(z))"]
    (_, _, _, values) = differences(job(kept, gone), job(kept, come))[0]
    assert ChangedValue(None, "column_lineage", *edges) in values
    (_, _, _, values) = differences("jobs: [{name: j, inputs: [b]}]", job(kept))[0]
    assert ChangedValue(None, "column_lineage", [], ["n/a#x ← n/b#y (DERIVE)"]) in values


def test_what_two_sets_say_that_a_consumer_reads_adds_up() -> None:
    (found,) = merged(both("consumers: [{name: z, reads: [a]}]", "consumers: [{name: z, reads: [b]}]")).values()
    assert (found.values["reads"], found.contradictions) == (["n/a", "n/b"], [])


def test_what_is_new_is_in_its_order() -> None:
    text = "datasets: [{name: a, owners: [x]}, {name: c}]\nconsumers: [{name: z}]\njobs: [{name: j}]"
    (one,) = made(read("datasets: [{name: b}]").by_key("default"), tenant="default")
    added = read(text).declarations.values()
    whole = made(read(text).by_key("default"), tenant="default")
    assert difference([], [one], added=added) == difference(whole, [one])
    assert [each.name for each in difference([], [one], added=added)] == ["z", "a", "b", "c", "j"]


def test_all_datasets_that_are_named() -> None:
    text = (
        "datasets: [{name: a}]\n"
        "jobs: [{name: j, inputs: [b], outputs: [c], columns: [{dataset: d, inputs: [{dataset: e}]}],"
        " partitions: [{input: f, input_field: x, output: g, output_field: y, transform: z}]}]\n"
        "consumers: [{name: k, reads: [h]}]"
    )
    assert sorted(one.name for one in named_datasets(read(text).declarations.values())) == list("abcdefgh")


def test_cycles() -> None:
    def found(text: str) -> list[list[str]]:
        return cycles(pairs(f"jobs: [{text}]"))

    assert found("{name: j, inputs: [a], outputs: [b, a]}") == []
    assert found("{name: j, inputs: [a], outputs: [b]}, {name: k, inputs: [b], outputs: [c]}") == []
    assert found(
        "{name: j, inputs: [a], outputs: [b]}, {name: k, columns: [{dataset: a, column: x, inputs: [{dataset: b}]}]}"
    ) == [["n a", "n b", "n a"]]


def test_a_chain_of_any_length_is_no_cycle() -> None:
    jobs = ",".join(f"{{name: j{at}, inputs: [d{at}], outputs: [d{at + 1}]}}" for at in range(5_000))
    assert cycles(pairs(f"jobs: [{jobs}]")) == []


def test_cycles_by_way_of_other_sets() -> None:
    own = [("a", "b"), ("x", "y"), ("e", "e")]
    assert cycles(own, [("b", "c"), ("c", "a")]) == [["a", "b", "c", "a"]]
    # Those that others have among themselves aren't this set's.
    assert cycles(own, [("b", "c"), ("c", "d"), ("d", "c")]) == []
    # Of one group one cycle, by a pair of its own.
    assert cycles([("a", "b"), ("b", "a")], [("a", "c"), ("c", "a"), ("c", "b")]) == [["a", "b", "a"]]


def pairs(text: str) -> list[tuple[str, str]]:
    return [
        (f"{source.namespace} {source.name}", f"{target.namespace} {target.name}")
        for source, target in declared_pairs(read(text).declarations.values())
    ]


def both(one: str, other: str) -> list[Declaration]:
    return [*declared(one, "b"), *declared(other, "a")]


def declared(text: str, name: str) -> list[Declaration]:
    return made(read(text, name).by_key("default"), tenant="default")


def test_two_sets_of_one_mind() -> None:
    text = "datasets: [{name: a, owners: [x], tags: {k: v}}]"
    (found,) = merged(both(text, text)).values()
    assert found.contradictions == []
    assert (found.sets, found.values["owners"]) == (["a", "b"], ["x"])


def test_terms_and_tags_add_up() -> None:
    (found,) = merged(
        both("datasets: [{name: a, glossary: [p], tags: {k: v}}]", "datasets: [{name: a, glossary: [o], tags: {j: w}}]")
    ).values()
    assert found.contradictions == []
    assert (found.values["glossary"], found.values["tags"], found.values["tag_values"]) == (
        ["o", "p"],
        ["j", "k"],
        ["w", "v"],
    )


def test_sets_that_differ_are_a_contradiction_and_the_first_by_id_is_shown() -> None:
    one = "datasets: [{name: a, owners: [{name: x, type: T}], tags: {k: v}, columns: {c: {sensitivity: PII}}}]"
    other = "datasets: [{name: a, owners: [y], criticality: tier-1, tags: {k: w}, columns: {c: {sensitivity: PUBLIC}}}]"
    declarations = both(one, other)
    for order in (declarations, declarations[::-1]):
        found = merge(order)
        assert (found.values["owners"], found.values["owner_types"]) == (["y"], [""])
        assert (found.values["criticality"], found.values["tag_values"]) == ("tier-1", ["w"])
        assert found.columns["c"] == {"sensitivity": "PUBLIC"}
        assert [(each.column, each.property, each.values) for each in contradictions([found])] == [
            (None, "owners", {"a": ["y"], "b": ["x"]}),
            (None, "tags.k", {"a": "w", "b": "v"}),
            ("c", "sensitivity", {"a": "PUBLIC", "b": "PII"}),
        ]


def test_marks_of_sets_add_up() -> None:
    one = declared("datasets: [{name: a, marks: [critical, {mark: test, version: '7'}]}]", "t")
    other = declared("datasets: [{name: a, marks: [critical, legal-hold]}]", "s")
    found = merge([*one, *other])
    assert found.values["marks"] == ["critical", "legal-hold", "test"]
    assert found.values["mark_versions"] == ["", "", "7"]
    assert found.contradictions == []


def test_of_two_approvals_one_is_shown_as_it_is() -> None:
    approval = "{{covers: {}, sensitivity: PUBLIC, by: {}, reason: r{}}}"
    text = f"datasets: [{{{{name: a, columns: {{{{c: {{{{approval: {approval}}}}}}}}}}}}}]"
    one = declared(text.format("PII", "x", ", until: 2027-06-30"), "t")
    other = declared(text.format("CONFIDENTIAL", "y", ""), "s")
    found = merge([*one, *other])
    shown = {"by": "y", "covers": "CONFIDENTIAL", "reason": "r", "sensitivity": "PUBLIC"}
    assert found.columns["c"] == {f"approval_{name}": value for name, value in shown.items()}
    assert [each.property for each in found.contradictions] == ["approval_by"]
