"""`headwater declare` on a real Kafka and Neo4j."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.doctor import DoctorFinding, Examined, examine
from headwater_graph.dump import dump
from support.materializer.process import consuming
from support.worked_examples import check_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from neo4j import Driver

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[3]


@pytest.mark.nightly
def test_the_example_of_the_page(
    followed_demo: dict[str, str], topic_prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings of doctor are real, too; names that a test makes up are replaced by those of a started stack."""

    def examined(*arguments: Any, **options: Any) -> Examined:
        # Where this machine keeps outboxes is not the page's matter.
        found = [each for each in examine(*arguments, **options).findings if each.check != "outbox"]
        return Examined.of(masked(each) for each in found)

    def masked(finding: DoctorFinding) -> DoctorFinding:
        subject, message, fix = (
            text.replace(topic_prefix, "lineage") for text in (finding.subject, finding.message, finding.fix)
        )
        return replace(finding, subject=subject, message=message, fix=fix)

    monkeypatch.setattr("headwater.commands.doctor.examine", examined)
    monkeypatch.chdir(ROOT)
    check_page("../declare.md")


def test_the_page_shows_the_file() -> None:
    page = (ROOT / "docs" / "declare.md").read_text(encoding="utf-8")
    assert (ROOT / "docs" / "examples" / "declare" / "flights.yaml").read_text(encoding="utf-8") in page


