"""Exemptions: findings that a team has reviewed and accepts until a day, in a reviewed YAML file.

exemptions:
  - rule: written-from-outside
    subject: s3://lake/warehouse/orders
    reason: compacted every night by the lake team
    owner: team:lake
    until: 2026-12-31
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import yaml

from headwater_analysis.checks.rules import RULES

_FIELDS = ("rule", "subject", "reason", "owner", "until")


class ExemptionsError(Exception):
    """The file has mistakes: the error has the line and field of each."""


@dataclass(frozen=True, slots=True)
class Exemption:
    """One exemption.

    Attributes:
        subject: the dataset, job or consumer, as questions take it: a name or a key.
        reason: reason why the finding is accepted.
        owner: person or team that answers for the exemption.
        until: last day of the exemption.
    """

    rule: str
    subject: str
    reason: str
    owner: str
    until: date
    line: int


def read_exemptions(text: str, name: str) -> tuple[Exemption, ...]:
    """Return the exemptions of a file.

    Args:
        name: name of the file, for messages.

    Raises:
        ExemptionsError: the file isn't YAML, or has fields or values that aren't allowed; the error has all mistakes,
            one on each line.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = 0 if error.problem_mark is None else error.problem_mark.line + 1
        raise ExemptionsError(f"{name}:{line}: {error.problem or 'no YAML'}") from error
    except yaml.YAMLError as error:
        raise ExemptionsError(f"{name}: {error}") from error
    except RecursionError as error:
        raise ExemptionsError(f"{name}: it is nested too deeply; exemptions are a list of mappings") from error
    mistakes: list[str] = []
    found = list(_entries(root, name, mistakes))
    seen: dict[tuple[str, str], int] = {}
    for each in found:
        first = seen.setdefault((each.rule, each.subject), each.line)
        if first != each.line:
            mistakes.append(f"{name}:{each.line}: subject: {each.subject} is exempted from {each.rule} on line {first}")
    if mistakes:
        raise ExemptionsError("\n".join(mistakes))
    return tuple(found)


def _entries(root: yaml.Node | None, name: str, mistakes: list[str]) -> Iterator[Exemption]:
    if root is None:
        return
    top = _mapping(root)
    if top is None or set(top) != {"exemptions"} or not isinstance(top["exemptions"], yaml.SequenceNode):
        mistakes.append(f"{name}:{root.start_mark.line + 1}: the file has one key, `exemptions`, with a list")
        return
    for node in top["exemptions"].value:
        line = node.start_mark.line + 1
        entry = _mapping(node)
        if entry is None:
            mistakes.append(f"{name}:{line}: an exemption is a mapping of {', '.join(_FIELDS)}")
            continue
        wrong = [*_mistakes(entry, line)]
        mistakes += [f"{name}:{at}: {field}: {what}" for at, field, what in wrong]
        if not wrong:
            rule, subject, reason, owner, until = (str(entry[field].value) for field in _FIELDS)
            yield Exemption(rule, subject, reason, owner, date.fromisoformat(until), line)


def _mistakes(entry: Mapping[str, yaml.Node], line: int) -> Iterator[tuple[int, str, str]]:
    """Line, field and description of each mistake."""
    for field, node in entry.items():
        at = node.start_mark.line + 1
        if field not in _FIELDS:
            nearest = difflib.get_close_matches(field, _FIELDS, n=1, cutoff=0.0)[0]
            yield at, field, f"unknown; the nearest known one is {nearest}"
        elif not isinstance(node, yaml.ScalarNode) or not str(node.value).strip():
            yield at, field, "a text is required"
    for field in _FIELDS:
        if field not in entry:
            yield line, field, "missing"
    rule, until = entry.get("rule"), entry.get("until")
    names = [each.name for each in RULES]
    if isinstance(rule, yaml.ScalarNode) and str(rule.value) not in names:
        nearest = difflib.get_close_matches(str(rule.value), names, n=1, cutoff=0.0)[0]
        yield rule.start_mark.line + 1, "rule", f"there is no rule {rule.value!r}; the nearest is {nearest}"
    if isinstance(until, yaml.ScalarNode) and not _is_day(str(until.value)):
        yield until.start_mark.line + 1, "until", f"{until.value!r} is no day; write it as 2026-12-31"


def _mapping(node: yaml.Node) -> dict[str, yaml.Node] | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return {str(key.value): value for key, value in node.value}


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return len(text) == len("2026-12-31")
