"""Tools: each asks one operation of the API, or one of several by its arguments.

    upstream {"dataset": "orders"}                    asset_upstream   /api/v1/assets/orders/upstream
    upstream {"dataset": "orders", "column": "id"}    column_upstream  /api/v1/columns/orders/id/upstream

A tool's arguments are parameters of these operations, with the schemas that the OpenAPI document has for them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from headwater_schemas.visible import visible
from headwater_server.problems import MOST_ERRORS, FieldProblem

DEFAULT_LIMIT = 20
"""Items of an answer if a call has no `limit`: an assistant reads all of them."""

_DATASET = (
    "The dataset: its key (32 hex digits), or its name, with its namespace (`kafka://broker:9092/orders`) or alone "
    "if only one dataset has this name."
)
_ARGUMENTS = {
    "dataset": _DATASET,
    "column": "Field path of a column of the dataset, `address.city`; without, the dataset as a whole.",
    "incident": "Id of the incident, or the beginning of it.",
    "job": "The job: its key, or its name, with its namespace or alone.",
    "name": "Key or name of what to show: of a dataset or job with its namespace or alone; of a column "
    "`dataset#field.path`; of a run its id.",
}
"""Descriptions of arguments that become parts of a path. Callers needn't escape the arguments."""
_GAPS = (
    " If `graph.stale` isn't null, the graph is behind its events; if `filtered` is true, everything that the asker "
    "may not see is left out. Never report such missing things as absent."
)