@pytest.mark.nightly
def test_declared_withdrawn_and_declared_again_in_any_order(
    settings: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    """Current files decide, however often they went to and fro; and rebuilding gives the same bytes."""
    dice = random.Random(7)
    file = tmp_path / "s.yaml"
    declared: dict[str, int] = {}
    with consuming(settings) as consumer:
        for _ in range(6):
            declared = {f"d{number}": dice.randrange(3) for number in dice.sample(range(8), dice.randrange(1, 6))}
            rows = "".join(f"- {{name: {name}, criticality: tier-{tier}}}\n" for name, tier in declared.items())
            reads = ", ".join(declared)
            file.write_text(f"set: s\nnamespace: n\ndatasets:\n{rows}consumers: [{{name: board, reads: [{reads}]}}]\n")
            headwater("declare", str(file))
            if dice.random() < 0.3:
                headwater("declare", "--withdraw", "s")
                declared = {}
        assert consumer.stop() == 0
    holding = (
        "MATCH (x:HwDeclaration {current: true})-[:DECLARES]->(d:HwDataset) "
        "RETURN d.name AS name, x.criticality AS tier"
    )
    found = {row["name"]: row["tier"] for row in neo4j_driver.execute_query(holding).records}
    assert found == {name: f"tier-{tier}" for name, tier in declared.items()}
    read = {
        row["n"]
        for row in neo4j_driver.execute_query("MATCH (:HwConsumer)-[:CONSUMES]->(d) RETURN d.name AS n").records
    }
    assert read == declared.keys()
    assert headwater("graph", "verify")["holds"]
    before = list(dump(neo4j_driver, internal=True))
    headwater("graph", "rebuild", "--yes")
    assert list(dump(neo4j_driver, internal=True)) == before


def rows_of_ten_thousand_datasets() -> list[str]:
    row = "- {{name: d{0}, owners: [team:{1}], freshness: 1h, columns: {{c: {{sensitivity: PII}}}}}}\n"
    return [row.format(number, number % 50) for number in range(10_000)]


@pytest.mark.nightly
def test_ten_thousand_datasets(
    followed: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    rows = rows_of_ten_thousand_datasets()
    file.write_text(f"set: s\nnamespace: n\ndatasets:\n{''.join(rows)}")
    (found,) = headwater("declare", str(file))["sets"]
    assert (found["declarations"], found["published"], found["revision"]) == (10_000, 10_001, 1)
    # One that changes is one that is published.
    file.write_text(f"set: s\nnamespace: n\ndatasets:\n{''.join(rows[1:])}- {{name: d0, owners: [team:z]}}\n")
    (found,) = headwater("declare", str(file))["sets"]
    assert (found["published"], found["revision"], len(found["changes"])) == (2, 2, 1)
    assert headwater("declare", str(file))["sets"][0]["published"] == 0
    current = "MATCH (x:HwDeclaration {current: true}) RETURN count(x) AS n"
    assert neo4j_driver.execute_query(current).records[0]["n"] == 10_000


@pytest.mark.nightly
def test_ten_thousand_datasets_take_seconds(followed: dict[str, str], headwater: Command, tmp_path: Path) -> None:
    """Processor time of the command alone; the consumer and the database have their own."""
    file = tmp_path / "s.yaml"
    file.write_text(f"set: s\nnamespace: n\ndatasets:\n{''.join(rows_of_ten_thousand_datasets())}")
    busy = time.process_time()
    assert headwater("declare", str(file))["sets"][0]["published"] == 10_001
    assert time.process_time() - busy < 10, "some 3 s"
    busy = time.process_time()
    assert headwater("declare", str(file))["sets"][0]["published"] == 0
    assert time.process_time() - busy < 5


def test_what_is_not_in_the_graph_in_time(
    settings: dict[str, str], headwater: Command, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: s\nnamespace: n\ndatasets: [{name: d}]\n")
    error = headwater("declare", str(file), "--wait", "0.5", status=4)["error"]
    assert "Set 's' is on the topic, but after 0.5 s the graph has about 0 of its 2 events" in error["message"]


@pytest.mark.nightly
def test_an_older_revision_is_refused(followed: dict[str, str], headwater: Command, tmp_path: Path) -> None:
    file = tmp_path / "s.yaml"
    file.write_text("set: s\nnamespace: n\nrevision: 7\ndatasets: [{name: d}]\n")
    assert headwater("declare", str(file))["sets"][0]["revision"] == 7
    assert headwater("declare", str(file))["sets"][0]["published"] == 0
    # A later number is a later revision, also with the content of the graph: what is on its way may come in between.
    file.write_text("set: s\nnamespace: n\nrevision: 8\ndatasets: [{name: d}]\n")
    (again,) = headwater("declare", str(file))["sets"]
    assert (again["revision"], again["published"], again["changes"], again["in_graph"]) == (8, 1, [], True)
    file.write_text("set: s\nnamespace: n\nrevision: 6\ndatasets: [{name: e}]\n")
    error = headwater("declare", str(file), status=2)["error"]
    assert "is at revision 8 in the graph, and this file is revision 6 with other content" in error["message"]


def test_a_set_that_is_not_there_can_not_be_withdrawn(
    followed: dict[str, str], headwater: Command, neo4j_driver: Driver
) -> None:
    error = headwater("declare", "--withdraw", "typo", status=3)["error"]
    assert error["message"] == "There is no declaration set 'typo' to withdraw; nothing was sent."
    assert not neo4j_driver.execute_query("MATCH (s:HwDeclarationSet) RETURN s").records


@pytest.mark.nightly
def test_names_without_a_namespace_are_looked_up(
    followed_demo: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    file = tmp_path / "s.yaml"
    text = "set: s\ndatasets: [{{name: {0}, owners: [x]}}]\nconsumers: [{{name: board, reads: [{0}]}}]\n"
    file.write_text(text.format("flights.departed"))
    checked = headwater("declare", "--check", str(file))
    assert checked["unchecked_names"] == ["flights.departed"]
    (found,) = headwater("declare", str(file))["sets"]
    assert ("kafka://embedded", "flights.departed") in {(one["namespace"], one["name"]) for one in found["changes"]}
    assert found["unknown_datasets"] == []
    # It is the same declaration as by its whole name.
    whole = tmp_path / "t.yaml"
    whole.write_text(f"namespace: kafka://embedded\n{text.format('flights.departed')}")
    assert headwater("declare", str(whole))["sets"][0]["published"] == 0

    file.write_text(text.format("flights.departd"))
    error = headwater("declare", "--diff", str(file), status=2)
    assert "the graph has no dataset flights.departd, the nearest are" in str(error)
    # The end of a name is none.
    file.write_text(text.format("departed"))
    assert "the graph has no dataset departed" in str(headwater("declare", "--diff", str(file), status=2))
    other = tmp_path / "u.yaml"
    other.write_text("set: u\nnamespace: elsewhere\ndatasets: [{name: flights.departed}]\n")
    headwater("declare", str(other))
    file.write_text(text.format("flights.departed"))
    error = headwater("declare", "--diff", str(file), status=2)
    assert "the graph has several datasets flights.departed: " in str(error)


@pytest.mark.nightly
def test_contradictions_and_cycles_survive_a_rebuild_byte_for_byte(
    settings: dict[str, str], headwater: Command, neo4j_driver: Driver, tmp_path: Path
) -> None:
    """Two sets contradict each other, and their jobs make datasets from each other."""
    job = (
        "{{name: {0}, namespace: office, owners: [{1}], inputs: [{2}], outputs: [{3}], columns: [{{dataset: {3}, "
        "column: c, inputs: [{{dataset: {2}, column: c, kind: COPY, expression: c}}]}}], partitions: "
        "[{{input: {2}, input_field: day, output: {3}, output_field: month, transform: month}}]}}"
    )
    dataset = (
        "{{name: a, owners: [{0}], criticality: {1}, freshness: 1h, keep: 14d, tags: {{k: {0}}}, glossary: [{0}], "
        "reference: true, columns: {{c: {{sensitivity: {2}, description: {0}}}}}}}"
    )
    texts = {
        "s": (dataset.format("x", "tier-1", "PII"), job.format("j", "x", "a", "b"), job.format("k", "x", "b", "a")),
        "t": (dataset.format("y", "tier-2", "PUBLIC"), job.format("j", "y", "a", "d"), job.format("l", "y", "d", "a")),
    }
    dice = random.Random(11)
    declared: set[str] = set()
    with consuming(settings) as consumer:
        for number in range(8):
            name = dice.choice(sorted(texts)) if number < 6 else sorted(texts)[number - 6]
            one, *jobs = texts[name]
            file = tmp_path / f"{name}.yaml"
            file.write_text(
                f"set: {name}\nnamespace: n\ndatasets: [{one}]\njobs: [{', '.join(jobs[: 1 + number % 2])}]\n"
                f"consumers: [{{name: board, owners: [{name}], reads: [{{dataset: a, columns: [c]}}]}}]\n"
            )
            if number < 6 and name in declared and dice.random() < 0.5:
                headwater("declare", "--withdraw", name)
                declared.discard(name)
                continue
            (found,) = headwater("declare", str(file))["sets"]
            declared.add(name)
            assert bool(found["cycles"]) == (number % 2 == 1)
            # Both declare the dataset, its column, a job and a consumer; the set that comes first is shown.
            contradicted = {(one["subject_type"], one["column"], one["property"]) for one in found["contradictions"]}
            if declared == {"s", "t"}:
                both = {("dataset", None, "owners"), ("dataset", None, "criticality"), ("dataset", "c", "sensitivity")}
                assert both | {("job", None, "owners"), ("consumer", None, "owners")} <= contradicted
                assert all(list(one["values"]) == ["s", "t"] for one in found["contradictions"])
            else:
                assert not contradicted
        assert consumer.stop() == 0
    shown = headwater("show", "a")
    assert "tier-1" in str(shown)
    assert "contradict" in str(shown)
    assert headwater("graph", "verify")["holds"]
    before = list(dump(neo4j_driver, internal=True))
    headwater("graph", "rebuild", "--yes")
    assert list(dump(neo4j_driver, internal=True)) == before
