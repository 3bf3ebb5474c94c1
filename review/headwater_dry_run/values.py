"""Values of an optimized plan's JSON: the expression of each column and of each member, independent of the rows.

A column's signature (`signature`) covers the rows, too: a changed filter changes the signatures of all columns. A
value's text doesn't cover rows: a changed filter doesn't change the text, but a dropped hash does.

    to_json(struct(id, sha2(email, 256) AS mail))  ⇒  value: to_json(struct()); value.id: id; value.mail: sha2(email …)

Parts of an expression that Spark's JSON lacks come from the printed plan: texts of equal values may then differ, but
different values never have equal texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from headwater_dry_run.signature import CHANGING, SignatureReader, Unwritten, digest
from headwater_producers.spark.plan.column import ELEMENT, VALUE
from headwater_producers.spark.plan.schema import quoted
from headwater_producers.spark.plan.tree import Nodes, PlanNode, expression_id, fold

_MOST_TEXT: Final = 2_000
_ENCODES: Final = {
    "StructsToJson": "to_json",
    "StructsToCsv": "to_csv",
    "StructsToXml": "to_xml",
    "CatalystDataToAvro": "to_avro",
    "CatalystDataToProtobuf": "to_protobuf",
}
_DECODES: Final = {
    "JsonToStructs": "from_json",
    "CsvToStructs": "from_csv",
    "XmlToStructs": "from_xml",
    "AvroDataToCatalyst": "from_avro",
    "ProtobufDataToCatalyst": "from_protobuf",
}
_PRINTED: Final = _ENCODES | _DECODES
# Expressions that keep the members of their first child.
_SAME: Final = frozenset(
    {"Alias", "Cast", "KnownNotNull", "KnownNullable", "AggregateExpression", "LambdaFunction", *_ENCODES}
)
_LISTS: Final = frozenset({"CollectList", "CollectSet"})
_EVALUATED: Final = re.compile(r"^(StructsTo|(?:Json|Csv|Xml)ToStructs)\w*Evaluator\(")
_SCHEMA: Final = re.compile(r"StructType\(.*\)(?=,)")
_NEW_COLUMNS: Final = ("output", "generatorOutput", "resultAttrs", "aggAttrs")
_INSTANCE: Final = re.compile(r"~\d+")
_COUNTED: Final = re.compile(r"_\d+$")


@dataclass(frozen=True, slots=True)
class Value:
    """Lineage of a value as text over source columns, with its members.

    Attributes:
        text: the whole expression, over columns of the sources.
        members: parts of a composite value: fields of a struct by name, `[]` elements of an array, values of a map by
            key, or `{}`; of JSON, Avro and the like the parts of the encoded value.
        frame: for a composite value, its text without the members.
    """

    text: str
    members: Mapping[str, Value] = field(default_factory=dict)
    frame: str = ""

    def digests(self, path: str) -> Iterator[tuple[str, str]]:
        """Yield digests by path: of the value without its members, then of each member."""
        yield path, digest(self.frame if self.members else self.text)
        for name, member in self.members.items():
            yield from member.digests(f"{path}.{name}")


def values_of(
    nodes: Nodes, text: str, leaves: Unwritten, streams: Mapping[str, Mapping[str, Value]] | None = None
) -> list[Value]:
    """List the lineage of each column of the plan, in order.

    Args:
        nodes: the optimized plan's JSON.
        text: the same plan as Spark prints it.
        leaves: parts of the plan that the JSON lacks.
        streams: columns of a leaf that replaces a stream, by the leaf's name.

    Raises:
        UnreadableError: see `signature`.
    """
    reader = _ValueSigner(leaves, text, streams or {})
    return [reader.value(number) for number in reader.plan(nodes).output]


class _ValueSigner(SignatureReader):
    def __init__(self, leaves: Unwritten, printed: str, streams: Mapping[str, Mapping[str, Value]]) -> None:
        super().__init__(leaves)
        self._origins, self._streams = leaves.origins, streams
        self._printed = CHANGING.sub("", printed)
        self._tried = " ".join(sorted(re.findall(r"\btry_\w+", printed)))
        self._values: dict[int, Value] = {}

    def value(self, number: int) -> Value:
        """Return a column's value."""
        return self._values.get(number) or Value(self.columns.get(number, "?"))

    def expression(self, nodes: Nodes) -> str:
        return fold(nodes, self._visit).text

    def _within(self, child: Any, keys: Sequence[str] = ()) -> str:  # noqa: ARG002
        return ""

    def _of_operator(self, node: PlanNode, text: str, position: int) -> str:  # noqa: ARG002
        udfs = node.trees("udfs")
        if len(udfs) == len(node.trees("resultAttrs")) and position < len(udfs):
            return f"={digest(self.expression(udfs[position]))}"
        own_fields = PlanNode(node.name, {name: each for name, each in node.fields.items() if name not in _NEW_COLUMNS})
        return f"{digest(f'{node.name}[{self._fields(own_fields)}]')}.{position}"

    def _read(self, number: int, column: str, position: int, name: str, instance: int) -> None:
        streamed = self._streams.get(name, {}).get(column)
        if streamed is not None:
            self.columns[number], self._values[number] = f"={digest(streamed.text)}", streamed
            return
        label = position if "[" in name else column
        self.columns[number] = f"{self._origins.get(name, name)}~{instance}.{label}"

    def _alias(self, number: int, nodes: Nodes) -> str:
        self._values[number] = fold(nodes, self._visit)
        return self._values[number].text

    def _united(self, numbers: Sequence[int], label: str) -> None:  # noqa: ARG002
        merged = _merged("union", [self.value(number) for number in numbers])
        self._values[numbers[0]], self.columns[numbers[0]] = merged, f"={digest(merged.text)}"

    def _visit(self, node: PlanNode, children: tuple[Value, ...]) -> Value:
        known, self.unknown = self.unknown, False
        text = self._expression(node, tuple(child.text for child in children))
        missing_parts = self._left_out(node) if self.unknown else ""
        self.unknown = known
        if "evalMode" in node.fields and self._tried:
            missing_parts = f"{missing_parts} {self._tried}"
        if node.name == "NamedLambdaVariable":
            # Spark numbers the variables of each session, so the numbers are removed.
            return Value(f"lambda {_COUNTED.sub('', str(node.get('name')))}")
        if node.name == "AttributeReference" and not children:
            number = expression_id(node.fields)
            known_value = None if number is None else self._values.get(number)
            return Value(text) if known_value is None else known_value
        return self._with_members(node, children, _short(f"{text}{missing_parts}"), missing_parts)

    def _options(self, name: str) -> str:
        """Return a digest of the options of a kind of decoding, from the printed plan, without the schemas."""
        calls = (
            re.sub(r"StructField\(.*?\), (?!StructField)", "", call) for call in _calls(self._printed, _DECODES[name])
        )
        return digest(" ".join(sorted(set(calls))))

    def _left_out(self, node: PlanNode) -> str:
        """Return a digest of an expression's parts that the plan's JSON lacks, from the printed plan."""
        name = _PRINTED.get(node.name)
        if name is None:
            return f" {digest(self._printed)}"
        return f" {digest(' '.join(sorted(set(_calls(self._printed, name)))))}"

    def _with_members(self, node: PlanNode, children: tuple[Value, ...], text: str, missing_parts: str) -> Value:
        """Return the value with the members that the expression builds or extracts."""
        name = node.name
        if name in _SAME:
            return _wrapped(children[0], f"{name}[{self._fields(node)}{missing_parts}]", text)
        if name in _LISTS and children[0].members:
            others = ", ".join(each.text for each in children[1:])
            return Value(text, {ELEMENT: children[0]}, f"{name}[{self._fields(node)}]({others})")
        if name in _DECODES:
            own_fields = PlanNode(
                name, {key: each for key, each in node.fields.items() if key not in ("schema", "dataType")}
            )
            type_ = node.get("schema") or node.get("dataType")
            return _decoded(type_, f"{name}[{self._fields(own_fields)}]({children[0].text}){self._options(name)}", text)
        make = _COMPOSITE_RULES.get(name)
        return Value(text) if make is None or not children else make(node, children, text)


