from __future__ import annotations

from typing import TYPE_CHECKING

from headwater_producers.spark.events.parent import NOBODY, Orchestration, orchestration
from headwater_schemas.events import JobRef, ParentRun

if TYPE_CHECKING:
    import pytest

TASK = ParentRun("01931885-2800-7be7-aa8d-aaa15c337267", JobRef("airflow", "flights.enrich"))
DAG = ParentRun("01931885-2800-799d-8041-88a263ffa0d8", JobRef("airflow", "flights"))


def properties(role: str, run: ParentRun) -> dict[str, str]:
    return {
        f"spark.openlineage.{role}JobNamespace": run.job.namespace,
        f"spark.openlineage.{role}JobName": run.job.name,
        f"spark.openlineage.{role}RunId": run.run_id,
    }


def variable(run: ParentRun) -> str:
    return f"{run.job.namespace}/{run.job.name}/{run.run_id}"


BOTH = properties("parent", TASK) | properties("rootParent", DAG)


HANDED_DOWN: list[tuple[dict[str, str], dict[str, str], Orchestration]] = [
    ({}, {}, NOBODY),
    (BOTH, {}, Orchestration(TASK, DAG)),
    (properties("parent", TASK), {}, Orchestration(TASK, TASK)),
    ({}, {"OPENLINEAGE_PARENT_ID": variable(TASK)}, Orchestration(TASK, TASK)),
    (
        {},
        {"OPENLINEAGE_PARENT_ID": variable(TASK), "OPENLINEAGE_ROOT_PARENT_ID": variable(DAG)},
        Orchestration(TASK, DAG),
    ),
    (BOTH, {"OPENLINEAGE_PARENT_ID": variable(DAG)}, Orchestration(TASK, DAG)),
    ({}, {"OPENLINEAGE_ROOT_PARENT_ID": variable(DAG)}, Orchestration(DAG, DAG)),
]


def test_what_an_orchestrator_hands_down(subtests: pytest.Subtests) -> None:
    for submitted, environment, expected in HANDED_DOWN:
        with subtests.test(submitted=submitted, environment=environment):
            assert orchestration(submitted, environment) == expected


def test_a_namespace_may_be_a_url() -> None:
    text = f"airflow://prod.example.com/a/flights.enrich/{TASK.run_id}"
    parent = orchestration({}, {"OPENLINEAGE_PARENT_ID": text}).parent
    assert parent == ParentRun(TASK.run_id, JobRef("airflow://prod.example.com/a", "flights.enrich"))


def test_what_is_ill_formed_is_left_out_in_words(subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture) -> None:
    for text in ("x", "a/b/c", f"//{TASK.run_id}", f"a/{TASK.run_id}", "{{ macros }}/b/c"):
        with subtests.test(text):
            caplog.clear()
            assert orchestration({}, {"OPENLINEAGE_PARENT_ID": text}) == NOBODY
            assert "OPENLINEAGE_PARENT_ID is ignored" in caplog.text


def test_an_incomplete_set_of_properties_is_left_out_in_words(caplog: pytest.LogCaptureFixture) -> None:
    submitted = properties("parent", TASK)
    del submitted["spark.openlineage.parentJobName"]
    assert orchestration(submitted, {}) == NOBODY
    assert "spark.openlineage.parentRunId is ignored" in caplog.text
