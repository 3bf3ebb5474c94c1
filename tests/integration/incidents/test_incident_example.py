"""The worked example docs/analysis/incident-example.md: its commands run, and three consumers are notified."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater_schemas.codec import encode
from support.demo_graph import rerun_of_report
from support.materializer.worlds import RealWorld
from support.message_service import message_service
from support.stack import StackUnderTest
from support.waiting import eventually, patience
from support.worked_examples import Example, check_page, run

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.nightly, pytest.mark.stack, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[3]
INCIDENT = "INC-51e5464a38"
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ")
SHOWN = "2026-11-30 09:00:00Z"


def test_the_example_of_the_page(
    followed_demo: dict[str, str],
    headwater: Callable[..., Any],
    stack: StackUnderTest,
    topic_prefix: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin = datetime.now(UTC).replace(microsecond=0)

    def masked(match: re.Match[str]) -> str:
        return SHOWN if datetime.fromisoformat(match[0]) >= begin else match[0]

    def printed(example: Example) -> str:
        if example.command.startswith("headwater campaign"):
            rerun()
        return TIME.sub(masked, run(example))

    def rerun() -> None:
        now = datetime.now(UTC)
        world = RealWorld(stack, topic_prefix)
        world.put_many([encode(rerun_of_report(INCIDENT, now, now))])
        world.close()
        eventually(lambda: headwater("campaign")["total"] == 1, patience(60))

    monkeypatch.chdir(ROOT)
    with message_service() as service:
        monkeypatch.setenv("MESSAGES", service.place)
        check_page("incident-example.md", printed)
        sent = [(path, document["title"].partition(":")[0]) for path, document in service.taken()]
    consumers = ("/partners", "/finance", "/science")
    assert sorted(sent[:3]) == sorted((path, "Bad data") for path in consumers)
    assert sorted(sent[3:]) == sorted((path, "Resolved") for path in consumers)
