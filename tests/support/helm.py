"""Helm, built from its Go module into the cache by the first who asks; tests that need it are skipped without Go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from headwater.stack.paths import cache_dir
from support.waiting import patience

ROOT = Path(__file__).parents[2]
CHART = ROOT / "ops" / "helm" / "headwater"

VERSION = "v4.3.1"
_MODULE = "helm.sh/helm/v4/cmd/helm"
# What Go prints where it can't have the module or the version of Go that the module asks for.
_UNREACHABLE = re.compile(r"dial tcp|no such host|i/o timeout|connection refused|requires go >=|invalid go version")


def helm_program() -> Path:
    """Return the path of Helm; building it takes some minutes. Skips where there is no Go that can."""
    program = cache_dir() / "helm" / VERSION / "helm"
    if program.exists():
        return program
    go = shutil.which("go")
    if go is None:
        pytest.skip(f"Go is not installed, of which Helm {VERSION} is built")
    program.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="draft.", dir=program.parent) as draft:
        built = subprocess.run(
            [go, "install", f"{_MODULE}@{VERSION}"],
            env={**os.environ, "GOBIN": draft, "GOFLAGS": "-p=2"},
            capture_output=True,
            text=True,
            timeout=patience(1_800),
            check=False,
        )
        if built.returncode != 0 and _UNREACHABLE.search(built.stderr):
            pytest.skip(f"Go can't build Helm {VERSION} here: {built.stderr[-400:]}")
        assert built.returncode == 0, built.stderr[-4000:]
        (Path(draft) / "helm").rename(program)
    return program


def helm(*arguments: object, home: Path) -> subprocess.CompletedProcess[str]:
    """Run Helm, with its settings and cache in `home`."""
    return subprocess.run(
        [helm_program(), *map(str, arguments)],
        env={"PATH": os.environ["PATH"], "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=patience(60),
        check=False,
    )


def rendered(values: dict[str, Any], home: Path, *arguments: str) -> list[dict[str, Any]]:
    """Objects that the chart makes of values, by `helm template`, with `arguments` behind it."""
    file = home / "values.yaml"
    file.write_text(yaml.safe_dump(values), encoding="utf-8")
    done = helm("template", "lineage", CHART, "--namespace", "lineage", "--values", file, *arguments, home=home)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]
