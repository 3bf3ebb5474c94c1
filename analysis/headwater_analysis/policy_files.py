"""Policies that people write in TOML files: read as a pydantic model, with the line of each mistake.

policy.toml:12: rule[3].severity: Input should be 'BREAKING', …
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from headwater_analysis.errors import QuestionError

_MOST_BYTES: Final = 1_000_000
_MOST_MISTAKES: Final = 10
_HEADING: Final = re.compile(r"\s*\[\[?\s*(\w+)\s*\]\]?")

PolicyT = TypeVar("PolicyT", bound=BaseModel)


def policy_text(path: Path) -> str:
    """Read the text of a policy's file, of at most 1 MB.

    Raises:
        QuestionError: the file can't be read, is too large, or isn't UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise QuestionError(f"{path} is larger than {_MOST_BYTES:,} bytes: that is no policy.", field="policy")
        return content.decode("utf-8")
    except OSError as error:
        raise QuestionError(f"The policy {path} can't be read: {error.strerror}.", field="policy") from error
    except UnicodeDecodeError as error:
        raise QuestionError(f"The policy {path} isn't UTF-8 at byte {error.start}.", field="policy") from error


def parsed_policy(text: str, name: str, model: type[PolicyT], tables: Mapping[str, type[BaseModel]]) -> PolicyT:
    """Parse a policy.

    Args:
        text: text of the file.
        name: name of the file, for messages.
        model: model of the whole file.
        tables: models of its tables, by their names, for the nearest key to an unknown one.

    Raises:
        QuestionError: the text is no TOML, or breaks a rule of the model; each mistake with its line and field.
    """
    try:
        return model.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise QuestionError(f"{name} is no TOML: {error}", field="policy") from error
    except ValidationError as error:
        lines = dict(_located(text))
        mistakes = [_mistake(name, lines, each, model, tables) for each in error.errors(include_url=False)]
        more = [f"… and {len(mistakes) - _MOST_MISTAKES} more"] if len(mistakes) > _MOST_MISTAKES else []
        raise QuestionError("\n".join([*mistakes[:_MOST_MISTAKES], *more]), field="policy") from error


def _mistake(
    name: str,
    lines: Mapping[tuple[str | int, ...], int],
    error: Any,
    model: type[BaseModel],
    tables: Mapping[str, type[BaseModel]],
) -> str:
    where: tuple[str | int, ...] = tuple(error["loc"])
    message = error["msg"].removeprefix("Value error, ")
    field = str(where[-1]) if where else ""
    if error["type"] == "extra_forbidden":
        table = tables.get(str(where[0])) if len(where) > 1 else model
        message = f"unknown{_nearest(field, table)}"
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


def _nearest(field: str, table: type[BaseModel] | None) -> str:
    known = [info.alias or field for field, info in table.model_fields.items()] if table else []
    nearest = difflib.get_close_matches(field, known, n=1, cutoff=0.5)
    return f"; did you mean `{nearest[0]}`?" if nearest else f"; there are {', '.join(known)}"


def _located(text: str) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Line, from 1, of each table and of each of its keys: `("rule", 3, "severity")`."""
    counts: dict[str, int] = {}
    table: tuple[str | int, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _HEADING.match(line):
            name = heading[1]
            counts[name] = counts.get(name, -1) + 1
            table = (name, counts[name]) if line.lstrip().startswith("[[") else (name,)
            yield table, number
            if table == (name, 0):
                yield (name,), number
        elif key := re.match(r"\s*([\w-]+)\s*=", line):
            yield (*table, key[1]), number
