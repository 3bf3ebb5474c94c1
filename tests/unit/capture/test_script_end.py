"""Events of a script's end, against Python's own verdict: each in a process of its own, without Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.waiting import patience

# Forks for each ending, since all that costs time are the imports. An ending is the last thing in the child.
DRIVER = """
import json, os, sys
from headwater_producers.spark.driver import capture as captures, shutdown
from headwater_producers.spark.running.script import run_script

class Capture:
    def __init__(self, name):
        self.name = name
    def end(self, kind, error, *, session_ends):
        with open(self.name, "w") as file:
            json.dump([kind.value, error.message if error else None], file)

number, how = 0, sys.argv[1]
for number, ending in enumerate(json.load(open("endings"))):
    if (child := os.fork()) == 0:
        break
    with open(f"{number}.code", "w") as file:
        file.write(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])))
else:
    os._exit(0)
sys.stderr = open(os.devnull, "w")
captures.running_captures = lambda: [Capture(f"{number}.emitted")]
shutdown.install()
if how == "run":
    with open(f"{number}.py", "w") as file:
        file.write(ending)
    run_script(f"{number}.py", ending.encode(), [])
else:
    exec(ending)
"""

Reported = tuple[str, str | None]
WELL: Final = ("COMPLETE", None)
ENDINGS: Final[dict[str, tuple[int, Reported]]] = {
    "pass": (0, WELL),
    "import sys\nsys.exit()": (0, WELL),
    "import sys\nsys.exit(3)": (3, ("FAIL", "3")),
    "import sys\nsys.exit('token=hunter2')": (1, ("FAIL", "token=[redacted]")),
    "exit(3)": (3, ("FAIL", "3")),
    "raise LookupError('lost')": (1, ("FAIL", "lost")),
    "raise KeyboardInterrupt": (-2, ("ABORT", "KeyboardInterrupt")),
    "import sys\ntry:\n    sys.exit(2)\nexcept SystemExit:\n    pass": (0, WELL),
    "import sys\ntry:\n    sys.exit(2)\nfinally:\n    pass": (2, ("FAIL", "2")),
    "import sys\ntry:\n    sys.exit(2)\nexcept SystemExit:\n    raise": (2, ("FAIL", "2")),
    "import contextlib, sys\nwith contextlib.suppress(SystemExit):\n    sys.exit(2)": (0, WELL),
    "import sys, threading\nother = threading.Thread(target=lambda: sys.exit(2))\nother.start()": (0, WELL),
    # The next two are reported rightly by `headwater run` alone.
    "raise SystemExit(3)": (3, ("FAIL", "3")),
    "def main():\n    return 4\nraise SystemExit(main())": (4, ("FAIL", "4")),
}
UNSEEN: Final = {ending for ending in ENDINGS if "raise SystemExit" in ending}


def reported(folder: Path, how: str) -> dict[str, tuple[int, Reported]]:
    (folder / "driver.py").write_text(DRIVER)
    (folder / "endings").write_text(json.dumps(list(ENDINGS)))
    subprocess.run([sys.executable, "driver.py", how], cwd=folder, check=True, timeout=patience(120))
    found = {}
    for number, ending in enumerate(ENDINGS):
        kind, message = json.loads((folder / f"{number}.emitted").read_text())
        found[ending] = (int((folder / f"{number}.code").read_text()), (kind, message))
    return found


def test_under_headwater_run_each_end_is_emitted_as_it_was(tmp_path: Path) -> None:
    assert reported(tmp_path, "run") == ENDINGS


@pytest.mark.nightly
def test_elsewhere_too_but_for_a_system_exit_that_no_function_raised(tmp_path: Path) -> None:
    expected = {ending: (code, WELL if ending in UNSEEN else state) for ending, (code, state) in ENDINGS.items()}
    assert reported(tmp_path, "plain") == expected
