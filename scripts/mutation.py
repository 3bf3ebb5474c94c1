"""Mutation testing of the code for identities, joins and rules: one change at a time, and a test has to fail.

    uv run scripts/mutation.py --list
    nice uv run scripts/mutation.py identity --output build/identity.json
    uv run scripts/mutation.py fold --module run.py
    uv run scripts/mutation.py derive --tests tests/unit/fold --output build/derive.json    by quick tests first
    uv run scripts/mutation.py derive --again build/derive.json         only earlier survivors, by all tests

No file is changed. Most mutants change a function, and are tried in one session of pytest, each in a forked process
(mutated_session.py): a mutant that is killed takes a few hundredths of a second. Each other mutant is imported instead
of its module, in a forked process that has third-party packages already loaded: this takes some seconds. A mutant that
makes the tests take four times as long also counts as noticed. Child processes of a test use the unchanged module.

docs/reliability/mutation.md has the scores, and explains the mutants that survive.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.machinery
import importlib.util
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, NoReturn

from mutants import mutants
from mutated_session import outcomes

ROOT: Final = Path(__file__).resolve().parents[1]
_SCHEMAS: Final = "schemas/headwater_schemas"
_FOLD: Final = "graph/headwater_graph/fold"
_FACTS: Final = "graph/headwater_graph/facts"
_SPARK: Final = "producers/headwater_producers/spark"
_PRELOADED: Final = ("pytest", "hypothesis", "hypothesis.strategies", "msgspec", "fastavro", "pydantic", "neo4j")
_SLOWER: Final = 4.0
_LEAST_LIMIT_SECONDS: Final = 30.0
_LOOK_SECONDS: Final = 0.01
_PROGRESS: Final = 50
_PYTEST: Final = ("-x", "-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-seed=0")
_PLUGINS: Final = "pytest_timeout,_hypothesis_pytestplugin"


@dataclass(frozen=True, slots=True)
class MutatedArea:
    """Part of the code to mutate, with the tests that have to notice.

    Attributes:
        tests: tests for pytest, in order of usefulness.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def files(self) -> list[Path]:
        """Files of the area's modules, in order."""
        found: list[Path] = []
        for name in self.modules:
            path = ROOT / name
            found += sorted(path.glob("*.py")) if path.is_dir() else [path]
        return found


_CONTRACT: Final = ("tests/contract/schemas/test_pinned_identities.py", "tests/contract/schemas/test_golden_events.py")
_REDACTED: Final = "tests/unit/schemas/test_redaction.py"
AREAS: Final[dict[str, MutatedArea]] = {
    "identity": MutatedArea(
        (f"{_SCHEMAS}/identity.py",),
        (*_CONTRACT, "tests/unit/schemas/test_identity.py", "tests/property/test_identity_laws.py"),
    ),
    "rules": MutatedArea(
        (f"{_SCHEMAS}/rules.py",),
        ("tests/unit/schemas/test_rules.py", "tests/unit/schemas/test_codec.py", *_CONTRACT),
    ),
    "codec": MutatedArea(
        (f"{_SCHEMAS}/codec.py",),
        (
            "tests/unit/schemas/test_codec.py",
            "tests/unit/schemas/test_repeated_bodies.py",
            *_CONTRACT,
            "tests/contract/schemas/test_evolution.py",
            "tests/unit/schemas/test_schema_store.py",
            "tests/property/test_codec_round_trip.py",
        ),
    ),
    "redaction": MutatedArea(
        tuple(
            f"{_SCHEMAS}/{name}.py"
            for name in ("redaction", "redacted_values", "secret_names", "secret_shapes", "sql_text")
        ),
        # Tests of duration take most of the time and don't depend on a changed word.
        (_REDACTED, "tests/unit/schemas/test_redacted_values.py", f"--deselect={_REDACTED}::test_no_text_takes_long"),
    ),
    "fold": MutatedArea((_FACTS, _FOLD), ("tests/unit/fold", "tests/property/fold")),
    # Parts of the fold, which are judged by tests of their own in seconds.
    "parts": MutatedArea(
        (f"{_FOLD}/disjoint.py", "graph/headwater_graph/write/parts.py"),
        ("tests/unit/fold/test_disjoint.py", "tests/unit/materializer/test_parts.py"),
    ),
    "rejection": MutatedArea((f"{_FOLD}/rejection.py",), ("tests/unit/fold/test_reject.py",)),
    "derive": MutatedArea(
        ("graph/headwater_graph/derive.py",),
        (
            "tests/unit/fold",
            "tests/property/fold/test_next_of_neighbours.py",
            "tests/property/fold/test_fold_is_a_join.py",
        ),
    ),
    "reconcile": MutatedArea(
        (
            *(f"{_SPARK}/streaming/{name}.py" for name in ("backfill", "checkpoint", "origins", "rebuild")),
            f"{_SPARK}/left_writes",
            "cli/headwater/reconciling",
        ),
        (
            "tests/unit/reconcile",
            "tests/unit/capture/test_checkpoint.py",
            "tests/unit/cli/test_reconciling.py",
            "tests/unit/capture/test_backfill.py",
            "tests/unit/capture/test_left_writes.py",
            "tests/unit/capture/test_way_of_a_micro_batch.py",
            "tests/unit/capture/test_observed_and_not_emitted.py",
            "tests/unit/cli/test_reconcile.py",
        ),
    ),
}


