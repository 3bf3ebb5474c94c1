"""YAML as plain values, with the line where each begins.

PyYAML's parser returns events, in C where libyaml is installed (decisions: pyyaml). This module makes only texts,
numbers, booleans and null of these events, so no file can create any other object. PyYAML's own tree of nodes isn't
used: it is built by a recursion in C, which crashes the process on a file of many brackets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import yaml

from headwater_analysis.declaring.problems import DeclarationError, FileProblem, Path

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MOST_VALUES = 5_000_000
"""Maximum number of values of a file. Aliases repeat their anchors, so that a few lines could be billions of values."""
_DEEPEST: Final = 60
_TAB: Final = re.compile(r" *\t")
_COMMENT: Final = re.compile(r":\s+(#[\w-]+)\s*$")
"""Comment that was meant as a value, `on_call: #flights`; with a space after `#` it is a real comment."""
_DATE: Final = "tag:yaml.org,2002:timestamp"

Lines: TypeAlias = "int | tuple[int, dict[str | int, Lines]]"
"""Line where a value begins, from 1; for a mapping or list also the lines of its values, by key or index.

A value in a mapping has the line of its key.
"""


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A YAML or JSON document with the line of each value.

    Attributes:
        value: dicts, lists, texts, numbers, booleans and None. An alias and its anchor share one value.
        lines: line of each value, by path.
    """

    value: Any
    lines: Lines

    def line(self, path: Path) -> int:
        """Line of a path, or of its nearest ancestor in the document."""
        here = self.lines
        for step in path:
            if isinstance(here, int) or step not in here[1]:
                break
            here = here[1][step]
        return here if isinstance(here, int) else here[0]


def parse_yaml(file: str, text: str) -> LocatedDocument:
    """Parse a YAML text, which must have one document.

    Raises:
        DeclarationError: the text isn't YAML, has a key twice, or has more values than a file may have.
    """
    try:
        return _Reading(file, text).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else min(mark.line, text.rstrip().count("\n")) + 1
        what = error.problem or error.context
        if _TAB.match(text.split("\n")[line - 1]):
            what = "a tab before the text; YAML is indented by spaces"
        raise DeclarationError([FileProblem(file, line, (), f"not YAML: {what}")]) from error
    except yaml.YAMLError as error:
        raise DeclarationError([FileProblem(file, 1, (), f"not YAML: {' '.join(str(error).split())}")]) from error


@dataclass(slots=True)
class _Value:
    """Value built from an event and the events nested in it.

    Attributes:
        lines: line of each value in it, by path.
        size: number of values in it, itself included.
    """

    value: Any
    lines: Lines
    size: int


class _Reading:
    def __init__(self, file: str, text: str) -> None:
        self._file = file
        self._rows = text.split("\n")
        self._events: Iterator[Any] = yaml.parse(text, Loader=_Loader)
        self._plain: Any = yaml.SafeLoader("")
        self._anchors: dict[str, _Value] = {}
        self._size = 0

    def document(self) -> LocatedDocument:
        next(self._events)  # the stream begins
        if isinstance(next(self._events), yaml.StreamEndEvent):
            return LocatedDocument(None, 1)
        found = self._value(next(self._events), ())
        next(self._events)  # the document ends
        following = next(self._events)
        if not isinstance(following, yaml.StreamEndEvent):
            raise self._error(following, (), "a file has one YAML document, but a second one begins here")
        return LocatedDocument(found.value, found.lines)

    def _value(self, event: Any, path: Path) -> _Value:
        if len(path) > _DEEPEST:
            raise self._error(event, path, f"nested deeper than {_DEEPEST} levels")
        if isinstance(event, yaml.AliasEvent):
            found = self._alias(event, path)
        elif isinstance(event, yaml.ScalarEvent):
            found = _Value(self._scalar(event, path), _line(event), 1)
        elif isinstance(event, yaml.MappingStartEvent):
            found = self._mapping(event, path)
        else:
            found = self._sequence(event, path)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None and not isinstance(event, yaml.AliasEvent):
            self._anchors[event.anchor] = found
        return found

    def _count(self, event: Any, path: Path, values: int) -> None:
        self._size += values
        if self._size > _MOST_VALUES:
            raise self._error(event, path, f"the file has more than {_MOST_VALUES:,} values")

    def _alias(self, event: Any, path: Path) -> _Value:
        found = self._anchors.get(event.anchor)
        if found is None:
            raise self._error(event, path, f"no anchor &{event.anchor} is complete before this alias")
        self._count(event, path, found.size)
        return found

    def _mapping(self, start: Any, path: Path) -> _Value:
        out: dict[str, Any] = {}
        lines: dict[str | int, Lines] = {}
        size = 1
        self._count(start, path, 1)
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error(event, path, "a key must be plain text")
            key = event.value
            if key == "<<" and event.implicit[0]:
                raise self._error(event, path, "merge keys (`<<`) aren't supported; write an alias for the whole value")
            if key in out:
                raise self._error(event, (*path, key), "the key is there twice")
            found = self._value(next(self._events), (*path, key))
            line = _line(event)
            out[key] = found.value
            lines[key] = line if isinstance(found.lines, int) else (line, found.lines[1])
            size += found.size
        return _Value(out, (_line(start), lines), size)

    def _sequence(self, start: Any, path: Path) -> _Value:
        out: list[Any] = []
        lines: dict[str | int, Lines] = {}
        size = 1
        self._count(start, path, 1)
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            index = len(out)
            found = self._value(event, (*path, index))
            out.append(found.value)
            lines[index] = found.lines
            size += found.size
        return _Value(out, (_line(start), lines), size)

    def _scalar(self, event: Any, path: Path) -> Any:
        self._count(event, path, 1)
        text: str = event.value
        if not text and not event.style and (lost := _COMMENT.search(self._row(event))):
            raise self._error(event, path, f"{lost[1]} is a comment in YAML, so there is no value: put it into quotes")
        if event.tag is None and (not event.implicit[0] or text[:1] not in self._plain.yaml_implicit_resolvers):
            return text
        tag = event.tag
        if tag is None or tag == "!":
            tag = self._plain.resolve(yaml.ScalarNode, text, event.implicit)
        # A date stays a text: fields with a date are texts.
        if tag == _DATE:
            return text
        try:
            value = self._plain.construct_object(yaml.ScalarNode(tag, text, event.start_mark, event.end_mark))
        except (yaml.YAMLError, ValueError) as error:
            raise self._error(event, path, f"{tag} isn't supported") from error
        if not isinstance(value, str | int | float | None):
            raise self._error(event, path, f"{tag} isn't supported")
        return value

    def _row(self, event: Any) -> str:
        row = event.start_mark.line
        return self._rows[row] if row < len(self._rows) else ""

    def _error(self, event: Any, path: Path, message: str) -> DeclarationError:
        return DeclarationError([FileProblem(self._file, _line(event), path, message)])


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1
