"""`headwater run job.py` is to the script what `python job.py` is; no Spark in these, so nothing of it to capture."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.commands.run import bootstrap_file
from support.gate import first_in_gate, named_in_gate
from support.waiting import patience

HEADWATER = str(Path(sys.executable).with_name("headwater"))

WHO_AM_I = """
import __main__, inspect, os, pickle, sys
class Thing: pass
def here(): return 1
print(sys.argv, __name__, __file__, sys.path[0], __doc__, __spec__, os.getcwd())
print(__main__.__dict__ is globals(), type(pickle.loads(pickle.dumps(Thing()))) is Thing, inspect.getsource(here))
print(sorted(name for name in globals() if name.startswith("__")))
import beside
print(beside.NAME, repr(sys.stdin.read()))
"""

SCRIPTS = {
    "who am i": WHO_AM_I,
    "exit status": "import sys; sys.exit(7)",
    "exit in words": "import sys; sys.exit('it is over')",
    "exit without a status": "raise SystemExit",
    "an uncaught exception": (
        "def f():\n    raise LookupError('lost')\n"
        "try:\n    f()\nexcept LookupError as e:\n    raise OSError(2, 'x') from e"
    ),
    "a syntax error": "print('a'\n",
    "an encoding": "# coding: latin-1\nprint('caf\xe9')",
    "no byte of it": "",
    "Ctrl-C": "import os, signal; os.kill(os.getpid(), signal.SIGINT); signal.pause()",
    "SIGTERM": "import os, signal; os.kill(os.getpid(), signal.SIGTERM); signal.pause()",
    "a hook of its own": "import sys\nsys.excepthook = lambda *a: print('mine', a[0].__name__)\n1 / 0",
    "at the end": "import atexit, __main__\nX = 5\natexit.register(lambda: print(X, __main__.X))",
    "a process of its own": (
        "import multiprocessing\ndef f(x): return x + 1\n"
        "if __name__ == '__main__':\n    print(multiprocessing.get_context('spawn').Pool(1).map(f, [1]))"
    ),
}


def outcome(folder: Path, *command: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [*command, "jobs/job.py", "--json", "-x", "a b"],
        cwd=folder,
        input="standard input",
        capture_output=True,
        text=True,
        timeout=patience(100),
        check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        # A test run in the background may have it ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "beside.py").write_text("NAME = 'beside'")
    return tmp_path


@pytest.mark.parametrize("name", named_in_gate({"who am i", "SIGTERM"}, SCRIPTS, str))
def test_a_script_can_not_tell_the_difference(folder: Path, name: str) -> None:
    (folder / "jobs" / "job.py").write_bytes(SCRIPTS[name].encode("latin-1"))
    expected = outcome(folder, sys.executable)
    assert outcome(folder, sys.executable, str(bootstrap_file())) == expected


def test_the_command_becomes_the_script(folder: Path) -> None:
    (folder / "jobs" / "job.py").write_text("import os, sys; print(os.getppid()); sys.exit(9)")
    status, printed, warned = outcome(folder, HEADWATER, "run", "--job-name", "x", "--set", "tenant=y")
    # Its parent is this test: there is no process in between to pass signals on, or not.
    assert (status, printed) == (9, f"{os.getpid()}\n")
    assert warned == "", "no session is made, so nobody misses a Kafka"


WRONG = [
    (["--set", "job_nam=x", "jobs/job.py"], 6, "did you mean job_name?"),
    (["missing.py"], 2, "can't open missing.py: No such file or directory"),
    ([], 2, "No script was named"),
    (["--set", "job_name", "jobs/job.py"], 2, "--set takes name=value"),
    (["--set", "capture_queue_size=many", "jobs/job.py"], 6, "capture_queue_size, from --set: Input should be"),
]


@pytest.mark.parametrize("case", first_in_gate(2, WRONG))
def test_what_is_wrong_is_reported_before_the_script_runs(folder: Path, case: tuple[list[str], int, str]) -> None:
    arguments, status, message = case
    (folder / "jobs" / "job.py").write_text("print('ran')")
    done = subprocess.run(
        [HEADWATER, "run", *arguments], cwd=folder, capture_output=True, text=True, timeout=patience(100), check=False
    )
    assert (done.returncode, done.stdout) == (status, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_variable_that_means_nothing_is_a_wrong_setting_too(folder: Path) -> None:
    (folder / "jobs" / "job.py").write_text("print('ran')")
    for name, near in [
        ("HEADWATER_JOB_NAM", "HEADWATER_JOB_NAME"),
        ("HEADWATER_KAFKA_SECURITY_PROTOCOL", "PLAINTEXT"),
    ]:
        done = subprocess.run(
            [HEADWATER, "run", "jobs/job.py"],
            cwd=folder,
            env={**os.environ, name: "x"},
            capture_output=True,
            text=True,
            timeout=patience(100),
            check=False,
        )
        assert (done.returncode, done.stdout) == (6, ""), done.stderr
        assert near in done.stderr
