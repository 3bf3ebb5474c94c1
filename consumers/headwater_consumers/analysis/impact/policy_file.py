"""Policies from files: a mistake is told with its line, its field, and what is allowed there."""

from __future__ import annotations

import difflib
import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from headwater_consumers.analysis.errors import QuestionError
from headwater_consumers.analysis.impact.policy import Policy, Raise, Reading, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MOST_BYTES = 1_000_000
_MOST_TOLD = 10
_HEADING = re.compile(r"\s*\[\[?\s*(\w+)\s*\]\]?")
_TABLES: dict[str, type[BaseModel]] = {"rule": Rule, "raise": Raise, "reading": Reading}


@cache
def default_policy() -> Policy:
    """The policy that comes with Headwater."""
    return parse_policy(default_policy_text(), "default_policy.toml")


def default_policy_text() -> str:
    """Its file, to begin one with."""
    return files(__package__).joinpath("default_policy.toml").read_text(encoding="utf-8")


def load_policy(path: Path) -> Policy:
    """The policy of a file.

    Raises:
        QuestionError: it can't be read, or says what no policy can; with line and field.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise QuestionError(f"{path} is larger than {_MOST_BYTES:,} bytes: that is no policy.", field="policy")
        text = content.decode("utf-8")
    except OSError as error:
        raise QuestionError(f"The policy {path} can't be read: {error.strerror}.", field="policy") from error
    except UnicodeDecodeError as error:
        raise QuestionError(f"The policy {path} isn't UTF-8 at byte {error.start}.", field="policy") from error
    return parse_policy(text, str(path))


def parse_policy(text: str, name: str) -> Policy:
    """The policy that `text` says; `name` is for messages.

    Raises:
        QuestionError: see `load_policy`.
    """
    try:
        return Policy.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise QuestionError(f"{name} is no TOML: {error}", field="policy") from error
    except ValidationError as error:
        lines = _lines(text)
        told = [_told(name, lines, each) for each in error.errors(include_url=False)]
        more = [f"… and {len(told) - _MOST_TOLD} more"] if len(told) > _MOST_TOLD else []
        raise QuestionError("\n".join([*told[:_MOST_TOLD], *more]), field="policy") from error


def _told(name: str, lines: dict[tuple[str | int, ...], int], error: Any) -> str:
    where: tuple[str | int, ...] = tuple(error["loc"])
    message = error["msg"].removeprefix("Value error, ")
    field = str(where[-1]) if where else ""
    if error["type"] == "extra_forbidden":
        message = f"unknown{_nearest(where)}"
    elif error["type"] == "missing":
        message = "is missing"
    # A mistake of a whole table names its field first.
    elif error["type"] == "value_error" and re.match(r"(\w+): ", message):
        field, _, message = message.partition(": ")
        where = (*where, field)
    depth = next((depth for depth in range(len(where), 0, -1) if where[:depth] in lines), 0)
    line = f":{lines[where[:depth]]}" if depth else ""
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    return f"{name}{line}: {path}: {message}" if path else f"{name}{line}: {message}"


def _nearest(where: tuple[str | int, ...]) -> str:
    table = _TABLES.get(str(where[0])) if len(where) > 1 else Policy
    known = [info.alias or field for field, info in table.model_fields.items()] if table else []
    nearest = difflib.get_close_matches(str(where[-1]), known, n=1, cutoff=0.5)
    return f"; did you mean `{nearest[0]}`?" if nearest else f"; there are {', '.join(known)}"


def _lines(text: str) -> dict[tuple[str | int, ...], int]:
    """The line, from 1, of each table and of each of its keys: `("rule", 3, "severity")`."""
    return dict(_located(text))


def _located(text: str) -> Iterator[tuple[tuple[str | int, ...], int]]:
    counts: dict[str, int] = {}
    table: tuple[str | int, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _HEADING.match(line):
            name = heading[1]
            counts[name] = counts.get(name, -1) + 1
            table = (name, counts[name]) if line.lstrip().startswith("[[") else (name,)
            yield table, number
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            yield (*table, key[1]), number
