"""Every `headwater` command of the documents runs, in a clone that has only what bin/headwater installs.

Commands are found by parsing the pages' code blocks, so a new one is run too. What the questions print is compared in
tests/integration/analysis; here it counts that a command is there, with all it imports, and ends as its page says.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer

from headwater_producers.publisher import Publisher, PublisherSettings
from headwater_schemas.topics import TopicNames
from support.demo_graph import demo_events
from support.stack import StackUnderTest
from support.waiting import patience

if TYPE_CHECKING:
    from neo4j import Driver

pytestmark = pytest.mark.nightly


ROOT = Path(__file__).parents[3]
PREFIX = "documented"
BROKEN = 20  # dead letters, so that the one of the page is there

# Until somebody stops them.
SERVICES = ("serve", "consume")

# Not run, but for their --help, which imports all that they need.
NOT_RUN = {
    "dlq skip": "needs a record that stops a consumer",
    "demo": "takes minutes: tests/integration/demo runs it",
    "bench": "takes minutes: tests/integration/bench runs each",
    "soak": "takes minutes: tests/faults runs it",
    "up": "has a stack of its own: tests/integration/stack runs it",
    "run": "takes a script of the reader's: tests/integration/run runs it",
    "declare": "takes a consumer that runs beside it: tests/integration/declare runs it",
    "emit": "takes files of the reader's: tests/integration/openlineage runs it",
    "export": "takes datasets of the reader's: tests/integration/openlineage runs it",
    "forward": "sends to a collector of the reader's: tests/integration/openlineage runs it",
    "doctor": "finds what a trial lacks: tests/integration/doctor runs it",
    "check --exemptions": "takes a file of the reader's: tests/integration/analysis runs it",
    "login": "takes a server that is there: tests/unit/cli runs it",
    "logout": "takes a log-in: tests/unit/cli runs it",
    "mcp": "takes an assistant: tests/integration/server runs it",
    "review --dataset": "takes a schema of the reader's: tests/integration/analysis runs it",
    "graph migrate": "asks before it deletes the graph: tests/integration/materializer runs it",
    "graph restored": "asks before it sets offsets: tests/integration/docs/test_operating.py runs it",
    "policy": "takes a file of the reader's: tests/integration/server runs it",
    "token": "takes a file of the server's: tests/unit/server/identity runs it",
    "graph rebuild": "deletes the graph that the others ask: tests/integration/materializer runs it",
}

# Likewise all of a page.
PAGES_NOT_RUN = {
    "docs/analysis/may-delete.md": "asks for marks that were declared of the demo: tests/integration/declare runs it",
    "docs/analysis/privacy.md": "asks what was declared of the demo: tests/integration/declare runs it",
    "docs/first-pipeline.md": "a pipeline of its own, step by step: test_first_pipeline.py runs it",
    "docs/operating.md": "a backup, a loss and a restore, step by step: test_operating.py runs it",
    "docs/declare.md": "asks the graph for what it has declared: tests/integration/declare runs it",
}

# Of a command that a document has to show in words.
_SYNOPSIS = re.compile(r"[\[…]|\w\|\w")
_COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:uv run )?(?:\./bin/)?headwater (?P<arguments>.+)")


@dataclass(frozen=True, slots=True)
class Documented:
    """A command of a page.

    Attributes:
        where: page and line.
        arguments: without the program.
        status: that the page says it ends with.
    """

    where: str
    arguments: tuple[str, ...]
    status: int

    @property
    def not_run(self) -> str:
        """Reason for not running it, or ''."""
        one, two = self.arguments[0], " ".join(self.arguments[:2])
        page = self.where.partition(":")[0]
        return NOT_RUN.get(two) or NOT_RUN.get(one) or PAGES_NOT_RUN.get(page, "")


def pages() -> list[Path]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    found += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "ops").rglob("*.md")]
    return sorted(page for page in found if "decisions" not in page.parts)


def code_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines of fenced and indented blocks that may be shell, with what they are continued by."""
    fence: str | None = None
    begun: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if opened := re.match(r"\s*```(\w*)", line):
            fence = (opened[1] or "text") if fence is None else None
            continue
        if fence not in {"sh", None} or (fence is None and not line.startswith("    ")):
            continue
        at, before = begun or (number, "")
        whole = f"{before}{line.strip()}"
        begun = (at, whole.removesuffix("\\")) if whole.endswith("\\") else None
        if begun is None:
            yield at, whole