class _Changed(importlib.machinery.SourceFileLoader):
    """Loader of one module from a changed text."""

    def __init__(self, name: str, path: Path, source: str) -> None:
        super().__init__(name, str(path))
        self._source = source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of this module; None for any other module."""
        del path, target
        return (
            importlib.util.spec_from_file_location(fullname, self.path, loader=self) if fullname == self.name else None
        )

    def get_code(self, fullname: str) -> CodeType:
        """Compile the changed text."""
        del fullname
        return compile(self._source, self.path, "exec", dont_inherit=True)


def module_name(path: Path) -> str:
    """Import name of a file of one of the packages."""
    parts = path.relative_to(ROOT).with_suffix("").parts[1:]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_tests(path: Path, source: str, tests: Sequence[str], limit_seconds: float) -> str:
    """Run the tests in a forked process with this text of a module; return `passed`, `failed` or `too long`."""
    child = os.fork()
    if child == 0:
        _run_tests_here(path, source, tests)
    deadline = time.monotonic() + limit_seconds
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return "passed" if os.waitstatus_to_exitcode(status) == 0 else "failed"
        if time.monotonic() > deadline:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "too long"
        time.sleep(_LOOK_SECONDS)


def _run_tests_here(path: Path, source: str, tests: Sequence[str]) -> NoReturn:
    """Run the tests and end this process with pytest's status."""
    status = 1
    try:
        os.setpgid(0, 0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        import pytest

        sys.meta_path.insert(0, _Changed(module_name(path), path, source))
        status = int(pytest.main([*_PYTEST, *tests]))
    finally:
        os._exit(status)


def preload() -> None:
    """Import third-party packages once for all mutants' tests; nothing of Headwater."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ["PYTEST_PLUGINS"] = _PLUGINS
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp(prefix="mutation-")
    for name in _PRELOADED:
        importlib.import_module(name)
    from hypothesis import Phase, settings

    # Any failing example is enough, so examples aren't shrunk. The tests derive their profiles from the loaded profile.
    settings.register_profile("mutation", phases=(Phase.explicit, Phase.generate))
    settings.load_profile("mutation")


def examine(
    area: MutatedArea, names: Sequence[str], sample: int | None, before: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Try every mutant of an area; return the counts and the survivors of each module.

    Args:
        names: names of the files to mutate; empty: all.
        sample: try only every n-th mutant; None: all.
        before: result of an earlier call; only its survivors are tried, and its killed mutants count as killed.

    Raises:
        SystemExit: the tests fail without any change.
    """
    chosen = [path for path in area.files if not names or path.name in names]
    begun = time.monotonic()
    if run_tests(chosen[0], chosen[0].read_text(encoding="utf-8"), area.tests, 3_600) != "passed":
        raise SystemExit(f"These tests fail without a change: {' '.join(area.tests)}")
    limit = max((time.monotonic() - begun) * _SLOWER, _LEAST_LIMIT_SECONDS)
    print(f"without a change {limit / _SLOWER:.0f} s, given up after {limit:.0f} s", file=sys.stderr)
    modules = {}
    for path in chosen:
        name = str(path.relative_to(ROOT))
        counts = {"failed": 0, "too long": 0, "passed": 0}
        survivors = []
        tried_mutants = mutants(path.read_text(encoding="utf-8"))[:: sample or 1]
        if before is not None:
            survivors_before = {(one["before"], one["after"]) for one in before["modules"][name]["survivors"]}
            survivors_again = [mutant for mutant in tried_mutants if (mutant.before, mutant.after) in survivors_before]
            counts["failed"], tried_mutants = len(tried_mutants) - len(survivors_again), survivors_again
        outcomes_so_far = []
        for tried in outcomes([(path, mutant.source) for mutant in tried_mutants], [*_PYTEST, *area.tests]):
            outcomes_so_far.append(tried)
            if len(outcomes_so_far) % _PROGRESS == 0:
                print(
                    f"{name}: {len(outcomes_so_far)} of {len(tried_mutants)}, {Counter(outcomes_so_far)}",
                    file=sys.stderr,
                    flush=True,
                )
        for mutant, tried in zip(tried_mutants, outcomes_so_far, strict=True):
            outcome = run_tests(path, mutant.source, area.tests, limit) if tried == "not tried" else tried
            counts[outcome] += 1
            if outcome == "passed":
                survivors.append({"line": mutant.line, "before": mutant.before, "after": mutant.after})
                print(f"survived: {name}:{mutant.line}: {mutant.before} -> {mutant.after}", file=sys.stderr, flush=True)
        total = sum(counts.values())
        killed = total - counts["passed"]
        print(f"{name}: {killed} of {total} killed", file=sys.stderr, flush=True)
        modules[name] = {"mutants": total, "killed": killed, "too_long": counts["too long"], "survivors": survivors}
    return {"tests": list(area.tests), "every": sample or 1, "modules": modules}


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("area", nargs="?", choices=sorted(AREAS))
    parser.add_argument("--module", action="append", default=[], help="only this file of the area; may be repeated")
    parser.add_argument(
        "--tests", action="append", default=[], help="run these tests instead of the area's; may be repeated"
    )
    parser.add_argument("--every", type=int, default=None, help="try only every N-th mutant, as a sample")
    parser.add_argument(
        "--again", type=Path, default=None, help="try only the survivors in this file, an earlier --output"
    )
    parser.add_argument("--output", type=Path, default=None, help="write the counts and survivors, JSON, to this file")
    parser.add_argument("--list", action="store_true", help="list the areas with their numbers of mutants")
    arguments = parser.parse_args()
    if arguments.list or arguments.area is None:
        for name, area in AREAS.items():
            count = sum(len(mutants(path.read_text(encoding="utf-8"))) for path in area.files)
            print(f"{name:12} {count:6,} mutants in {len(area.files)} files")
        return
    os.chdir(ROOT)
    preload()
    before = None if arguments.again is None else json.loads(arguments.again.read_text(encoding="utf-8"))
    area = AREAS[arguments.area]
    if arguments.tests:
        area = MutatedArea(area.modules, tuple(arguments.tests))
    result = examine(area, arguments.module, arguments.every, before)
    if arguments.output is not None:
        arguments.output.parent.mkdir(parents=True, exist_ok=True)
        arguments.output.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    total = sum(module["mutants"] for module in result["modules"].values())
    killed = sum(module["killed"] for module in result["modules"].values())
    print(f"{arguments.area}: {killed} of {total} mutants killed, {killed / max(total, 1):.1%}")


if __name__ == "__main__":
    main()