@dataclass(frozen=True, slots=True)
class Target:
    """An operation that a tool asks if all arguments of its path are given, and `when` holds.

    Attributes:
        path: names of the path's parameters ⇒ arguments of the tool.
        when: values that arguments must have; the first target's values are the defaults.
    """

    operation: str
    path: Mapping[str, str] = field(default_factory=dict)
    when: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool, before it is bound to the OpenAPI document.

    Attributes:
        about: description of the tool's answer, and of the meaning of gaps.
        targets: operations; the first one whose conditions hold is asked.
        parameters: query parameters of the operations that the tool accepts as arguments.
        narrow: advice if the answer is too large, as an imperative sentence.
    """

    name: str
    title: str
    about: str
    targets: tuple[Target, ...]
    parameters: tuple[str, ...]
    narrow: str = "Lower `limit`, and continue with `next_cursor`."


def _of_lineage(direction: str) -> tuple[Target, ...]:
    return (
        Target(f"column_{direction}", {"asset": "dataset", "column": "column"}),
        Target(f"asset_{direction}", {"id": "dataset"}),
    )


_OF_LINEAGE = ("depth", "influence", "namespace", "type", "tag", "job", "as_of", "quality", "limit", "cursor")
_OF_RECORDS = ("topic", "partition", "offset", "end", "range", "time", "until")
_STEPS = "Lower `limit` or `depth`."

TOOLS = (
    Tool(
        "search",
        "Search assets",
        "Find datasets, jobs, columns and declared consumers by words of their names, by owner or tag, the best first. "
        "Begin here if you don't know an exact name. `truncated`: more match than `total` counts; add words.",
        (Target("search"),),
        ("q", "kind", "owner", "tag", "column", "namespace", "type", "sensitivity", "fuzzy", "limit", "cursor"),
    ),
    Tool(
        "show",
        "Show one asset or run",
        "Show all that is known of one dataset, column, job, run or declared consumer: schema, owners, other names, "
        "writers and readers, latest runs and checks. Null or an empty list means that nobody reported it, which is "
        "UNKNOWN, not none; `…_total` counts what a list leaves out.",
        (
            Target("asset", {"id": "name"}, {"kind": "DATASET"}),
            Target("column", {"id": "name"}, {"kind": "COLUMN"}),
            Target("job", {"id": "name"}, {"kind": "JOB"}),
            Target("run", {"id": "name"}, {"kind": "RUN"}),
            Target("consumer", {"id": "name"}, {"kind": "CONSUMER"}),
        ),
        (),
        "Ask for a part: one column by the kind COLUMN, jobs by `upstream` and `downstream`, runs by `runs`.",
    ),
    Tool(
        "upstream",
        "Trace lineage upstream",
        "List what a dataset or column is made from, and by which jobs. Only one hop unless `depth` is given; "
        "`truncated`: there is more beyond it. Where `complete` is false or there are `notes`, further sources are "
        "UNKNOWN.",
        _of_lineage("upstream"),
        _OF_LINEAGE,
        "Lower `limit` and go on with `next_cursor`, or lower `depth`.",
    ),
    Tool(
        "downstream",
        "Trace lineage downstream",
        "List what is made from a dataset or column, by which jobs, and which declared consumers read it. Only one "
        "hop unless `depth` is given; `truncated`: there is more beyond it. Where `complete` is false or there are "
        "`notes`, further uses are UNKNOWN.",
        _of_lineage("downstream"),
        _OF_LINEAGE,
        "Lower `limit` and go on with `next_cursor`, or lower `depth`.",
    ),
    Tool(
        "impact",
        "Analyze a change",
        "List what a change of a dataset or column breaks downstream, the worst first, and whom to inform; `summary` "
        "is text for a ticket. Severity UNKNOWN: nobody is affected for certain, but `unknown` lists what isn't "
        "known, so the change isn't known to be safe. `truncated`: more lies beyond `depth`.",
        (Target("impact"),),
        ("dataset", "column", "schema", "new_name", "new_type", "nullable", "type", "depth", "limit", "cursor"),
    ),
    Tool(
        "trace",
        "Trace records",
        "Follow records, a file or a version of a table to the runs and micro-batches that read and wrote them, "
        "forward or back. Certainty UNKNOWN: the used part is unknown; UPPER_BOUND: no more than this was used. "
        "`truncated`: `limit` or `depth` left steps out; one hop unless `depth` is given.",
        (Target("traces"),),
        (*_OF_RECORDS, "path", "dataset", "version", "direction", "depth", "limit"),
        _STEPS,
    ),
    Tool(
        "blast",
        "Find what bad data reached",
        "List everything that a bad run, bad micro-batches or bad records reached, by partition and offsets, minus "
        "what was replaced since, and which consumers to notify. UNKNOWN and `notes`: something may be tainted "
        "without being listed. `truncated`: `limit` left steps out.",
        (Target("blast"),),
        ("run", "query", "first_batch", "last_batch", *_OF_RECORDS, "depth", "limit"),
        _STEPS,
    ),
    Tool(
        "incidents",
        "Show open incidents",
        "List open incidents, or show one of them: its scope, what it reached as the graph is now, who reads bad data, "
        "and what was done. Where `reach.complete` is false, or a part has the certainty UNKNOWN, more may be bad than "
        "is listed; a list's numbers are as of `reached_as_of`.",
        (Target("incident", {"id": "incident"}), Target("incidents")),
        ("dataset", "severity", "all", "reach", "limit", "cursor"),
        "Show one without its reach: `reach` false; or lower `limit`.",
    ),
    Tool(
        "gate",
        "Find what holds a dataset",
        "Find the open incidents whose bad data is, or may be, in a dataset or in some of its partitions, as the graph "
        "is now. Certainty UNKNOWN: bad data may be in it. Only if `is_free` is true, no bad data is known in it.",
        (Target("gate"),),
        ("dataset", "partition", "max_severity"),
        "Name one `partition`.",
    ),
    Tool(
        "runs",
        "List runs",
        "List runs of a job, runs that wrote or read a dataset, or runs of all jobs, the latest first; by state to "
        "find failures. A run without an end may be under way, or its end is UNKNOWN; one that isn't listed wasn't "
        "captured.",
        (Target("job_runs", {"id": "job"}), Target("asset_runs", {"id": "dataset"}), Target("runs")),
        ("state", "role", "since", "until", "limit", "cursor"),
    ),
    Tool(
        "diff",
        "Compare lineage",
        "Compare lineage between two times, two runs, or two code versions of a job: datasets, columns and edges that "
        "were added or removed. Columns of `unknown_schemas` are UNKNOWN. `truncated`: more may differ than is listed.",
        (Target("diff"),),
        (
            *("job", "dataset", "before", "after", "before_run", "after_run", "before_version", "after_version"),
            *("limit", "cursor"),
        ),
    ),
    Tool(
        "check",
        "Check the graph's rules",
        "Check the rules of a graph whose lineage can be trusted: for each rule the number of findings, the first "
        "findings, and how to mend them. A rule with `unknown` or in `unchecked` is UNKNOWN, not kept.",
        (Target("checks"),),
        ("rule", "open_after", "limit", "cursor"),
        "Name one `rule`, or lower `limit`.",
    ),
    Tool(
        "privacy",
        "Follow sensitive columns",
        "List where sensitive columns went, who can read them unmasked, and what is classified lower than its "
        "sources. Jobs in `unknown` may pass values on: whatever they write is UNKNOWN, not free of them. "
        "`truncated`: more lies beyond `depth`.",
        (Target("privacy"),),
        ("dataset", "column", "as", "readable", "lower", "threshold", "depth", "limit", "cursor"),
    ),
)


class ArgumentsError(Exception):
    """The arguments of a call are wrong."""

    def __init__(self, errors: Sequence[FieldProblem]) -> None:
        super().__init__("; ".join(f"{each.field}: {each.message}" for each in errors))
        self.errors = tuple(errors[:MOST_ERRORS])


@dataclass(frozen=True, slots=True)
class ToolOperation:
    """An operation, as the OpenAPI document describes it.

    Attributes:
        schemas: schemas of the parameters of path and query, by name.
        required: parameters of the query that have to be given.
    """

    path: str
    schemas: Mapping[str, Mapping[str, Any]]
    required: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for the API: path with escaped names, and parameters of the query."""

    path: str
    parameters: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class BoundTool:
    """A tool with its operations, as the OpenAPI document describes them."""

    tool: Tool
    operations: Mapping[str, ToolOperation]
    input_schema: Mapping[str, Any]

    @property
    def description(self) -> str:
        """Text for assistants."""
        return self.tool.about + _GAPS

    def asked(self, arguments: Mapping[str, Any]) -> Asked:
        """Convert a call's arguments to a question. The operation checks the values.

        Raises:
            ArgumentsError: an argument is unknown or missing, has no text for a URL, or doesn't belong to the question.
        """
        given = {name: value for name, value in arguments.items() if value is not None}
        self._check_names(given)
        target = self._target(given)
        operation = self.operations[target.operation]
        errors: list[FieldProblem] = []
        path, parameters = operation.path, list[tuple[str, str]]()
        path_parameters = {argument: parameter for parameter, argument in target.path.items()}
        for name, value in given.items():
            if name in target.when:
                continue
            try:
                texts = list(_texts(value, many=_takes_many(operation.schemas.get(name, {}))))
            except ValueError as error:
                errors.append(FieldProblem(name, str(error)))
                continue
            if name in path_parameters:
                path = path.replace(f"{{{path_parameters[name]}}}", quote(texts[0], safe=""))
            elif name in operation.schemas:
                parameters += [(name, text) for text in texts]
            else:
                errors.append(FieldProblem(name, f"This isn't a parameter of {_of(target)}."))
        if errors:
            raise ArgumentsError(errors)
        if "limit" in operation.schemas and "limit" not in given:
            parameters.append(("limit", str(DEFAULT_LIMIT)))
        return Asked(path, tuple(parameters))

    def _check_names(self, given: Mapping[str, Any]) -> None:
        """Check that the arguments are known, and that none is missing.

        Raises:
            ArgumentsError: an argument is unknown, or a required argument is missing.
        """
        known: Mapping[str, Any] = self.input_schema["properties"]
        errors = []
        for name in list(given)[: MOST_ERRORS + len(known)]:
            if name not in known:
                nearest = difflib.get_close_matches(name[:100], known, n=1)
                hint = f"; the nearest one is `{nearest[0]}`" if nearest else ""
                errors.append(
                    FieldProblem(visible(name[:100]), f"The tool `{self.tool.name}` has no such parameter{hint}.")
                )
        missing = (name for name in self.input_schema.get("required", ()) if name not in given)
        errors += [FieldProblem(name, "It has to be given.") for name in missing]
        if errors:
            raise ArgumentsError(errors)

    def _target(self, given: Mapping[str, Any]) -> Target:
        """Return the operation that a call asks.

        Raises:
            ArgumentsError: the argument that chooses the operation has none of the possible values.
        """
        first = self.tool.targets[0]
        chosen = {name: str(given.get(name, default)).upper() for name, default in first.when.items()}
        for target in self.tool.targets:
            if all(name in given for name in target.path.values()) and target.when == chosen:
                return target
        raise ArgumentsError(
            [
                FieldProblem(name, f"One of {', '.join(each.when[name] for each in self.tool.targets)}.")
                for name in first.when
            ]
        )


