"""Spread of sensitive columns over a few declared and observed jobs, each question by who might ask it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest

from headwater.cli import main
from headwater_analysis.checks import check, rule_named
from headwater_analysis.errors import NotFoundError, QuestionError
from headwater_analysis.privacy import Privacy, PrivacyPage, PrivacyQuestion, privacy
from headwater_analysis.reader import Reader
from headwater_schemas.events import (
    ColumnLineage,
    DatasetEvent,
    DatasetRef,
    DatasetUse,
    JobRef,
    LineageEvent,
    RunEvent,
    RunEventType,
    RunRef,
    SchemaDefinition,
    SchemaField,
    Sensitivity,
    build,
)
from headwater_schemas.identity import plan_digest
from support.analysis.declared_graph import declare
from support.analysis.paging import pages
from support.graph.estate import lineage

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.stack

TODAY = date(2026, 1, 15)
LEVELS = {"low": "INTERNAL", "same": "PII", "high": "RESTRICTED"}
PEOPLE = "- {name: people, columns: {ssn: {sensitivity: PII}, name: , city: {sensitivity: INTERNAL}}}"


def job(name: str, target: str, *edges: str) -> str:
    """A declared job; an edge is `to < from KIND`, with `!` behind it where it masks, and a formula behind `:`."""
    rows = []
    for edge in edges:
        way, _, text = edge.partition(": ")
        to, _, rest = way.partition(" < ")
        source, kind = rest.rstrip("!").split()
        dataset, _, column = source.partition("#")
        formula = f", expression: '{text}'" if text else ""
        masks = str(rest.endswith("!")).lower()
        given = f"{{dataset: {dataset}, column: {column}, kind: {kind}, masking: {masks}{formula}}}"
        output = "" if to == "*" else f"column: {to}, "
        rows.append(f"{{dataset: {target}, {output}inputs: [{given}]}}")
    return f"- {{name: {name}, columns: [{', '.join(rows)}]}}"


def graph(driver: Driver, *, datasets: str = PEOPLE, jobs: str = "", consumers: str = "", **more: Any) -> None:
    listed = [(name, text) for name, text in (("jobs", jobs), ("consumers", consumers)) if text]
    declare(driver, f"datasets:\n{datasets}\n" + "".join(f"{name}:\n{text}\n" for name, text in listed), **more)


def asked(reader: Reader, asset: str | None = "people#ssn", **more: Any) -> Privacy:
    page = PrivacyPage(limit=more.pop("limit", 100), cursor=more.pop("cursor", None), depth=more.pop("depth", None))
    return privacy(reader, PrivacyQuestion(asset, **more), TODAY, page)


def items(found: Privacy) -> dict[str, str]:
    """By asset: exposure, or what the answer has instead."""
    return {
        (item.asset.name if item.asset.column is None else f"{item.asset.name}#{item.asset.column}"): (
            item.ending or (item.influence if item.influence == "INDIRECT" else item.exposure)
        )
        for item in found.items
    }


def test_each_operation_and_the_way_there(clean_database: Driver, reader: Reader) -> None:
    jobs = [
        job("copy", "a", "c < people#ssn COPY", "d < people#ssn DERIVE: substring(ssn, 1, 3)"),
        job("mask", "b", "m < people#ssn MASK!: mask(ssn)", "h < people#ssn HASH!: sha2(ssn, 256)"),
        job("hide", "e", "t < people#ssn MASK!: tokenize(ssn)", "e < people#ssn MASK!: aes_encrypt(ssn, ?)"),
        job("sum", "f", "s < people#ssn AGGREGATE: count(ssn)", "i < people#ssn CONDITIONAL: CASE"),
        job("later", "g", "h < b#h COPY", "n < people#name COPY"),
        job("filter", "k", "* < people#ssn FILTER_DEPENDENCY", "n < people#name COPY"),
    ]
    graph(clean_database, jobs="\n".join(jobs))
    found = asked(reader)
    assert items(found) == {
        "a#c": "READABLE",
        "a#d": "READABLE",
        "f#s": "READABLE",
        "b#h": "LINKABLE",
        "g#h": "LINKABLE",
        "e#t": "LINKABLE",
        "b#m": "MASKED",
        "e#e": "ENCRYPTED",
        "f#i": "INDIRECT",
        "k": "INDIRECT",
    }
    ways = {
        item.asset.column: [(hop.operation.value, hop.job.name, hop.asset.name) for hop in item.path]
        for item in found.items
        if item.asset.name in ("g", "e")
    }
    assert ways == {
        "h": [("HASH", "mask", "b"), ("COPY", "later", "g")],
        "t": [("TOKENIZE", "hide", "e")],
        "e": [("ENCRYPT", "hide", "e")],
    }
    assert (found.readable, found.protected, found.indirect, found.ended) == (3, 5, 2, 0)
    assert [each.asset.spelling for each in found.sources] == ["n/people#ssn"]
    assert items(asked(reader, readable=True)).keys() == {"a#c", "a#d", "f#s"}
    assert items(asked(reader, depth=1)).keys() == items(found).keys() - {"g#h"}
    # `later` reads people, too, and takes the name alone. By a filter a value decides rows: that isn't left out.
    assert [(each.job.name, each.read.name) for each in found.drops] == [("later", "people")]


def test_pages_have_each_item_once(clean_database: Driver, reader: Reader) -> None:
    jobs = job("copy", "a", *(f"c{number} < people#ssn COPY" for number in range(7)))
    graph(clean_database, jobs=jobs)
    found = pages(asked, reader, limit=3)
    assert {page.total for page in found} == {7}
    assert sorted(name for page in found for name in items(page)) == [f"a#c{number}" for number in range(7)]
    with pytest.raises(QuestionError, match="another question"):
        asked(reader, limit=3, cursor=asked(reader, limit=3).next_cursor, readable=True)


def test_a_job_that_leaves_it_out(clean_database: Driver, reader: Reader) -> None:
    jobs = [job("keep", "a", "c < people#ssn COPY", "n < people#name COPY"), job("leave", "b", "n < people#name COPY")]
    graph(clean_database, jobs="\n".join(jobs))
    found = asked(reader)
    assert [(each.job.name, each.read.name, each.written.name) for each in found.drops] == [("leave", "people", "b")]
    assert found.unknown == ()


def observed(lineage: ColumnLineage, name: str = "seen") -> list[LineageEvent]:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    uses = [DatasetUse(dataset=each) for each in lineage.datasets]
    body = RunEvent(
        type=RunEventType.COMPLETE,
        inputs=(uses[0],),
        outputs=(uses[1],),
        plan_digest=plan_digest(lineage),
        started_at=at,
        ended_at=at,
    )
    run = build.lineage_event(body, job=JobRef("n", name), run=RunRef("r"), producer="t", event_time=at)
    return [build.lineage_event(lineage, job=JobRef("n", name), producer="t", event_time=at), run]


@pytest.mark.parametrize("complete", [True, False])
def test_incomplete_lineage_is_never_nothing(clean_database: Driver, reader: Reader, complete: bool) -> None:
    reason = None if complete else "an unknown operator"
    people, out = DatasetRef("n", "people"), DatasetRef("n", "out")
    plan = lineage(("name", "n"), source=people, target=out, complete=complete, reason=reason)
    graph(clean_database, more=observed(plan))
    found = asked(reader)
    assert found.items == ()
    assert [each.job.name for each in (found.drops if complete else found.unknown)] == ["seen"]
    assert [each.job.name for each in (found.unknown if complete else found.drops)] == []


def test_where_it_leaves_unmasked(clean_database: Driver, reader: Reader) -> None:
    jobs = [
        job("copy", "a", "c < people#ssn COPY"),
        job("hash", "b", "h < people#ssn HASH!", "n < people#name COPY"),
        job("later", "z", "c < a#c COPY"),
        "- {name: mailer, inputs: [z]}",
        job("last", "y", "c < a#c COPY"),
    ]
    consumers = [
        "- {name: board, owners: [team:x], reads: [{dataset: a, columns: [c]}, {dataset: b, columns: [h]}]}",
        "- {name: hashes, reads: [{dataset: b, columns: [h]}]}",
        "- {name: names, reads: [{dataset: b, columns: [n]}]}",
    ]
    graph(clean_database, jobs="\n".join(jobs), consumers="\n".join(consumers))
    found = asked(reader)
    assert [each.name for each in found.consumers] == ["board"]
    assert [each.name for each in found.protected_consumers] == ["hashes"]
    exits = {each.dataset.name: [job_.name for job_ in each.jobs] for each in found.exits}
    # a has readers, z one that writes nothing, y none; b has no value that can be read.
    assert exits == {"z": ["mailer"], "y": []}


def test_what_is_classified_lower_than_its_sources(clean_database: Driver, reader: Reader) -> None:
    levels = ", ".join(f"{name}: {{sensitivity: {level}}}" for name, level in LEVELS.items())
    rest = (
        "- {name: b, sensitivity: CONFIDENTIAL}\n- {name: d, sensitivity: PII, columns: {own: {sensitivity: PUBLIC}}}"
    )
    datasets = f"{PEOPLE}\n- {{name: a, columns: {{{levels}}}}}\n{rest}"
    jobs = [
        job("copy", "a", *(f"{name} < people#ssn COPY" for name in ("low", "same", "high", "none"))),
        job("hash", "b", "h < people#ssn HASH!"),
        job("whole", "d", "x < people#ssn COPY", "own < people#ssn COPY"),
    ]
    graph(clean_database, datasets=datasets, jobs="\n".join(jobs))
    found = asked(reader, lower=True)
    assert {f"{item.asset.name}#{item.asset.column}": item.declared for item in found.items} == {
        "a#low": Sensitivity.INTERNAL,
        "a#none": None,
        "b#h": Sensitivity.CONFIDENTIAL,
        "d#own": Sensitivity.PUBLIC,
    }
    assert found.lower == 4
    # Of all sensitive columns, each is a source, and where several come to one, the most sensitive is shown.
    every = asked(reader, None)
    assert {f"{each.asset.name}#{each.asset.column}" for each in every.sources} == {
        *("people#ssn", "a#same", "a#high", "b#h", "d#x"),
    }
    assert items(every).keys() == items(asked(reader)).keys()


def test_check_finds_what_privacy_finds(clean_database: Driver, reader: Reader) -> None:
    """The rule looks at what is made from a declared column in one hop, unmasked, and isn't declared at all."""
    jobs = [
        job("copy", "a", "c < people#ssn COPY", "h < people#ssn HASH!", "n < people#name COPY", "i < people#city COPY"),
        job("later", "b", "c < a#c COPY"),
    ]
    fields = tuple(SchemaField(path=name, type="string") for name in "chni")
    body = DatasetEvent(dataset=DatasetRef("n", "a"), schema=SchemaDefinition(fields=fields))
    schema = build.lineage_event(body, producer="t", event_time=datetime(2026, 1, 2, tzinfo=UTC))
    graph(clean_database, jobs="\n".join(jobs), more=[schema])
    (rule,) = check(reader, datetime(2026, 1, 15, tzinfo=UTC), rules=[rule_named("sensitive-downstream")]).rules
    found = asked(reader, None, lower=True, readable=True)
    assert {(item.asset.name, item.asset.column) for item in found.items if item.hops == 1} == {("a", "c")}
    assert [each.message.split()[0] for each in rule.findings] == ["c"]
    assert items(found).keys() == {"a#c", "b#c"}


