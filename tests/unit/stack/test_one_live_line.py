"""On a terminal: a download's progress bar and the spinner of `up` never draw over each other."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

# `up`, with a download and a start that only pretend, each long enough for its display to draw several times.
SCRIPT = """
import sys, time
from contextlib import contextmanager
from pathlib import Path
from headwater import cli
from headwater.errors import SubjectNotFoundError
from headwater.stack import jars, lifecycle
from headwater.commands import up

@contextmanager
def run(*_, **__):
    def lines():
        for _ in range(8):
            time.sleep(0.1)
            yield "[SUCCESSFUL ] a#b;1!b.jar (1ms)"
    yield lines()

fetched = set()
jars._wrong = lambda these, folder: [] if these[0] in fetched else these
jars.place = lambda these, *_: fetched.add(these[0])
jars.ivy.run = run

def bring_up(*_, **__):
    for name in ("kafka", "neo4j"):
        jars.ensure_jars(name)
    time.sleep(0.5)
    raise SubjectNotFoundError("the end")

up.bring_up = bring_up
sys.exit(cli.main(["up"]))
"""


def test_the_download_is_over_before_the_spinner_turns(tmp_path: Path) -> None:
    terminal, other_end = pty.openpty()
    environment = {**os.environ, "HEADWATER_DATA_DIR": str(tmp_path), "HEADWATER_CACHE_DIR": str(tmp_path / "cache")}
    environment |= {"TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen([sys.executable, "-c", SCRIPT], env=environment, stderr=other_end, stdout=other_end) as up:
        os.close(other_end)
        drawn = b""
        try:
            while part := os.read(terminal, 65_536):
                drawn += part
        except OSError:  # Linux: the other end is closed
            pass
        finally:
            os.close(terminal)
    assert up.returncode == 3, drawn
    text = drawn.decode()
    spinner = text.index("Starting Kafka and Neo4j")
    assert "kafka" in text[:spinner]
    assert "neo4j" in text[:spinner]
    # What draws a bar: Unicode blocks of rich's BarColumn.
    assert "\u2501" in text[:spinner]
    assert "\u2501" not in text[spinner:]
