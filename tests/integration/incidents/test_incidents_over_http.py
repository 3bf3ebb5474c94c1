"""Incidents over a real `headwater serve`: opened, worked on and asked about, as by the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx
import pytest

from headwater_benchmarks.processes import serving
from headwater_producers.spark import CaptureSettings
from headwater_producers.spark.driver.gate_client import GateClient, GateUnavailableError
from headwater_schemas.events import DatasetRef
from headwater_server.identity import Scope
from support.api_tokens import TOKEN, tokens_file
from support.waiting import eventually, patience

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Command = Callable[..., Any]

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]

INCIDENTS = "/api/v1/incidents"
SERVE = {"HEADWATER_SERVE_PORT": "0", "HEADWATER_SERVE_DECLARE": "true"}
CLEAN = "file:/lake/clean"


def test_as_by_the_commands(
    followed_pipeline: dict[str, str], headwater: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tokens_file(tmp_path / "tokens.json", Scope.INCIDENTS, Scope.READ, Scope.EXPRESSIONS)
    with (
        serving({**followed_pipeline, **SERVE, "HEADWATER_SERVE_TOKENS_FILE": tokens}) as server,
        httpx.Client(base_url=server.url(), trust_env=False, timeout=patience(60)) as client,
    ):
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        body = {"title": "T", "severity": "sev2", "scope": [{"query": "enrich", "from_batch": 3, "to_batch": 4}]}
        opened = client.post(INCIDENTS, json=body)
        assert (opened.status_code, opened.json()["was_open"]) == (201, False), opened.text
        name = opened.json()["incident"]
        eventually(lambda: client.get(f"{INCIDENTS}/{name}").status_code == 200, patience(60))
        again = client.post(INCIDENTS, json=body).json()
        assert (again["incident"], again["was_open"], again["left"]) == (name, True, None)
        # Once the graph has the action, the server records the reach, and other answers are marked.
        eventually(lambda: "incidents" in client.get(f"/api/v1/assets/{quote(CLEAN, safe='')}").json(), patience(60))
        marks = client.get(f"/api/v1/assets/{quote(CLEAN, safe='')}").json()["incidents"]["items"]
        assert [(each["incident"], each["certainty"]) for each in marks] == [(name, "EXACT")]

        found = client.get(f"{INCIDENTS}/{name}").json()
        assert (found["brief"]["status"], found["history"][0]["by"]) == ("New", "tests")
        affected = client.get(f"{INCIDENTS}/{name}/affected-assets").json()
        assert [each["dataset"]["name"] for each in affected["datasets"]] == ["/lake/clean"]
        assert [each["name"] for each in affected["consumers"]] == ["board"]
        owners = {each["dataset"]["name"]: [owner["name"] for owner in each["owners"]] for each in affected["owners"]}
        assert owners == {"/lake/clean": ["team:lake"]}
        assert [(each["job"]["name"], each["depth"]) for each in affected["jobs"]] == [("enrich", 0)]
        assert client.get(f"{INCIDENTS}/{name}", params={"reach": "false"}).json()["reach"] is None
        assert client.get(INCIDENTS, params={"severity": ["SEV1", "sev3"]}).json()["total"] == 0

        # A captured job asks the same gate before a write.
        asked = GateClient(CaptureSettings.load(gate_url=server.url(), gate_token=TOKEN, gate_max_severity="sev2"))
        clean = DatasetRef("file", "/lake/clean")
        for partition in (None, "day=3"):
            reply = asked.ask(clean, partition, patience(60))
            assert reply is not None
            assert [(hold.incident, hold.title, hold.severity) for hold in reply.holds] == [(name, "T", "SEV2")]
        other = asked.ask(clean, "day=7", patience(60))
        assert other is not None
        assert other.is_free
        assert asked.ask(DatasetRef("file", "/lake/nowhere"), None, patience(60)) is None
        stranger = GateClient(CaptureSettings.load(gate_url=server.url(), gate_token="hw_unknown"))
        with pytest.raises(GateUnavailableError, match="refuses gate_token"):
            stranger.ask(clean, None, patience(60))

        planned = client.get(f"{INCIDENTS}/{name}/plan").json()
        assert [step["kind"] for step in planned["steps"]] == [
            *("NOTIFY", "CORRECT", "REPROCESS", "DECLARE", "NOTIFY", "RESOLVE")
        ]
        assert client.get(f"{INCIDENTS}/nothing/plan").status_code == 404

        # The commands ask the server, with the same answers and exit statuses as the database.
        here = [headwater("incident", "list"), headwater("gate", CLEAN, "--partition", "day=3", status=5)]
        shown, steps = headwater("incident", "show", name)["brief"], headwater("incident", "plan", name)["steps"]
        assert steps == planned["steps"]
        with monkeypatch.context() as patch:
            patch.setenv("HEADWATER_URL", server.url())
            patch.setenv("HEADWATER_TOKEN", TOKEN)
            there = [headwater("incident", "list"), headwater("gate", CLEAN, "--partition", "day=3", status=5)]
            assert headwater("incident", "show", name)["brief"] == shown
            assert headwater("incident", "plan", name)["steps"] == steps
            assert headwater("gate", CLEAN, "--partition", "day=7")["is_free"]
            # The server also publishes the commands' actions.
            acked = headwater("incident", "ack", name)
            assert (acked["in_graph"], acked["details"]["brief"]["status"]) == (True, "Ack"), acked["details"][
                "history"
            ]
            assert acked["details"]["history"][-1]["by"] == "tests"
            more = headwater("incident", "open", "More", "--dataset", CLEAN, "--partition", "day=9")
            assert (more["was_open"], more["details"]["brief"]["scope"]) == (
                False,
                [f"dataset {CLEAN}, partition day=9"],
            )
            headwater("incident", "repair", name, "--dataset", CLEAN, "--partition", "day=5", "--reason", "Not bad.")
            headwater("incident", "merge", more["incident"], name)
            eventually(lambda: headwater("incident", "list")["total"] == 1, patience(60))
            headwater("incident", "scope", name, "--remove", "--dataset", CLEAN, "--partition", "day=9")
            for option in ("--dry-run", "--no-reach", "--by=ann"):
                refused = headwater("incident", "open", "T", "--dataset", CLEAN, option, status=2)
                assert "works only with a database" in refused["error"]["message"]
            wrong = headwater(
                "incident", "repair", name, "--dataset", CLEAN, "--partition", "d", "--reason", "r", status=2
            )
            assert wrong["error"]["message"].startswith("--partition: ")
        assert [{**each, "graph": None} for each in there] == [{**each, "graph": None} for each in here]

        actions = f"{INCIDENTS}/{name}/actions"
        refused = client.post(actions, json={"action": "resolved", "resolution": "other"})
        assert (refused.status_code, refused.json()["type"]) == (400, "urn:headwater:question")
        early = client.post(actions, json={"action": "resolved", "resolution": "repaired", "reason": "Ran again."})
        assert (early.status_code, early.json()["type"]) == (400, "urn:headwater:question")
        assert f"{name} isn't repaired: bad data is left in 1 dataset ({CLEAN})." in early.json()["detail"]
        forced = {"action": "resolved", "resolution": "repaired", "reason": "Known.", "force": True}
        done, left = client.post(actions, json=forced), f"bad data is left in 1 dataset ({CLEAN})."
        assert done.status_code == 201, done.text
        assert (done.json()["incident"], done.json()["was_open"], done.json()["left"]) == (name, True, left)
        eventually(lambda: client.get(INCIDENTS).json()["total"] == 0, patience(60))
        assert client.get("/api/v1/gate", params={"dataset": CLEAN}).json()["is_free"]
