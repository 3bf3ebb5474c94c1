"""The Dockerfile: pinned, non-root, and given every file that the wheel is built from."""

from __future__ import annotations

import fnmatch
import json
import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def instructions() -> list[tuple[str, str]]:
    """The file as (INSTRUCTION, arguments), continued lines joined and comments left out."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [
        (word.upper(), rest.strip()) for word, _, rest in (line.partition(" ") for line in joined.splitlines()) if word
    ]


def stages() -> list[list[tuple[str, str]]]:
    split: list[list[tuple[str, str]]] = []
    for one in instructions():
        if one[0] == "FROM":
            split.append([])
        split[-1].append(one)
    return split


def only(stage: list[tuple[str, str]], word: str) -> str:
    (rest,) = [rest for instruction, rest in stage if instruction == word]
    return rest


def test_both_stages_stand_on_one_exact_python() -> None:
    """The environment is copied between them, and a virtual environment holds the interpreter's path and version."""
    bases = [only(stage, "FROM").split()[0] for stage in stages()]
    assert len(bases) == 2
    assert len(set(bases)) == 1
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+", bases[0])


def test_the_final_stage_runs_headwater_as_nobody_in_particular() -> None:
    final = stages()[-1]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", only(final, "USER"))
    assert json.loads(only(final, "ENTRYPOINT")) == ["headwater"]
    assert json.loads(only(final, "CMD")) == ["consume"]
    after_user = [word for word, _ in final][[word for word, _ in final].index("USER") :]
    assert "RUN" not in after_user
    assert "HEALTHCHECK" in after_user


def test_only_the_extras_of_its_services_are_installed_from_the_lock() -> None:
    syncs = [rest for word, rest in stages()[0] if word == "RUN" and "uv sync" in rest]
    assert len(syncs) == 2
    for sync in syncs:
        assert {"--locked", "--no-dev"} <= set(sync.split())
        assert re.findall(r"--extra (\S+)", sync) == ["materializer", "api", "tracing"]
    assert "--no-install-project" in syncs[0]
    assert "--no-editable" in syncs[1]


def test_uv_is_pinned_and_new_enough() -> None:
    (uv,) = re.findall(r"uv==(\d+)\.(\d+)\.\d+", " ".join(rest for _, rest in stages()[0]))
    minimum = re.fullmatch(r">=(\d+)\.(\d+)", PROJECT["tool"]["uv"]["required-version"])
    assert minimum is not None
    assert tuple(map(int, uv)) >= tuple(map(int, minimum.groups()))


def test_what_the_wheel_is_built_from_is_copied_and_not_ignored() -> None:
    copied = {source.rstrip("/") for word, rest in stages()[0] if word == "COPY" for source in rest.split()[:-1]}
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {package.split("/")[0] for package in wheel["packages"]} | set(wheel.get("force-include", {}))
    needed |= {"pyproject.toml", "uv.lock", PROJECT["project"]["readme"], *PROJECT["project"]["license-files"]}
    assert needed <= copied
    assert [name for name in copied if not (ROOT / name).exists()] == []
    let_in = {
        line[1:].rstrip("/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")
    }
    assert copied == {name for name in copied if any(fnmatch.fnmatch(name, pattern) for pattern in let_in)}