def _wrapped(child: Value, head: str, text: str) -> Value:
    """Wrap a value in another expression, keeping its members."""
    return Value(text, child.members, f"{head}({child.frame})") if child.members else Value(text)


def _evaluated(node: PlanNode, children: Sequence[Value], text: str) -> Value:
    """Read `to_json`, `from_json` and the like, which the optimizer of some versions leaves without their schema."""
    evaluator = children[0].text.lstrip("'")
    if len(children) != 2 or not _EVALUATED.match(evaluator):
        return Value(text)
    head = _SCHEMA.sub("", evaluator)
    if evaluator.startswith("StructsTo"):
        return _wrapped(children[1], head, text)
    return _decoded(node.get("dataType"), f"{head}({children[1].text})", text)


def _decoded(type_: Any, call: str, text: str) -> Value:
    """Read a struct decoded from JSON or similar: each field separately, independent of the other fields."""
    fields = type_.get("fields") if isinstance(type_, dict) else None
    return Value(text, {quoted(each["name"]): Value(_short(f"{call}.{each}")) for each in fields or ()}, call)


def _struct(_: PlanNode, children: Sequence[Value], text: str) -> Value:
    return Value(text, dict(_fields_of(children)), "struct()")


def _array(_: PlanNode, children: Sequence[Value], text: str) -> Value:
    return Value(text, {ELEMENT: _merged("elements", children)}, f"array of {len(children)}")


