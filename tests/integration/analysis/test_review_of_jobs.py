"""`headwater review OLD.py NEW.py`: each script in a process of its own, for real."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from headwater.cli import main
from support.waiting import eventually
from support.worked_examples import check_page

pytestmark = [pytest.mark.spark, pytest.mark.timeout(400)]

ROOT = Path(__file__).parents[3]

HEAD = (
    "from pyspark.sql import SparkSession, functions as F\nspark = SparkSession.builder.master('yarn').getOrCreate()\n"
)
GUARDED = """
import argparse
from helper import column

def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--least", type=int, required=True)
    least = flags.parse_args().least
    spark.table("shop.orders").where(F.col(column) > least).write.mode("overwrite").parquet("/lake/orders")
    spark.stop()

if __name__ == "__main__":
    main()
"""
WRITING = """
import pathlib, socket
o = spark.table("shop.orders")
o.write.mode("overwrite").parquet({path!r})
o.selectExpr("cast(id as string) value").write.format("kafka").option("kafka.bootstrap.servers", "{kafka}") \\
    .option("topic", "orders").save()
try:
    socket.create_connection(("127.0.0.1", {port}), timeout=5)
except OSError as error:
    print("no network", error)
else:
    o.write.parquet("/lake/reached-the-network")
pathlib.Path("here.txt").write_text("in the scratch folder")
{more}
"""
TABLES = {"shop.orders": "id BIGINT, amount INT"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder of the scripts, and of the scratch folders that they run in."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "tables.json").write_text(json.dumps(TABLES), encoding="utf-8")
    return tmp_path


def reviewed(
    folder: Path, old: str, new: str, *options: str, arguments: tuple[str, ...] = (), capsys: pytest.CaptureFixture[str]
) -> tuple[int, dict[str, Any]]:
    """Exit status and answer."""
    for name, text in (("old.py", old), ("new.py", new)):
        (folder / name).write_text(HEAD + text, encoding="utf-8")
    command = ["review", str(folder / "old.py"), str(folder / "new.py"), "--tables", str(folder / "tables.json")]
    code = main([*command, "--no-graph", "--json", *options, *(("--", *arguments) if arguments else ())])
    return code, json.loads(capsys.readouterr().out)


def has_running_processes(folder: Path) -> bool:
    """True when a command line of this machine names the folder, as each script's Python and its JVM do."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"{folder}/" in (process / "cmdline").read_bytes().decode(errors="replace"):
                return True
    return False


@pytest.mark.nightly
def test_a_script_with_arguments_a_main_guard_and_modules_of_its_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "helper.py").write_text("column = 'amount'\n", encoding="utf-8")
    new = GUARDED.replace("> least", ">= least")
    code, answer = reviewed(folder, GUARDED, new, "--fail-on", "DEGRADED", arguments=("--least", "3"), capsys=capsys)
    assert (code, answer["verdict"]) == (5, "DEGRADED")
    (output,) = answer["outputs"]
    assert [each["difference"]["kind"] for each in output["differences"]] == ["ROWS"]
    assert "(amount >= 3)" in output["differences"][0]["text"]


