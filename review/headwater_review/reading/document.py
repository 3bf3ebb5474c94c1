"""JSON with the line of each value; accessors that check values and report mistakes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path
from headwater_analysis.declaring.yaml_lines import parse_yaml

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+)')
_DEEPEST = 200
_MOST_OBJECTS = 200_000


class JsonDocument:
    """A JSON document, for reading by path.

    Args:
        file: name of the file, for messages.

    Raises:
        DeclarationError: the text isn't JSON, has a key twice, or is nested too deep.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._lines: dict[Path, int] = {}
        self._objects = 0
        try:
            self.value: Any = json.loads(text, parse_constant=self._constant)
        except json.JSONDecodeError as error:
            raise DeclarationError([FileProblem(file, error.lineno, (), f"not JSON: {error.msg}")]) from error
        except RecursionError as error:
            raise DeclarationError([FileProblem(file, 1, (), f"nested deeper than {_DEEPEST} levels")]) from error
        except ValueError as error:
            # The text may have an integer with thousands of digits.
            raise DeclarationError([FileProblem(file, 1, (), f"not JSON: {error}")]) from error
        self._locate(text)

    def line(self, path: Path) -> int:
        """Line where a value begins; for a value of an object, the line of its key."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 1)

    def wrong(self, path: Path, message: str) -> DeclarationError:
        """Build the error for a wrong value, with file, line and field."""
        return DeclarationError([FileProblem(self.file, self.line(path), path, message)])

    def object(self, value: Any, path: Path) -> Mapping[str, Any]:
        """Return the value as an object. Fails after too many calls, so that endless references end."""
        self._objects += 1
        if self._objects > _MOST_OBJECTS:
            raise self.wrong(path[:8], f"has more than {_MOST_OBJECTS:,} objects, references followed")
        if not isinstance(value, dict):
            raise self.wrong(path, "must be an object")
        return value

    def items(self, value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
        """Items of a list, each with its path."""
        if not isinstance(value, list):
            raise self.wrong(path, "must be a list")
        return ((item, (*path, index)) for index, item in enumerate(value))

    def name(self, object_: Mapping[str, Any], path: Path) -> str:
        """Name of a column, from its `name`."""
        name = object_.get("name")
        if not isinstance(name, str) or not name:
            raise self.wrong(
                (*path, "name"), "must be the column's name, a text" if "name" in object_ else "is missing"
            )
        return name

    def text(self, object_: Mapping[str, Any], key: str, path: Path) -> str | None:
        """Text of a key; None if missing, null or empty."""
        value = object_.get(key)
        if value is not None and not isinstance(value, str):
            raise self.wrong((*path, key), "must be a text")
        return value or None

    def flag(self, object_: Mapping[str, Any], key: str, path: Path) -> bool | None:
        """Boolean of a key; None if missing."""
        value = object_.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong((*path, key), "must be true or false")
        return value

    def enum(self, value: Any, path: Path) -> tuple[str, ...] | None:
        """Allowed values of a column, as texts; None stays None."""
        if value is None:
            return None
        return tuple(sorted({shown(item) for item, _ in self.items(value, path) if item is not None}))

    def _constant(self, name: str) -> NoReturn:
        raise DeclarationError([FileProblem(self.file, 1, (), f"not JSON: {name} is no JSON value")])

    def _locate(self, text: str) -> None:
        """Record the line of every value. The text is known to be valid JSON, so scanning its tokens suffices."""
        line, at = 1, 0
        path: list[str | int] = []
        kinds: list[str] = []
        expects_key = False
        for token in _TOKEN.finditer(text):
            line += text.count("\n", at, token.start(1))
            at = token.start(1)
            word = token[1]
            if word == "," and kinds[-1] == "[":
                path[-1] = int(path[-1]) + 1
            elif word == ",":
                expects_key = True
            elif word in "]}":
                kinds.pop()
                path.pop()
                expects_key = False
            elif expects_key and word.startswith('"'):
                path[-1], expects_key = json.loads(word), False
                if tuple(path) in self._lines:
                    raise self.wrong(tuple(path), "the key is there twice")
                self._lines[tuple(path)] = line
            elif word != ":":
                self._lines.setdefault(tuple(path), line)
                if word in "[{":
                    kinds.append(word)
                    path.append(0 if word == "[" else "")
                    expects_key = word == "{"
                    if len(path) > _DEEPEST:
                        raise self.wrong((), f"nested deeper than {_DEEPEST} levels")


class YamlDocument(JsonDocument):
    """A YAML document, for reading by path.

    Raises:
        DeclarationError: the text isn't YAML, or has several documents.
    """

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self._objects = 0
        self._located = parse_yaml(file, text)
        self.value = self._located.value

    def line(self, path: Path) -> int:
        """Line where a value begins."""
        return self._located.line(path)


def shown(value: Any) -> str:
    """Text of an enum's value: a text unchanged, any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)
