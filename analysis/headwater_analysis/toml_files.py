"""TOML files as pydantic models; a mistake is reported with its line, its field, and the nearest known name."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from headwater_analysis.errors import QuestionError

Model = TypeVar("Model", bound=BaseModel)
Place = tuple[str | int, ...]
"""Path of a value: `("rule", 3, "severity")`."""

_MOST_BYTES: Final = 1_000_000
_MOST_MISTAKES: Final = 10
_HEADING: Final = re.compile(r"\s*\[\[?\s*(\w+)\s*\]\]?")
_KEY: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)\s*=""")


@dataclass(frozen=True, slots=True)
class TomlFile(Generic[Model]):
    """A kind of TOML file.

    Attributes:
        model: model of its content.
        what: name of the kind, for messages: `policy`.
        tables: models of its tables, for the nearest known name.
    """

    model: type[Model]
    what: str
    tables: Mapping[str, type[BaseModel]] = field(default_factory=dict)

    def load(self, path: Path, context: Any = None) -> Model:
        """Read a file.

        Args:
            context: for validators of the model.

        Raises:
            QuestionError: the file can't be read, or its content isn't valid; with line and field.
        """
        try:
            with path.open("rb") as file:
                content = file.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                message = f"{path} is larger than {_MOST_BYTES:,} bytes: that is no {self.what}."
                raise QuestionError(message, field=self.what)
            text = content.decode("utf-8")
        except OSError as error:
            raise QuestionError(f"The {self.what} {path} can't be read: {error.strerror}.", field=self.what) from error
        except UnicodeDecodeError as error:
            raise QuestionError(
                f"The {self.what} {path} isn't UTF-8 at byte {error.start}.", field=self.what
            ) from error
        return self.parse(text, str(path), context)

    def parse(self, text: str, name: str, context: Any = None) -> Model:
        """Parse the content of a file; `name` is for messages.

        Raises:
            QuestionError: see `load`.
        """
        try:
            return self.model.model_validate(tomllib.loads(text), context=context)
        except tomllib.TOMLDecodeError as error:
            raise QuestionError(f"{name} is no TOML: {error}", field=self.what) from error
        except ValidationError as error:
            lines = dict(_located(text))
            # Without the values, which may be secrets.
            found = error.errors(include_url=False, include_input=False)
            mistakes = [self._mistake(name, lines, each) for each in found]
        more = [f"… and {len(mistakes) - _MOST_MISTAKES} more"] if len(mistakes) > _MOST_MISTAKES else []
        raise QuestionError("\n".join([*mistakes[:_MOST_MISTAKES], *more]), field=self.what)

    def _mistake(self, name: str, lines: Mapping[Place, int], error: Any) -> str:
        where: Place = tuple(error["loc"])
        message = error["msg"].removeprefix("Value error, ")
        key = str(where[-1]) if where else ""
        if error["type"] == "extra_forbidden":
            message = f"unknown{self._nearest(where)}"
        elif error["type"] == "missing":
            message = "is missing"
        # A mistake of a whole table names its field first.
        elif error["type"] == "value_error" and re.match(r"(\w+): ", message):
            key, _, message = message.partition(": ")
            where = (*where, key)
        depth = next((depth for depth in range(len(where), 0, -1) if where[:depth] in lines), 0)
        line = f":{lines[where[:depth]]}" if depth else ""
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
        return f"{name}{line}: {path}: {message}" if path else f"{name}{line}: {message}"

    def _nearest(self, where: Place) -> str:
        table = self.tables.get(str(where[0])) if len(where) > 1 else self.model
        known = [info.alias or field for field, info in table.model_fields.items()] if table else []
        nearest = difflib.get_close_matches(str(where[-1]), known, n=1, cutoff=0.5)
        return f"; did you mean `{nearest[0]}`?" if nearest else f"; there are {', '.join(known)}"


def _located(text: str) -> Iterator[tuple[Place, int]]:
    """Line, from 1, of each table and of each of its keys."""
    counts: dict[str, int] = {}
    table: Place = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if heading := _HEADING.match(line):
            name = heading[1]
            counts[name] = counts.get(name, -1) + 1
            table = (name, counts[name]) if line.lstrip().startswith("[[") else (name,)
            yield table, number
            if table == (name, 0):
                yield (name,), number
        elif key := _KEY.match(line):
            yield (*table, _unquoted(key[1])), number


def _unquoted(key: str) -> str:
    try:
        return next(iter(tomllib.loads(f"{key} = 0")))
    except tomllib.TOMLDecodeError:
        return key  # a line of a text that only looks like a key
