"""Every operation's example in the OpenAPI document is what the server answers to it on the demo's graph.

UPDATE_GOLDENS=1 writes the answers anew: look at every difference before you commit it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jsonschema import Draft202012Validator

from headwater_server.documented import success_of
from support import api_examples
from support.demo_graph import declare_demo, open_demo, restate_demo
from support.run_rules import updating

if TYPE_CHECKING:
    import httpx
    from neo4j import Driver


OF_DECLARED = frozenset({"consumer", "consumers"})
"""Operations about what is declared: of the other examples nothing is."""
OF_INCIDENTS = frozenset(
    {
        *("incidents", "incident", "incident_affected_assets", "incident_figures", "incident_plan"),
        *("open_incident", "act_on_incident", "gate"),
    }
)
"""Operations about incidents: in the other examples none is open, which would mark their datasets."""
OF_CAMPAIGNS = frozenset({"campaigns", "campaign"})
"""Operations about campaigns: in the other examples no run belongs to one."""
OF_NOW = frozenset({"incident_figures", "campaign", "open_incident", "act_on_incident"})
"""Operations whose answers depend on the time of the request: their examples show the form alone."""


def test_every_example_is_a_real_answer(demo: httpx.Client, demo_graph: Driver) -> None:
    document = demo.get("/openapi.json").json()
    operations = api_examples.operations(document)
    of_graph = {name for name, (_, path) in operations.items() if path.startswith("/api/")}
    assert {file.stem for file in api_examples.FOLDER.glob("*.json")} == of_graph
    later = OF_CAMPAIGNS, OF_INCIDENTS, OF_DECLARED
    for name in sorted(of_graph, key=lambda name: ([name in each for each in later], name)):
        if name == min(OF_DECLARED):
            declare_demo(demo_graph)
        if name == min(OF_INCIDENTS):
            open_demo(demo_graph)
        if name == min(OF_CAMPAIGNS):
            restate_demo(demo_graph)
        method, path = operations[name]
        recorded = api_examples.read(name)
        response = api_examples.ask(demo, method, path, recorded)
        success = success_of(operation := document["paths"][path][method.lower()])
        assert operation["responses"][str(response.status_code)] == success, f"{name}: {response.text}"
        answer = response.json()
        schema = success["content"]["application/json"]["schema"]
        Draft202012Validator({**schema, "components": document["components"]}).validate(answer)
        if updating() and not (name in OF_NOW and recorded["answer"]):
            api_examples.write(name, {**recorded, "answer": answer})
        elif name in OF_NOW:
            assert answer.keys() == recorded["answer"].keys(), name
        else:
            assert answer == recorded["answer"], name


def test_the_document_has_the_examples(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1.")
    for name, (method, path) in api_examples.operations(document).items():
        if not path.startswith("/api/"):
            continue
        operation, recorded = document["paths"][path][method.lower()], api_examples.read(name)
        shown = success_of(operation)["content"]["application/json"]["example"]
        assert shown == recorded["answer"], name
        given = {each["name"]: each["example"] for each in operation.get("parameters", ()) if "example" in each}
        assert given == {**recorded["path"], **recorded["query"]}, name
        if recorded["body"] is not None:
            assert operation["requestBody"]["content"]["application/json"]["example"] == recorded["body"]