def bound_tools(document: Mapping[str, Any]) -> dict[str, BoundTool]:
    """The tools by name, bound to the OpenAPI document of the API."""
    schemas = document["components"]["schemas"]
    operations = {
        operation["operationId"]: _operation(path, operation, schemas)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method == "get"
    }
    return {tool.name: _bound(tool, operations) for tool in TOOLS}


def _operation(path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> ToolOperation:
    parameters = operation.get("parameters", ())
    return ToolOperation(
        path,
        {each["name"]: _schema(each, schemas) for each in parameters},
        frozenset(each["name"] for each in parameters if each["in"] == "query" and each.get("required")),
    )


def _schema(parameter: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Schema of a parameter, without references, and without null: a parameter of null is left out."""
    found: dict[str, Any] = _resolved(parameter["schema"], schemas)
    for name in ("title", "default") if found.get("default", ...) in ([], None) else ("title",):
        found.pop(name, None)
    branches = [each for each in found.pop("anyOf", ()) if each.get("type") != "null"]
    found |= branches[0] if len(branches) == 1 else {"anyOf": branches} if branches else {}
    if "description" in parameter:
        found["description"] = parameter["description"]
    return found


def _resolved(value: Any, schemas: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_resolved(each, schemas) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        of_enum = schemas[value["$ref"].rpartition("/")[2]]
        rest = {name: each for name, each in value.items() if name != "$ref"}
        return {"type": of_enum["type"], "enum": of_enum["enum"], **rest}
    return {name: _resolved(each, schemas) for name, each in value.items()}


def _bound(tool: Tool, every: Mapping[str, ToolOperation]) -> BoundTool:
    operations = {target.operation: every[target.operation] for target in tool.targets}
    properties: dict[str, Any] = {}
    for target in tool.targets:
        for argument in target.path.values():
            properties[argument] = {"type": "string", "minLength": 1, "description": _ARGUMENTS[argument]}
    first = tool.targets[0]
    for name, default in first.when.items():
        values = [target.when[name] for target in tool.targets]
        properties[name] = {"type": "string", "enum": values, "default": default}
    for name in tool.parameters:
        having = [target for target in tool.targets if name in operations[target.operation].schemas]
        schema = dict(operations[having[0].operation].schemas[name])
        if only := _only_with(having, tool.targets):
            schema["description"] = f"{schema['description']} Only with `{only}`."
        if name == "limit":
            schema["default"] = DEFAULT_LIMIT
        properties[name] = schema
    required = set.intersection(
        *({*target.path.values(), *operations[target.operation].required} for target in tool.targets)
    )
    schema = {
        "type": "object",
        "properties": properties,
        "required": sorted(required),
        "additionalProperties": False,
    }
    return BoundTool(tool, operations, schema)


def _only_with(having: Sequence[Target], targets: Sequence[Target]) -> str:
    """Return the argument that a parameter needs; empty if it needs none."""
    lacking = {name for target in targets if target not in having for name in target.path.values()}
    needed = set.intersection(*(set(target.path.values()) for target in having)) - lacking
    return "" if len(having) == len(targets) else min(needed, default="")


def _of(target: Target) -> str:
    given = [f"`{name}`" for name in target.path.values()]
    return f"the question with {' and '.join(given)}" if given else "the question without a start"


def _takes_many(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "array"


def _texts(value: Any, *, many: bool) -> Iterator[str]:
    """Texts of a value in a URL: `true`, `20`; of a list, the text of each item.

    Raises:
        ValueError: the value has no text.
    """
    if isinstance(value, list) and many:
        for each in value:
            yield from _texts(each, many=False)
        return
    match value:
        case bool():
            yield "true" if value else "false"
        case float() if value.is_integer():
            yield str(int(value))
        case int() | float():
            yield str(value)
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:
                raise ValueError("It has half a character (a lone surrogate).") from None
            yield value
        case _:
            raise ValueError("It has to be a list of single values." if many else "It has to be a single value.")
