"""bin/headwater and bin/test on machines that have uv, only Python, or neither. The programs are scripts."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from support.waiting import patience

ROOT = Path(__file__).parents[3]

# Says what it was called with, and where. Asked where the environment is, it names one whose `headwater` does the same.
UV = """#!/bin/sh
[ "$1" = --version ] && exit 0
case "$*" in
  *VIRTUAL_ENV*)
    printf "%s\\n" "$@" >"$HOME/asked"
    printf "%s\\n" "$HOME/venv"
    exit 0 ;;
esac
pwd
printf "%s\\n" "$@"
"""
PROGRAM = """#!/bin/sh
pwd
printf '%s\\n' "$@"
printf '%s\\n' "$HEADWATER_COMMAND" "${PATH%%:*}" "$$"
"""

# A Python new enough, whose venv has a pip whose uv is the one above.
PYTHON = f"""#!/bin/sh
case "$1 $2" in
  "-c "*) exit 0 ;;
  "-m venv") mkdir -p "$3/bin"; cp "$0" "$3/bin/python" ;;
  "-m pip") printf '{UV.encode("unicode_escape").decode().replace("%", "%%")}' > "${{0%python}}uv"
            chmod +x "${{0%python}}uv" ;;
esac
"""


class Machine:
    """A PATH with the usual tools and nothing of Python, to which a test adds programs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"
        for tool in ("sh", "dirname", "readlink", "uname", "mktemp", "mkdir", "rm", "mv", "cp", "chmod"):
            (folder / tool).symlink_to(shutil.which(tool) or tool)
        (folder / "venv" / "bin").mkdir(parents=True)
        self.add("venv/bin/headwater", PROGRAM)

    def add(self, name: str, script: str) -> None:
        (self.folder / name).write_text(script)
        (self.folder / name).chmod(0o755)

    def run(self, program: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.folder), "HEADWATER_CACHE_DIR": str(self.cache), "HOME": str(self.folder)}
        return subprocess.run(
            [program, *arguments],
            env=environment | variables,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=patience(30),
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_headwater_runs_where_the_caller_stands_with_the_arguments_as_they_are(machine: Machine) -> None:
    machine.add("uv", UV)
    first = machine.folder / "first"
    first.symlink_to(ROOT / "bin" / "headwater")
    second = machine.folder / "second"
    second.symlink_to("first")
    done = machine.run(second, "status", "a b", "")
    where, *arguments = done.stdout.splitlines()
    assert where == str(machine.folder)
    # Last: how it was called, and where `python3`, PySpark's workers', is found.
    assert arguments[:-1] == ["status", "a b", "", str(second), str(machine.folder / "venv" / "bin")]
    asked = (machine.folder / "asked").read_text().splitlines()
    assert asked[:6] == ["run", "--frozen", "--project", str(ROOT), "--no-default-groups", "--extra"]


def test_the_launcher_becomes_headwater_so_that_killing_it_leaves_nothing_behind(machine: Machine) -> None:
    machine.add("uv", UV)
    command = [str(ROOT / "bin" / "headwater"), "consume"]
    environment = {"PATH": str(machine.folder), "HOME": str(machine.folder)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        output, _ = process.communicate(timeout=patience(30))
    assert output.splitlines()[-1] == str(process.pid)


def test_what_uv_fails_with_is_the_status(machine: Machine) -> None:
    machine.add("uv", '#!/bin/sh\n[ "$1" = run ] && echo no network >&2 && exit 2\nexit 0\n')
    done = machine.run(ROOT / "bin" / "headwater", "status")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "no network\n")


@pytest.mark.parametrize(("found", "expected"), [(True, ""), (False, "install one of them")])
def test_where_no_python_fits_it_is_reported_what_to_do(machine: Machine, found: bool, expected: str) -> None:
    checkout = machine.folder / "checkout"
    (checkout / "bin").mkdir(parents=True)
    for name in ("headwater", "bootstrap.sh"):
        shutil.copy(ROOT / "bin" / name, checkout / "bin" / name)
    machine.add("uv", UV + ("" if found else '[ "$1" = python ] && exit 2\nexit 0\n'))
    done = machine.run(checkout / "bin" / "headwater", "status")
    assert done.returncode == 0
    assert expected in done.stderr
    assert bool(done.stderr) is not found


def test_test_with_arguments_is_pytest_alone(machine: Machine) -> None:
    machine.add("uv", UV)
    assert machine.run(ROOT / "bin" / "test", "-k", "x").stdout == f"{ROOT}\nrun\n--frozen\npytest\n-k\nx\n"


@pytest.mark.parametrize("arguments", [(), ("--nightly",), ("--stress", "tests/unit")])
def test_test_without_arguments_is_the_gate(machine: Machine, arguments: tuple[str, ...]) -> None:
    machine.add("uv", UV)
    done = machine.run(ROOT / "bin" / "test", *arguments)
    assert done.stdout.split() == [str(ROOT), "run", "--frozen", "python", "scripts/gate.py", *arguments]


def test_where_there_is_no_uv_it_is_installed_once_for_all_checkouts(machine: Machine) -> None:
    machine.add("python3", PYTHON)
    first = machine.run(ROOT / "bin" / "headwater", "status")
    assert first.returncode == 0, first.stderr
    assert "Installing uv" in first.stderr
    (installed,) = (machine.cache / "uv").iterdir()
    assert [path.name for path in installed.iterdir()] == ["uv"]
    again = machine.run(ROOT / "bin" / "headwater", "status")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[:-1] == first.stdout.splitlines()[:-1]  # last: the process id


def test_a_shim_with_no_uv_behind_it_is_no_uv(machine: Machine) -> None:
    machine.add("uv", "#!/bin/sh\nexit 127\n")
    machine.add("python3", PYTHON)
    assert "headwater" in machine.run(ROOT / "bin" / "headwater").stdout


def test_a_newer_python_beside_an_old_python3_serves(machine: Machine) -> None:
    machine.add("python3", "#!/bin/sh\nexit 1\n")
    machine.add("python3.13", PYTHON)
    assert machine.run(ROOT / "bin" / "headwater").returncode == 0


@pytest.mark.parametrize(
    ("python", "message"),
    [
        (None, "no python3 on the PATH"),
        ("#!/bin/sh\n[ $1 = --version ] && echo Python 3.9.2 && exit 0\nexit 1\n", "is Python 3.9.2"),
        (PYTHON.replace('mkdir -p "$3/bin"', "exit 1"), "apt-get install python3-venv"),
        (PYTHON.replace('"-m pip")', '"-m pip") exit 1;'), "pip could not install uv"),
    ],
)
def test_what_is_missing_is_reported_and_nothing_half_done_is_left(
    python: str | None, message: str, machine: Machine
) -> None:
    if python:
        machine.add("python3", python)
    done = machine.run(ROOT / "bin" / "headwater", "status")
    assert done.returncode == 6
    assert message in done.stderr
    assert [path for path in machine.cache.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("installs", [True, False])
def test_ci_installs_what_only_the_system_has_and_then_tests(installs: bool, machine: Machine) -> None:
    machine.add("uv", UV)
    machine.add("id", "#!/bin/sh\necho 0\n")
    machine.add("apt-get", f'#!/bin/sh\necho apt-get "$@"\n[ $1 = update ] || exit {int(not installs)}\n')
    done = machine.run(ROOT / ".ci" / "run", "--nightly")
    assert done.stdout.endswith("run\n--frozen\npython\nscripts/gate.py\n--nightly\n")
    assert "install -qq -y --no-install-recommends chromium prometheus" in done.stderr
    assert ("could not install chromium prometheus" in done.stderr) is not installs


def test_ci_installs_nothing_where_it_may_not(machine: Machine) -> None:
    machine.add("uv", UV)
    machine.add("id", "#!/bin/sh\necho 1000\n")
    machine.add("apt-get", "#!/bin/sh\necho apt-get\n")
    done = machine.run(ROOT / ".ci" / "run")
    missing = "chromium prometheus prometheus-pushgateway curl nodejs npm"
    assert done.stderr == f"warning: could not install {missing}; the tests that need it are skipped\n"


def test_pips_certificates_and_index_hold_for_uv(machine: Machine) -> None:
    says = 'printf "%s %s\\n" "$SSL_CERT_FILE" "$UV_DEFAULT_INDEX" >&2\n'
    machine.add("uv", f'#!/bin/sh\n[ "$1" = --version ] && exit 0\n{says}exit 1\n')
    done = machine.run(ROOT / "bin" / "headwater", PIP_CERT="/x.pem", PIP_INDEX_URL="https://index.example/simple")
    assert "/x.pem https://index.example/simple\n" in done.stderr
