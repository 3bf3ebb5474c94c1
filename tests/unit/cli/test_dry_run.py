"""The process of a dry run, with a stand-in for what runs in it: answers, its end, its crash, its time limit."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from headwater import dry_run as module
from headwater.dry_run import DryRun, Stop, dry_run
from headwater.reviewing import DeclaredTables, Script, run_both
from support.gate import first_in_gate
from support.waiting import eventually, patience

HEAD = """
import json, os, subprocess, sys, time
answers, reports = map(int, sys.argv[2].split(","))
answers, reports = os.fdopen(answers), os.fdopen(reports, "w")
def report(what, **content):
    print(json.dumps({what: content}), file=reports, flush=True)
"""
ASKING = """
for number in range(20):
    report("ask", kind="table", name=f"t{number}")
    report("ddl", text=answers.readline())
report("problem", text=" ".join(sys.argv[8:]), fix="fix")
report("end")
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "MODULE", "stand_in")
    (tmp_path / "job.py").touch()
    return tmp_path / "job.py"


def run(script: Path, body: str, *arguments: str, seconds: float | None = None) -> DryRun:
    (script.parent / "stand_in.py").write_text(HEAD + body, encoding="utf-8")
    limit = seconds or patience(30)
    return dry_run(script, arguments, lambda _, name: f"{name} INT", seconds=limit, libraries=[script.parent])


def test_answers_and_arguments(script: Path) -> None:
    found = run(script, ASKING, "--a", "b")
    assert found.ddl == [f'{{"columns": "t{number} INT"}}\n' for number in range(20)]
    assert found.problems == [("--a b", "fix")]


def test_two_at_once_many_times(script: Path) -> None:
    (script.parent / "stand_in.py").write_text(HEAD + ASKING, encoding="utf-8")

    def one(_: int) -> int:
        return len(dry_run(script, (), lambda *_: "a INT", seconds=patience(30), libraries=[script.parent]).ddl)

    with ThreadPoolExecutor(2) as both:
        assert list(both.map(one, range(12))) == [20] * 12


def test_a_process_that_crashes_is_a_problem(script: Path) -> None:
    found = run(script, "report('begin', network=True)\nprint('out of memory')\nos._exit(9)\n")
    (problem,) = found.problems
    assert "ended with status 9: out of memory" in problem[0]
    assert found.network


def test_what_is_left_of_its_output_has_no_secret(script: Path) -> None:
    body = "print('x' * 30_000, 'token=hunter2', 'y' * 390)\nprint('password: hunter3', flush=True)\nos._exit(9)\n"
    (problem,) = run(script, body).problems
    assert "password: [redacted]" in problem[0]
    assert "hunter" not in problem[0]


def test_what_forked_processes_mixed_up_is_a_problem(script: Path) -> None:
    found = run(script, "reports.write('{\"output\": {\"end\": {}}\\n')\nreports.flush()\nreport('end')\n")
    (problem,) = found.problems
    assert "can't be read" in problem[0]
    assert "processes of its own" in problem[1]