def documented() -> list[Documented]:
    """In the pages' order."""
    found = []
    for page in pages():
        for number, line in code_lines(page.read_text(encoding="utf-8")):
            if (command := _COMMAND.fullmatch(line)) is None:
                continue
            # A remark stands behind a `#`, or in a column of its own.
            text, _, remark = command["arguments"].partition(" # ")
            text = re.split(r"\s{2,}", text)[0]
            text = re.split(r" && | [<>] ", text)[0]
            where = f"{page.relative_to(ROOT)}:{number}"
            if not _SYNOPSIS.search(text):
                status = re.match(r"\s*exit (\d+)", remark)
                found.append(Documented(where, tuple(shlex.split(text)), int(status[1]) if status else 0))
    return found


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Clone of the files as `git clone` would make it, set up by its own bin/headwater."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("no git checkout, so what a clone would have isn't known")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    done = subprocess.run(
        [folder / "bin" / "headwater", "--version"], env=clean(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def clean() -> dict[str, str]:
    """This environment without what says which of them to use, uv's own and Headwater's."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("HEADWATER_", "VIRTUAL_ENV", "UV_PROJECT", "UV_RUN", "PYTHONPATH"))
    }


@pytest.fixture
def environment(stack: StackUnderTest, demo_graph: Driver, tmp_path: Path) -> dict[str, str]:
    """Environment of commands that find the recorded demo: its graph, its events on a topic, and some dead letters."""
    with Publisher(PublisherSettings(bootstrap_servers=stack.bootstrap_servers), TopicNames(PREFIX)) as publisher:
        for event in demo_events():
            publisher.publish(event)
        assert not publisher.flush(patience(60)).outstanding
    garbage = Producer({"bootstrap.servers": stack.bootstrap_servers, "log_level": 2})
    for _ in range(BROKEN):
        garbage.produce(TopicNames(PREFIX).events, value=b"no event", partition=0)
    assert garbage.flush(patience(30)) == 0
    return clean() | {
        "HEADWATER_DATA_DIR": str(tmp_path / "data"),
        "HEADWATER_OUTBOX_PATH": str(tmp_path / "outbox"),  # `outbox drop` is run, too
        "HEADWATER_KAFKA_BOOTSTRAP_SERVERS": stack.bootstrap_servers,
        "HEADWATER_NEO4J_URI": stack.neo4j_uri,
        "HEADWATER_NEO4J_USER": stack.neo4j_user,
        "HEADWATER_NEO4J_PASSWORD": stack.neo4j_password,
        "HEADWATER_TOPIC_PREFIX": PREFIX,
        "HEADWATER_MATERIALIZER_HTTP_PORT": "0",
        "HEADWATER_SERVE_PORT": "0",
    }


# One process that has imported the commands, and a child of it for each: a start of Python costs seconds on a busy
# core.
RUNNER = """
import json, os, signal, sys, tempfile
from headwater import cli
for name in ("upstream", "impact", "trace", "events"):
    cli._load(name)
answers = []
for arguments in json.load(sys.stdin):
    with tempfile.TemporaryFile() as printed:
        if (child := os.fork()) == 0:
            signal.alarm(150)  # ends one that goes on for ever, which is then named
            os.dup2(printed.fileno(), 1), os.dup2(printed.fileno(), 2)
            status = 99
            try:
                status = cli.main(arguments)
            finally:
                sys.stdout.flush(), sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        printed.seek(0)
        answers.append([os.waitstatus_to_exitcode(ended), printed.read().decode(errors="replace")[-1500:]])
json.dump(answers, sys.stdout)
"""


def in_one_process(clone: Path, environment: dict[str, str], commands: list[list[str]]) -> list[tuple[int, str]]:
    """Status and last output of each."""
    done = subprocess.run(
        [clone / ".venv" / "bin" / "python", "-c", RUNNER],
        input=json.dumps(commands),
        env=environment,
        cwd=clone,
        capture_output=True,
        text=True,
        timeout=patience(800),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [(status, printed) for status, printed in json.loads(done.stdout)]


def serves_until_terminated(clone: Path, environment: dict[str, str], arguments: tuple[str, ...]) -> tuple[int, str]:
    """Starts a service as it is written, and ends it once it has logged where it is; its status and last output."""
    with subprocess.Popen(
        [clone / "bin" / "headwater", *arguments],
        env=environment,
        cwd=clone,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "http://" in line:
                break
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        lines += process.stderr.readlines()
    return process.returncode, "".join(lines)[-1500:]


@pytest.mark.stack
@pytest.mark.timeout(1_500)
def test_every_command_of_the_documents_runs_in_a_clone(
    stack: StackUnderTest, clone: Path, environment: dict[str, str]
) -> None:
    found = documented()
    assert len(found) > 60
    problems = []

    # The README's as they are typed, each a process of its own; `consume` first, since the others ask what it writes.
    readme = [each for each in found if each.where.startswith("README") and not each.not_run]
    consumed = in_one_process(clone, environment, [["consume", "--until-caught-up"]])
    assert consumed[0][0] == 0, consumed
    for each in readme:
        if each.arguments[0] in SERVICES:
            status, printed = serves_until_terminated(clone, environment, each.arguments)
        else:
            done = subprocess.run(
                [clone / "bin" / "headwater", *each.arguments],
                env=environment,
                cwd=clone,
                capture_output=True,
                text=True,
                timeout=patience(200),
                check=False,
            )
            status, printed = done.returncode, f"{done.stdout[-500:]}{done.stderr[-1000:]}"
        if status != each.status:
            problems.append(f"{each.where} ended with {status}: {printed}")

    # Each once, whatever number of pages has it.
    others = {
        tuple(help_of(each) if each.not_run else each.arguments): each
        for each in found
        if each not in readme and each.arguments[0] not in SERVICES
    }
    # `graph verify` first: what `dlq replay` sends back isn't consumed any more.
    order = sorted(others, key=lambda arguments: arguments[:2] != ("graph", "verify"))
    answers = in_one_process(clone, environment, [[*arguments] for arguments in order])
    for arguments, (status, printed) in zip(order, answers, strict=True):
        each = others[arguments]
        if status != (0 if each.not_run else each.status):
            problems.append(f"{each.where} ended with {status}: {' '.join(arguments)}: {printed}")
    assert problems == []


def help_of(each: Documented) -> list[str]:
    """Help of the command, or of the group's command, that is documented."""
    words: list[str] = []
    for word in each.arguments:
        if word.startswith("-") or len(words) == 2 or (words and words[0] not in {"bench", "graph"}):
            break
        words.append(word)
    return [*words, "--help"]


def test_what_is_not_run_is_documented_still() -> None:
    reasons = {**NOT_RUN, **PAGES_NOT_RUN}
    assert [name for name, why in reasons.items() if not any(each.not_run == why for each in documented())] == []