@pytest.mark.nightly
def test_nothing_is_written_or_reached(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        real = folder / "lake"
        old = WRITING.format(path=str(real), kafka=f"127.0.0.1:{port}", port=port, more="")
        new = old + f"open({str(folder / 'outside.txt')!r}, 'w')\n"
        code, answer = reviewed(folder, old, new, capsys=capsys)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert not real.exists()
    assert not (folder / "outside.txt").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["new.py", "old.py", "tables.json"]
    # The second version tries to write elsewhere: that is stated, and no pass.
    assert (code, answer["verdict"]) == (5, "UNKNOWN")
    (problem,) = answer["problems"]
    assert "outside.txt" in problem["text"]
    assert {output["dataset"]["name"] for output in answer["outputs"]} == {str(real), "orders"}


GUARD = """
import sys
o = spark.table("shop.orders")
o.write.parquet("/lake/\x1b[31mall")
if o.isEmpty():
    sys.exit(0)
if o.where("id is null").count():
    sys.exit("ids are missing")
o.where("amount > {}").write.parquet("/lake/some")
"""


@pytest.mark.nightly
def test_what_is_behind_an_empty_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It runs with a row, and once more without one where the script ends itself because of it."""
    code, answer = reviewed(folder, GUARD.format(1), GUARD.format(2), "--fail-on", "DEGRADED", capsys=capsys)
    assert (code, answer["verdict"], answer["problems"]) == (5, "DEGRADED", [])
    assert [output["dataset"]["name"] for output in answer["outputs"] if output["differences"]] == ["/lake/some"]
    assert "new.py asks for rows (isEmpty in line 7 of new.py, count in line 9 of new.py)" in answer["notes"][-1]
    eventually(lambda: not has_running_processes(folder), 10, expecting="no process of the scripts is left")


@pytest.mark.nightly
def test_a_script_that_cant_be_parsed_is_unknown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = reviewed(folder, "spark.table('shop.orders').write.parquet('/o')", "def (:\n", capsys=capsys)
    assert code == 5
    assert "SyntaxError" in answer["problems"][0]["text"]
    assert "in line 3" in answer["problems"][0]["text"]


@pytest.mark.nightly
def test_a_script_that_takes_too_long_is_ended_with_its_jvm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Longer than this test may take: a script that isn't ended fails it.
    slow = "import time\nprint('a session is there')\ntime.sleep(10_000)\n"
    code, answer = reviewed(folder, slow, slow, "--time-limit", "25", capsys=capsys)
    assert code == 5
    assert [problem["script"] for problem in answer["problems"]] == [str(folder / "old.py"), str(folder / "new.py")]
    assert all("isn't done after 25 s" in problem["text"] for problem in answer["problems"])
    eventually(lambda: not has_running_processes(folder), 10, expecting="no process of the scripts is left")


@pytest.mark.nightly
def test_another_revision_with_what_is_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        identity = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a"}
        environment = {**os.environ, **identity, "GIT_COMMITTER_EMAIL": "a@b", "GIT_CONFIG_GLOBAL": "/dev/null"}
        subprocess.run(["git", "-C", str(folder), *words], check=True, env=environment, capture_output=True)

    job = HEAD + "from helper import least\n"
    job += "spark.table('shop.orders').where(F.col('amount') > least).write.parquet('/lake/orders')\n"
    (folder / "job.py").write_text(job, encoding="utf-8")
    (folder / "helper.py").write_text("least = 1\n", encoding="utf-8")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "a")
    (folder / "helper.py").write_text("least = 2\n", encoding="utf-8")
    command = ["review", "--against", "HEAD", "--tables", str(folder / "tables.json"), "--no-graph", "--json"]
    assert main([*command, str(folder / "job.py")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["verdict"], answer["old"]) == ("DEGRADED", "HEAD:job.py")
    assert main([*command, str(folder / "job.py"), "--fail-on", "DEGRADED"]) == 5
    assert main(["review", "--against", "nowhere", "--no-graph", str(folder / "job.py")]) == 2


WRONG_OPTIONS: list[tuple[list[str], str]] = [
    (["old.py"], "There is only one script"),
    (["old.py", "missing.py"], "isn't an existing script"),
    (["old.py", "new.py", "--dataset", "x"], "are for schemas"),
    (["old.sql", "--dataset", "x", "--tables", "old.py"], "are for scripts"),
    (["old.sql", "--no-graph"], "There is only one schema"),
    (["old.sql"], "--dataset"),
    (["old.py", "old.py", "--tables", "old.py"], "is no JSON"),
]


def test_options_that_dont_fit(
    subtests: pytest.Subtests, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, message in WRONG_OPTIONS:
        with subtests.test(command=command):
            monkeypatch.chdir(folder)
            (folder / "old.py").write_text(HEAD, encoding="utf-8")
            more = ["--no-graph"] if command[0].endswith(".py") else []
            assert main(["review", *command, *more]) == 2
            assert message in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.stack
def test_the_example_of_the_page(asked_demo: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    check_page("review-jobs.md")


def test_the_example_is_the_job_of_the_demo_but_for_its_change() -> None:
    old, new = (
        (ROOT / path).read_text(encoding="utf-8").splitlines()
        for path in ("spark_jobs/flights/delays.py", "docs/examples/review/delays.py")
    )
    changed = [line for line in difflib.ndiff(old, new) if line[:2] in ("- ", "+ ")]
    assert [line[:2] + line[2:].strip() for line in changed[:3]] == [
        "- LATE_MINUTES = 15  # what the US Department of Transportation counts as delayed",
        "+ LATE_MINUTES = 20  # more than the US Department of Transportation counts as delayed",
        '- F.max("dep_delay").alias("max_delay"),',
    ]
    assert changed[3].replace('"max_delay", ', "")[2:] == changed[4][2:]
    assert len(changed) == 5