def test_an_interrupt_ends_both_at_once(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They aren't in the process group that a terminal's Ctrl-C goes to."""
    body = "open(sys.argv[7] + '.' + str(os.getpid()), 'w').close()\ntime.sleep(3_600)\n"
    (script.parent / "stand_in.py").write_text(HEAD + body, encoding="utf-8")

    def started() -> list[int]:
        return [int(path.suffix[1:]) for path in script.parent.glob("job.py.*")]

    def interrupt(*_: object) -> None:
        eventually(lambda: len(started()) == 2)
        raise KeyboardInterrupt

    class Interrupted(ThreadPoolExecutor):
        def submit(self, *given: Any, **named: Any) -> Any:
            future = super().submit(*given, **named)
            monkeypatch.setattr(future, "result", interrupt)
            return future

    monkeypatch.setattr("headwater.reviewing.ThreadPoolExecutor", Interrupted)
    both = Script(script, "job.py")
    # An hour, which this test hasn't: only the interrupt can end them.
    with pytest.raises(KeyboardInterrupt):
        run_both(both, both, (), DeclaredTables({}, None), 3_600, [script.parent])
    assert len(started()) == 2
    eventually(lambda: all(_is_gone(Path("/proc", str(pid), "stat")) for pid in started()))


def test_what_begins_after_an_interrupt_ends_too(script: Path) -> None:
    stop = Stop()
    stop.now()
    (script.parent / "stand_in.py").write_text(HEAD + "time.sleep(3_600)\n", encoding="utf-8")
    found = dry_run(script, (), lambda *_: None, seconds=3_600, libraries=[script.parent], stop=stop)
    (problem,) = found.problems
    assert "ended with status -9" in problem[0], "killed, and not at its time limit"


FORKING = """
import os, sys
from headwater_dry_run.channel import Channel
channel = Channel(*map(int, sys.argv[2].split(",")))
channel.report("begin", {"network": False})
if os.fork() == 0:
    %s
    os._exit(0)
os.wait()
channel.report("ddl", {"text": "after"})
channel.report("end", {})
"""


@pytest.mark.parametrize(
    "child",
    first_in_gate(
        2,
        [
            "channel.report('end', {})",
            "channel.ask('table', 't')",
            "channel.report('output', {})",
            "channel.problem('x')",
        ],
    ),
)
def test_a_process_that_the_script_forks_ends_nothing_and_is_no_pass(script: Path, child: str) -> None:
    (script.parent / "stand_in.py").write_text(FORKING % child, encoding="utf-8")
    found = dry_run(script, (), lambda *_: "a INT", seconds=patience(30), libraries=[script.parent])
    assert found.ddl == ["after"]
    (problem,) = found.problems
    assert "a process that it has forked" in problem[0]


WHOLE = """
from types import SimpleNamespace
from headwater_dry_run import __main__ as module
class Session:
    def stop(self):
        pass
def prepare(session, channel, scratch, empty):
    sources.looked = lambda text: channel.report("ddl", {"text": text})
    sources.asked = lambda: channel.ask("table", "orders")
    return sources, SimpleNamespace(last=None)
sources = SimpleNamespace(identities={}, missing={}, compared=set())
import builtins
builtins.sources = sources
module.isolate, module.make_session, module.prepare = (lambda *_: True), (lambda _: Session()), prepare
module.main()
"""


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        ("sys.exit(0)", []),
        ("sources.looked('within')", ["a process that it has forked"]),
        pytest.param("sys.exit('a text')", [], marks=pytest.mark.nightly),
        pytest.param("pass", [], marks=pytest.mark.nightly),
        pytest.param("1 / 0", ["a process that it has forked"], marks=pytest.mark.nightly),
        pytest.param("sources.asked()", ["a process that it has forked"], marks=pytest.mark.nightly),
    ],
)
def test_a_script_that_forks_is_followed_to_its_end(script: Path, child: str, expected: list[str]) -> None:
    script.write_text(
        f"import os, sys\nchild = os.fork()\nif not child:\n    {child}\nelse:\n"
        "    os.waitpid(child, 0)\n    sources.looked('after')\n",
        encoding="utf-8",
    )
    (script.parent / "stand_in.py").write_text(WHOLE, encoding="utf-8")
    found = dry_run(script, (), lambda *_: "a INT", seconds=patience(60), libraries=[script.parent])
    assert found.ddl == ["after"], found.problems
    assert len(found.problems) == len(expected), found.problems
    assert all(text in problem[0] for text, problem in zip(expected, found.problems, strict=True))


@pytest.mark.parametrize(
    ("script_text", "found"),
    [
        ("threading.Thread(target=lambda: (time.sleep(0.5), sources.looked('late'))).start()", ["late"]),
        pytest.param(
            "ThreadPoolExecutor(1).submit(lambda: (time.sleep(0.5), sources.looked('late')))",
            ["late"],
            marks=pytest.mark.nightly,
        ),
        ("atexit.register(lambda: sources.looked('late'))", ["late"]),
        ("threading.Thread(target=lambda: (sources.looked('early'), 1 / 0)).start()", ["early", "ZeroDivisionError"]),
        pytest.param(
            "threading.Thread(target=lambda: time.sleep(300), daemon=True).start()", [], marks=pytest.mark.nightly
        ),
    ],
    ids=["a thread", "a pool", "what it registers", "a thread that fails", "a daemon"],
)
def test_what_the_script_does_after_its_last_line(script: Path, script_text: str, found: list[str]) -> None:
    head = "import atexit, threading, time\nfrom concurrent.futures import ThreadPoolExecutor\n"
    script.write_text(head + script_text, encoding="utf-8")
    (script.parent / "stand_in.py").write_text(WHOLE, encoding="utf-8")
    run = dry_run(script, (), lambda *_: "a INT", seconds=patience(60), libraries=[script.parent])
    assert [*run.ddl, *(text.split(": ")[1] for text, _ in run.problems)] == found
    assert run.ended


def test_what_takes_too_long_is_ended_with_its_children(script: Path) -> None:
    body = "child = subprocess.Popen(['sleep', '300'])\nreport('ddl', text=str(child.pid))\ntime.sleep(300)\n"
    found = run(script, body, seconds=2)
    assert "isn't done after 2 s" in found.problems[0][0]
    eventually(lambda: _is_gone(Path("/proc", found.ddl[0], "stat")))


def _is_gone(process: Path) -> bool:
    """Return whether a process has ended, collected or not."""
    try:
        return process.read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_no_descriptor_is_left_open(script: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    run(script, ASKING)
    assert len(list(Path("/proc/self/fd").iterdir())) == before


STARTED = '''
import os, subprocess, sys
child = """
import sys, time
from headwater_dry_run.channel import end_with_parent
end_with_parent(int(sys.argv[1]))
print(flush=True)
time.sleep(60)
"""
process = subprocess.Popen(
    [sys.executable, "-c", child, *(sys.argv[1:] or [str(os.getpid())])],
    stdin=subprocess.PIPE,
    stdout=subprocess.PIPE,
    start_new_session=True,
)
process.stdout.readline()
print(process.pid, flush=True)
input()
'''


def test_what_was_started_ends_with_a_command_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTED]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        child = Path("/proc", owner.stdout.readline().strip(), "stat")
        assert child.exists()
        owner.kill()
        eventually(lambda: _is_gone(child))


def test_what_was_started_by_a_command_that_was_killed_before_it_looked_ends() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    command = [sys.executable, "-c", STARTED, str(gone.pid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        child = Path("/proc", other.stdout.readline().strip(), "stat")
        # The process that it is a child of hasn't started it.
        eventually(lambda: _is_gone(child))
        other.kill()
