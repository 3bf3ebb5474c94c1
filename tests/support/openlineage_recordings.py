"""Recordings of real clients' documents, as `headwater export openlineage` returns them, and golden graphs of them.

The documents are replayed by tests/unit/openlineage/test_clients.py, which expects the same graph of them.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from headwater_benchmarks.processes import PROGRAM, ServeProcess, serving
from headwater_graph.dump import dump
from headwater_server.identity import Scope
from support.api_tokens import tokens_file
from support.materializer.process import run_until_caught_up
from support.openlineage_graphs import words
from support.run_rules import rewrite, updating
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

RECORDINGS = Path(__file__).parents[1] / "unit" / "openlineage" / "clients"


@contextlib.contextmanager
def intake(settings: Mapping[str, str]) -> Iterator[ServeProcess]:
    """A server that takes events with `TOKEN`."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = {
            "HEADWATER_SERVE_PORT": "0",
            "HEADWATER_SERVE_INTAKE": "true",
            "HEADWATER_SERVE_TOKENS_FILE": tokens_file(Path(folder, "tokens.json"), Scope.WRITE),
        }
        with serving({**settings, **chosen}) as server:
            yield server


def check_recording(name: str, settings: dict[str, str], driver: Driver, replaced: Mapping[str, str]) -> None:
    """Consume what a client posted, and compare the graph with the golden; rewrite both where goldens are rewritten.

    Args:
        name: of the golden.
        settings: of the stack's topics.
        driver: of the graph.
        replaced: what of this machine is in the documents, and what stands for it in the golden.
    """
    totals = run_until_caught_up(settings)
    assert totals["applied"] > 0
    assert totals["dead_lettered"] == 0
    graph = _without(words(dump(driver)), replaced)
    if updating():
        environment = {**os.environ, **settings}
        command = [sys.executable, *PROGRAM, "export", "openlineage"]
        ran = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=patience(120), check=True
        )
        rewrite(RECORDINGS / f"{name}.jsonl", _without(ran.stdout, replaced))
        rewrite(RECORDINGS / f"{name}.graph.txt", graph)
    assert graph == (RECORDINGS / f"{name}.graph.txt").read_text(encoding="utf-8")


def _without(text: str, replaced: Mapping[str, str]) -> str:
    for here, anywhere in replaced.items():
        text = text.replace(here, anywhere)
    return text