@pytest.mark.parametrize(("size", "ends"), [(20, True), (9, False)])
def test_groups_that_are_large_enough(clean_database: Driver, reader: Reader, size: int, ends: bool) -> None:
    datasets = f"{PEOPLE}\n- {{name: f, columns: {{s: {{smallest_group: {size}}}, m: {{smallest_group: 20}}}}}}"
    jobs = [
        job("sum", "f", "s < people#ssn AGGREGATE: sum(ssn)", "m < people#ssn AGGREGATE: max(ssn)"),
        job("later", "g", "s < f#s COPY"),
    ]
    graph(clean_database, datasets=datasets, jobs="\n".join(jobs))
    found = items(asked(reader))
    assert found == {"f#m": "READABLE", "f#s": "AGGREGATE"} | ({} if ends else {"f#s": "READABLE", "g#s": "READABLE"})
    assert asked(reader, threshold=100).ended == 0


@pytest.mark.parametrize(
    ("covers", "until", "ends"),
    [("PII", "2026-01-15", True), ("PII", "2026-01-14", False), ("CONFIDENTIAL", "", False)],
)
def test_a_reviewed_approval(clean_database: Driver, reader: Reader, covers: str, until: str, ends: bool) -> None:
    day = f", until: {until}" if until else ""
    given = f"{{covers: {covers}, sensitivity: INTERNAL, by: jo, reason: reviewed{day}}}"
    datasets = f"{PEOPLE}\n- {{name: a, columns: {{c: {{approval: {given}}}}}}}"
    graph(clean_database, datasets=datasets, jobs=job("copy", "a", "c < people#ssn COPY"))
    (item,) = asked(reader).items
    assert item.ending == ("APPROVAL" if ends else None)
    assert item.approval is not None
    assert (item.approval.by, item.approval.holds) == ("jo", ends)
    assert item.lower is not ends


