"""YAML as plain values, with the line that each began in.

PyYAML composes a tree of nodes with their places, in C where libyaml is there (decisions: pyyaml). Text, numbers,
booleans and null are made of it here; nothing else is, so no file makes an object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from headwater_consumers.declaring.problems import DeclarationError, Problem

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_VALUES = 5_000_000
"""Values of one file. Aliases repeat what they stand for, so that a few lines could be billions."""
_DEEPEST = 60

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Marked:
    """A document.

    Attributes:
        value: its dicts, lists, texts, numbers, booleans and None.
        lines: line of each key, item and value, from 1, by its path.
    """

    value: Any
    lines: dict[Path, int] = field(default_factory=dict)

    def line(self, path: Path) -> int:
        """The line of a path, or of the nearest that is there above it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def marked(file: str, text: str) -> Marked:
    """The one document of a YAML text.

    Raises:
        DeclarationError: it isn't YAML, has a key twice, or more than a file may have.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else min(mark.line, text.rstrip().count("\n")) + 1
        raise DeclarationError([Problem(file, line, "", f"not YAML: {error.problem or error.context}")]) from error
    except yaml.YAMLError as error:
        raise DeclarationError([Problem(file, 1, "", f"not YAML: {' '.join(str(error).split())}")]) from error
    except RecursionError as error:
        raise DeclarationError([Problem(file, 1, "", f"nested deeper than {_DEEPEST} levels")]) from error
    reading = _Reading(file)
    value = None if root is None else reading.value(root, ())
    return Marked(value, reading.lines)


class _Reading:
    def __init__(self, file: str) -> None:
        self._file = file
        self.lines: dict[Path, int] = {}
        self._loader = yaml.SafeLoader("")

    def value(self, node: Any, path: Path) -> Any:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(self.lines) > _MOST_VALUES:
            raise self._error(line, path, f"the file has more than {_MOST_VALUES:,} values")
        if len(path) > _DEEPEST:
            raise self._error(line, path, f"nested deeper than {_DEEPEST} levels, or an alias within its own anchor")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise self._error(line, path, "a key is a plain text here")
            if key_node.tag == "tag:yaml.org,2002:merge":
                raise self._error(line, path, "merge keys (`<<`) aren't taken; write an alias for the whole value")
            key = key_node.value
            if key in out:
                raise self._error(line, (*path, key), "the key is there twice")
            self.lines[*path, key] = line
            out[key] = self.value(value_node, (*path, key))
        return out

    def _scalar(self, node: Any, path: Path) -> Any:
        # A date stays the text that it is: nothing here is a date.
        if node.tag == "tag:yaml.org,2002:timestamp":
            return node.value
        try:
            value = self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise self._error(node.start_mark.line + 1, path, f"{node.tag} isn't taken") from error
        if not isinstance(value, str | int | float | None):
            raise self._error(node.start_mark.line + 1, path, f"{node.tag} isn't taken")
        return value

    def _error(self, line: int, path: Path, message: str) -> DeclarationError:
        return DeclarationError([Problem(self._file, line, field_of(path), message)])


def field_of(path: Path) -> str:
    """A path as it is written: `datasets[0].columns["value.tailnum"].sensitivity`."""
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif re.fullmatch(r"[\w-]+", step):
            out += f".{step}" if out else step
        else:
            out += json.dumps([step], ensure_ascii=False)
    return out