def _transformed(_: PlanNode, children: Sequence[Value], text: str) -> Value:
    array, function = children
    return Value(text, {ELEMENT: function}, f"transform({array.text})") if function.members else Value(text)


def _field(node: PlanNode, children: Sequence[Value], text: str) -> Value:
    members, position = [*children[0].members.values()], node.get("ordinal")
    return members[position] if isinstance(position, int) and position < len(members) else Value(text)


def _fields_of(children: Sequence[Value]) -> Iterator[tuple[str, Value]]:
    for name, value in zip(children[::2], children[1::2], strict=True):
        yield quoted(_literal(name) or name.text), value


def _map(_: PlanNode, children: Sequence[Value], text: str) -> Value:
    keys, values = children[::2], children[1::2]
    names = [_literal(key) for key in keys]
    if None in names or len({*names}) < len(names):
        return Value(text, {VALUE: _merged("values", values)}, f"map({', '.join(key.text for key in keys)})")
    return Value(text, {quoted(str(name)): value for name, value in zip(names, values, strict=True)}, "map()")


def _literal(value: Value) -> str | None:
    """Return a literal's string; None if it isn't a string literal."""
    match = re.fullmatch(r"(['\"])(.*)\1:string", value.text, re.DOTALL)
    return None if match is None else match[2]


def _chosen(node: PlanNode, children: Sequence[Value], text: str) -> Value:
    """Choose one of several values by conditions; if all composite values have the same members, so does the result."""
    composite = [child for child in children if child.members]
    if not composite or len({tuple(child.members) for child in composite}) > 1:
        return Value(text)
    conditions = ", ".join(child.frame if child.members else child.text for child in children)
    return Value(text, _merged(node.name, composite).members, f"{node.name}({conditions})")


_COMPOSITE_RULES: Final[dict[str, Callable[[PlanNode, Sequence[Value], str], Value]]] = {
    "Invoke": _evaluated,
    "CreateNamedStruct": _struct,
    "CreateArray": _array,
    "CreateMap": _map,
    "ArrayTransform": _transformed,
    "GetStructField": _field,
    "If": _chosen,
    "CaseWhen": _chosen,
    "Coalesce": _chosen,
}


def _merged(how: str, values: Sequence[Value]) -> Value:
    """Merge several values into one, with their common members."""
    # Branches with equal texts, such as a table and some rows of the same table, have one value.
    texts = list(dict.fromkeys(_INSTANCE.sub("", value.text) for value in values))
    text = values[0].text if len(texts) == 1 else _short(f"{how}({' | '.join(value.text for value in values)})")
    names = [tuple(value.members) for value in values]
    if not names[0] or len({*names}) > 1:
        return Value(text)
    members = {name: _merged(how, [value.members[name] for value in values]) for name in names[0]}
    frames = dict.fromkeys(_INSTANCE.sub("", value.frame) for value in values)
    return Value(text, members, " | ".join(frames))


def _calls(text: str, name: str) -> Iterator[str]:
    """Yield each call of a function in a text."""
    for found in re.finditer(rf"\b{name}\(", text):
        depth, position = 1, found.end()
        while depth and position < len(text):
            depth += {"(": 1, ")": -1}.get(text[position], 0)
            position += 1
        yield text[found.start() : position]


def _short(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"<{digest(text)}>"
