"""`headwater consume` for one test: as a process of its own, or until it has caught up."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from typing import Any
from unittest.mock import patch

from headwater import cli
from headwater_benchmarks.processes import PROGRAM, ConsumerProcess, running
from support.stack import StackUnderTest
from support.waiting import patience


def environment(stack: StackUnderTest, prefix: str, **settings: str) -> dict[str, str]:
    """The settings of a consumer of this stack's topics with this prefix; further ones as `materializer__group`."""
    chosen = {
        "kafka__bootstrap_servers": stack.bootstrap_servers,
        "neo4j__uri": stack.neo4j_uri,
        "neo4j__user": stack.neo4j_user,
        "neo4j__password": stack.neo4j_password,
        "topic__prefix": prefix,
        "materializer__group": prefix,
        **settings,
    }
    return {f"HEADWATER_{name.replace('__', '_').upper()}": value for name, value in chosen.items()}


def consuming(settings: dict[str, str], *arguments: str) -> contextlib.AbstractContextManager[ConsumerProcess]:
    """A consumer that has ended when the block has."""
    return running(ConsumerProcess, settings, *arguments)


def run_until_caught_up(settings: dict[str, str], *arguments: str) -> dict[str, Any]:
    """Let one consumer catch up, within this process, and its totals."""
    out = io.StringIO()
    with patch.dict(os.environ, settings), contextlib.redirect_stdout(out):
        assert cli.main(["consume", "--port", "0", "--until-caught-up", *arguments, "--json"]) == 0
    document: dict[str, Any] = json.loads(out.getvalue())
    return document


def document_of(
    settings: dict[str, str], *arguments: str, status: int = 0, given: str = "", seconds: float = 120
) -> dict[str, Any]:
    """Run a command as a process, and return its document; `given` is its standard input."""
    ran = subprocess.run(
        [sys.executable, *PROGRAM, *arguments, "--json"],
        input=given,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **settings},
        timeout=patience(seconds),
        check=False,
    )
    assert ran.returncode == status, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document
