"""Access policies in Cedar (https://docs.cedarpolicy.com). Only this module uses `cedarpy`.

    @id("flights")
    permit(principal in Group::"flights", action == Action::"read", resource)
    when { resource.namespace == "kafka://broker:9092" };

A policy file is UTF-8 text of at most 1 MiB. Without a `permit` access is denied, and a `forbid` wins over every
`permit`. A policy that fails for a resource, because it reads an attribute that the resource lacks, decides nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import cedarpy

from headwater_server.identity import Identity

_LARGEST_BYTES = 1_048_576
_ASSETS = ("Dataset", "Job", "Consumer", "Graph")
"""Cedar entity types of assets. Decisions depend only on attributes, so the ids of resources are arbitrary."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|[^\s"/;]+|[;"/]')


class AccessFileError(Exception):
    """The file can't be read, or has a mistake. The message names the file and, if known, the line."""


@dataclass(frozen=True, slots=True)
class Resource:
    """Asset that a policy decides about.

    Attributes:
        kind: entity of the schema: Dataset, Job, Consumer or Graph.
        attributes: attributes of the asset, by their names in the schema.
    """

    kind: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """Decision about one resource.

    Attributes:
        allowed: True if the resource is permitted and not forbidden.
        policies: ids of the policies that decided; none if no policy permits it.
        errors: messages of policies that failed.
    """

    allowed: bool
    policies: tuple[str, ...]
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a file."""

    text: str

    @classmethod
    def read(cls, path: Path) -> Policies:
        """Read and validate a file.

        Raises:
            AccessFileError: the file can't be read, isn't Cedar, or doesn't match the schema.
        """
        try:
            with path.open("rb") as file:
                data = file.read(_LARGEST_BYTES + 1)
        except OSError as error:
            raise AccessFileError(f"{path}: {error.strerror}") from error
        if len(data) > _LARGEST_BYTES:
            raise AccessFileError(f"{path} is larger than {_LARGEST_BYTES:,} bytes")
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
            raise AccessFileError(f"{path}:{line}: not UTF-8") from error
        found = cls(text)
        if (mistakes := found.mistakes()) != ():
            raise AccessFileError("; ".join(f"{path}: {each}" for each in mistakes))
        return found

    def mistakes(self) -> tuple[str, ...]:
        """Return the mistakes in the policies, with the first line of each policy; empty if they are valid."""
        policies = _one_by_one(self.text)
        names: dict[str, int] = {}
        for line, policy in policies:
            try:
                parsed = _parsed(policy)
            except (ValueError, RuntimeError) as error:
                return (f"line {line}: {_one_line(error)}",)
            if parsed["templates"]:
                return (f"line {line}: a policy with a slot, such as ?principal, decides nothing here",)
            if ids := sorted(each for kind in _ASSETS for each in _ids_of(_parts(parsed), kind)):
                by = 'resource.namespace == "…" && resource.name == "…"'
                return (f"line {line}: assets have no ids, such as {ids[0]!r}: a policy names them by {by}",)
            for name in _annotated(parsed["staticPolicies"].values()):
                if name in names:
                    return (f"line {line}: the policy of line {names[name]} has the @id {name!r}, too",)
                names[name] = line
        lines = {f"policy{number}": line for number, (line, _) in enumerate(policies)}
        result = cedarpy.validate_policies(self.text, _schema())
        return tuple(_with_line(_one_line(each.error), lines) for each in result.errors or ())

    @property
    def names_users(self) -> bool:
        """True if a policy names a user. Then two users with the same groups may have different permissions."""
        return bool(_named(self.text, "User"))

    @property
    def groups(self) -> frozenset[str]:
        """Groups that a policy names."""
        return _named(self.text, "Group")

    @property
    def attributes(self) -> frozenset[str]:
        """Attributes that the policies read. Decisions don't depend on other attributes."""
        return _attributes(self.text)

    def decide(self, identity: Identity, action: str, resources: Sequence[Resource]) -> list[AccessDecision]:
        """Decide about resources, in their order. Resources that no policy can distinguish are decided once.

        Args:
            identity: the asker; its name is a User, its groups are Groups.
        """
        user = {"type": "User", "id": identity.name}
        parents = [{"type": "Group", "id": group} for group in sorted(identity.groups)]
        entities: list[dict[str, Any]] = [{"uid": user, "attrs": {}, "parents": parents}]
        entities += [{"uid": parent, "attrs": {}, "parents": []} for parent in parents]
        requests: list[dict[str, Any]] = []
        request_numbers: dict[str, int] = {}
        asked = []
        for resource in resources:
            attributes = {name: value for name, value in resource.attributes.items() if name in self.attributes}
            distinct = json.dumps([resource.kind, attributes], sort_keys=True)
            if distinct not in request_numbers:
                request_numbers[distinct] = len(requests)
                uid = {"type": resource.kind, "id": str(len(requests))}
                entities.append({"uid": uid, "attrs": attributes, "parents": []})
                requests.append(
                    {"principal": user, "action": {"type": "Action", "id": action}, "resource": uid, "context": {}}
                )
            asked.append(request_numbers[distinct])
        ids = _ids(self.text)
        decisions = [
            AccessDecision(
                found.allowed and not found.diagnostics.errors,
                tuple(name for key, name in ids.items() if key in found.diagnostics.reasons),
                tuple(map(_one_line, found.diagnostics.errors)),
            )
            for found in cedarpy.is_authorized_batch(requests, self.text, entities)
        ]
        return [decisions[number] for number in asked]

    def names(self) -> list[str]:
        """Names of the policies in their order: the annotation `@id`, or `policy` and the number from 1."""
        return list(_ids(self.text).values())


@cache
def _schema() -> str:
    return files("headwater_server.authorization").joinpath("authorization.cedarschema").read_text(encoding="utf-8")


@cache
def _ids(text: str) -> dict[str, str]:
    """Map Cedar's numbers of policies to their names, in the order of the file."""
    parsed = _parsed(text)["staticPolicies"]
    return {
        key: str(policy.get("annotations", {}).get("id") or f"policy {int(key.removeprefix('policy')) + 1}")
        for key, policy in sorted(parsed.items(), key=lambda each: int(each[0].removeprefix("policy")))
    }


@cache
def _attributes(text: str) -> frozenset[str]:
    read = (part.get(way) for part in _parts(_parsed(text)) for way in (".", "has"))
    return frozenset(str(each["attr"]) for each in read if isinstance(each, dict))


@cache
def _named(text: str, kind: str) -> frozenset[str]:
    """Ids of the entities of one kind in policies. Spaces don't matter: `User :: "token:ci"` counts, too."""
    return _ids_of(_parts(_parsed(text)), kind)


def _ids_of(parts: Iterable[Mapping[str, Any]], kind: str) -> frozenset[str]:
    return frozenset(str(part["id"]) for part in parts if part.get("type") == kind and "id" in part)


def _annotated(policies: Iterable[Mapping[str, Any]]) -> list[str]:
    return [str(name) for each in policies if (name := each.get("annotations", {}).get("id"))]


def _parsed(text: str) -> Any:
    """JSON form of policies."""
    return json.loads(cedarpy.policies_to_json_str(text))


def _parts(parsed: Any) -> Iterator[dict[str, Any]]:
    """All objects in the JSON form of policies."""
    left: list[Any] = [parsed]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            yield part
            left += part.values()
        elif isinstance(part, list):
            left += part


def _one_by_one(text: str) -> list[tuple[int, str]]:
    """Split policies at semicolons outside of strings and comments; return the line, from 1, and text of each."""
    found = []
    first: int | None = None
    for token in _TOKEN.finditer(text):
        if first is None and not token[0].startswith("//"):
            first = token.start()
        if token[0] == ";" and first is not None:
            found.append((text.count("\n", 0, first) + 1, text[first : token.end()]))
            first = None
    if first is not None:
        found.append((text.count("\n", 0, first) + 1, text[first:]))
    return found


def _with_line(error: str, lines: Mapping[str, int]) -> str:
    """Replace Cedar's number of a policy in an error by the policy's line."""
    found = re.match(r"for policy `(policy\d+)`, ", error)
    return error if found is None or found[1] not in lines else f"line {lines[found[1]]}: {error[found.end() :]}"


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:500]