def test_a_part_and_the_whole_that_it_is_in(clean_database: Driver, reader: Reader) -> None:
    datasets = "- {name: topic, columns: {value: , value.ssn: {sensitivity: PII}, value.city: }}"
    jobs = [
        job("raw", "a", "all < topic#value COPY"),
        job("field", "b", "c < topic#value.city COPY"),
        job("own", "c", "s < topic#value.ssn COPY"),
    ]
    graph(clean_database, datasets=datasets, jobs="\n".join(jobs))
    assert items(asked(reader, "topic#value.ssn")) == {"a#all": "READABLE", "c#s": "READABLE"}
    # The whole is as sensitive as its field.
    assert items(asked(reader, "topic#value")).keys() == {"a#all", "c#s"}
    assert items(asked(reader, "topic")) == items(asked(reader, None))


def test_questions_that_make_no_sense(clean_database: Driver, reader: Reader) -> None:
    graph(clean_database)
    with pytest.raises(QuestionError, match="n/people#city isn't declared CONFIDENTIAL, PII or RESTRICTED"):
        asked(reader, "people", column="city")
    assert asked(reader, "people", column="city", as_=Sensitivity.PII).sources_total == 1
    for more in ({"as_": Sensitivity.INTERNAL}, {"threshold": 0}, {"depth": 0}, {"limit": 0}):
        with pytest.raises(QuestionError):
            asked(reader, **more)
    with pytest.raises(QuestionError):
        asked(reader, None, column="ssn")
    with pytest.raises(NotFoundError):
        asked(reader, "people#no")


def test_the_command_masks_hostile_names(
    clean_database: Driver, settings_of_stack: None, capsys: pytest.CaptureFixture[str]
) -> None:
    name = r'"bad\e[2J\nname \u202e"'
    datasets = f"- {{name: people, columns: {{{name}: {{sensitivity: PII}}}}}}"
    source = f"{{dataset: people, column: {name}, expression: {name}}}"
    jobs = f"- {{name: {name}, columns: [{{dataset: {name}, column: {name}, inputs: [{source}]}}]}}"
    graph(clean_database, datasets=datasets, jobs=jobs, consumers=f"- {{name: {name}, reads: [{name}]}}")
    assert main(["privacy", "--all", "--why"]) == 0
    printed = capsys.readouterr().out
    assert printed.count(r"bad\x1b[2J") >= 4
    assert not {"\x1b", "\u202e"} & set(printed)
    assert main(["privacy"]) == 2
    assert main(["privacy", "people", "--all"]) == 2
