"""Time in the gate's tests is asked for by `support.waiting` alone: no sleep, own deadline, or bound on a measurement.

A test marked nightly may measure. So may the scripts that are killed while they wait.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

MAY = {
    "tests/unit/architecture/test_waiting.py": "the names that it looks for",
    "tests/support/waiting.py": "the helper itself",
    "tests/support/crash/job.py": "a driver that is killed while it waits",
    "tests/support/crash/sweep.py": "a crash sweep of the nightly run, which reports its minutes",
    "tests/support/crash/__main__.py": "the same, by hand",
    "tests/integration/openlineage/flink/pay.py": "a job of Flink, in an environment of its own",
    "tests/spark/plan/random_sweep.py": "a study that runs for given minutes",
}
"""Files whose waits and clocks are no test's ⇒ why."""

CLOCKS = {"monotonic", "perf_counter", "process_time", "thread_time", "monotonic_ns", "perf_counter_ns"}
MEMORY = {"tracemalloc", "ru_maxrss", "VmHWM", "VmRSS"}
WAITS = {"run", "check_output", "communicate", "wait", "join", "result", "get", "awaitTermination"}
"""Calls whose `timeout` guards against a hang."""


def faults(source: str) -> Iterator[str]:
    """Lines of a test file that ask for time by themselves, "line: what"."""
    for node in _in_the_gate(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if name == "time.sleep":
                yield f"{node.lineno}: sleeps; wait with eventually or stays"
            if name.partition(".")[2] in CLOCKS and name.startswith("time."):
                yield f"{node.lineno}: reads {name}; wait with eventually, count, or use a fake clock"
            if name.rpartition(".")[2] in WAITS and (seconds := _literal_timeout(node)):
                yield f"{node.lineno}: timeout of {seconds} s; patience({seconds}) knows a slow machine"
        elif isinstance(node, ast.Name | ast.Attribute | ast.Constant) and not MEMORY.isdisjoint(_names(node)):
            yield f"{node.lineno}: measures memory"
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            yield f"{node.lineno}: imports from time by name; this test finds time.sleep by its module"


def _in_the_gate(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of functions and modules that are marked nightly or study."""
    if isinstance(node, ast.Module) and any(_marks(line.value) for line in node.body if isinstance(line, ast.Assign)):
        return
    if isinstance(node, ast.FunctionDef) and any(_marks(decorator) for decorator in node.decorator_list):
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_the_gate(child)


def _marks(node: ast.expr) -> bool:
    nodes = node.elts if isinstance(node, ast.List) else [node]
    return any(_name(each) in {"pytest.mark.nightly", "pytest.mark.study"} for each in nodes)


def _name(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _names(node: ast.Name | ast.Attribute | ast.Constant) -> set[str]:
    text = str(node.value) if isinstance(node, ast.Constant) else _name(node)
    return {text, text.rpartition(".")[2]}


def _literal_timeout(call: ast.Call) -> str | None:
    keywords = [keyword.value for keyword in call.keywords if keyword.arg == "timeout"]
    last = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    positional = call.args[:1] if last in {"join", "wait", "awaitTermination"} else []
    for value in [*keywords, *positional]:
        if isinstance(value, ast.Constant) and isinstance(value.value, int | float) and value.value >= 1:
            return ast.unparse(value)
    return None


def test_only_the_helper_asks_for_time() -> None:
    found = [
        f"{name}:{fault}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if (name := path.relative_to(ROOT).as_posix()) not in MAY
        for fault in faults(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_every_exception_is_needed() -> None:
    for name in MAY:
        assert any(faults((ROOT / name).read_text(encoding="utf-8"))), name


@pytest.mark.parametrize(
    "line",
    [
        "time.sleep(1)",
        "deadline = time.monotonic() + 5",
        "assert time.process_time() - began < 5",
        "process.wait(10)",
        "subprocess.run([], timeout=60)",
        "tracemalloc.start()",
        "peak = memory_mb(pid, 'VmHWM')",
        "from time import sleep",
    ],
)
def test_each_way_to_ask_is_found(line: str) -> None:
    assert len(list(faults(line))) == 1
    assert not list(faults(f"@pytest.mark.nightly\ndef test_it():\n    {line}"))
    assert not list(faults(f"pytestmark = [pytest.mark.nightly]\ndef test_it():\n    {line}"))


def test_what_is_no_wait_is_left_alone() -> None:
    assert not list(faults("process.wait(patience(10)); loop(clock=time.monotonic); event.wait(0.01); text.join(', ')"))
