"""`headwater events` on a real Kafka: the newest, decoded, good and bad."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from headwater import cli
from headwater_schemas.codec import encode
from support.materializer import events
from support.materializer.worlds import RealWorld

pytestmark = [pytest.mark.stack, pytest.mark.timeout(300)]


@pytest.fixture
def reported(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], world: RealWorld
) -> Callable[..., Any]:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Any:
        capsys.readouterr()
        assert cli.main(["events", *arguments]) == 0
        out = capsys.readouterr().out
        return json.loads(out)["events"] if "--json" in arguments else out

    return run


def test_the_newest_are_shown_as_they_were_published(world: RealWorld, reported: Callable[..., Any]) -> None:
    assert reported("--json") == []
    assert "No events." in reported()
    for number in range(30):
        world.put(encode(events.run_start(number)))
    world.put(encode(events.interval(7)), key=b"other")
    world.put(b"no event")

    newest = reported("--last", "5", "--json")
    assert len(newest) == 5
    assert [each["event"]["kind"] for each in newest if each["event"] is not None].count("INTERVAL") == 1
    assert [each["problem"] is not None for each in newest].count(True) == 1
    [interval] = reported("--kind", "interval", "--json")
    assert interval["event"]["interval_event"]["entries"][0]["batch_id"] == 7
    assert len(reported("--job", "tests/enrich", "--last", "100", "--json")) == 31
    assert reported("--job", "nobody", "--json") == []
    shown = reported("--last", "3")
    assert "batch 7, OBSERVED" in shown
    assert "START" in shown
