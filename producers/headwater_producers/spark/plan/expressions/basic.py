"""Basic expressions: attributes, literals, casts, and wrappers that Spark adds without changing the value."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.binding import bind
from headwater_producers.spark.plan.column import (
    CONSTANT,
    DirectSource,
    FieldRef,
    ValueLineage,
    Variable,
    clip,
    combine,
)
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.names import shown_name
from headwater_producers.spark.plan.schema import type_text
from headwater_producers.spark.plan.structure import field_names, merge, part, recast, stepped
from headwater_producers.spark.plan.text import function_name, literal_text, order_text
from headwater_producers.spark.plan.tree import expression_id
from headwater_schemas.events import TransformationKind as Kind

COMMON = -1
"""Variable of a common expression's references, until its `With` is read. Spark's own ids are positive."""

_BEFORE_SEED = {"RandStr": 1, "Uniform": 2}
"""Number of arguments before the seed."""

_COMMON_TEXT = "\ue000"
"""Placeholder for the text of a common expression: a private-use character, which is replaced later."""


def attribute(call: Call) -> ValueLineage:
    """Read a column of the operators below; an unknown column is reported, and may come from any of their columns."""
    column = call.scope.find(expression_id(call.node.fields))
    if column is None:
        name = shown_name(str(call.node.get("name")))
        call.scope.report(f"the origin of column {name} isn't known")
        column = combine(call.scope.columns.values(), Kind.UNKNOWN, str(name))
        return column if column.direct else replace(column, direct=frozenset({DirectSource(None, Kind.UNKNOWN)}))
    return column if column.type is not None else replace(column, type=call.node.get("dataType"))


def outer_reference(call: Call) -> ValueLineage:
    """Read a column of the query around a subquery."""
    tree = call.node.tree("e")
    if tree is None or call.scope.outer is None:
        return call.step(Kind.UNKNOWN)
    return call.scope.outer.find(expression_id(tree[0])) or call.step(Kind.UNKNOWN)


def literal(call: Call) -> ValueLineage:
    """Read a constant."""
    value, data_type = call.node.get("value"), call.node.get("dataType")
    text = literal_text(value, data_type, call.scope.literals)
    constants = frozenset({str(value)}) if value is not None else frozenset()
    return ValueLineage(CONSTANT, text=text, type=data_type, constants=constants)


def same(call: Call) -> ValueLineage:
    """Return the first argument, unchanged."""
    return call.arguments[0] if call.arguments else ValueLineage(CONSTANT, text=call.text)


def cast(call: Call) -> ValueLineage:
    """Read a cast: another type, the same value. An encoding stays the encoding of its value, as text or bytes."""
    (value,) = call.arguments
    data_type = call.node.get("dataType")
    if type_text(data_type) == type_text(value.type):
        # A view casts its columns to the types they have.
        return value
    result = recast(value, data_type, call.text)
    encoded = value.encoded if data_type in ("string", "binary") else None
    return replace(result, encoded=encoded, constants=value.constants)


def ordered(call: Call) -> ValueLineage:
    """Read a key of ORDER BY: its value; the text shows its direction."""
    value = call.arguments[0]
    return replace(value, text=clip(order_text(value.text, call.node)))


def transcode(call: Call) -> ValueLineage:
    """Read a conversion of text to bytes and back (`encode`, `decode`): a cast."""
    value = call.arguments[0]
    return replace(combine([value], Kind.CAST, call.text), encoded=value.encoded)


def collate(call: Call) -> ValueLineage:
    """Read a change of collation: the same text with another comparison."""
    value = call.arguments[0]
    return replace(combine([value], Kind.CAST, call.text), encoded=value.encoded, constants=value.constants)


def no_input(call: Call) -> ValueLineage:
    """Return a constant, for expressions without an input column: the clock, ids, the type of an expression."""
    return ValueLineage(CONSTANT, text=call.text)


def random(call: Call) -> ValueLineage:
    """Read a random value. The seed, which Spark may choose in every run, isn't part of the text."""
    shown = call.arguments[: _BEFORE_SEED.get(call.node.name, 0)]
    return ValueLineage(CONSTANT, text=f"{function_name(call.node.name)}({', '.join(a.text for a in shown)})")


def named_constant(call: Call) -> ValueLineage:
    """Read a session's variable or a collation, by name: a variable's value differs in every run."""
    name = call.node.get("collationName") or str(call.node.get("originalNameParts")).strip("[]").replace(", ", ".")
    return ValueLineage(CONSTANT, text=str(name))


def of_rows(call: Call) -> ValueLineage:
    """Return a column derived from the row's dataset, not from one of its columns: `input_file_name()`."""
    direct = frozenset(DirectSource(FieldRef(dataset), Kind.DERIVE) for dataset in call.scope.rows)
    return ValueLineage(direct or CONSTANT, text=call.text)


def common_expression(call: Call) -> ValueLineage:
    """Read `With(child, definitions)`: the child, each reference in it replaced by its definition."""
    child, *definitions = call.arguments
    definition = merge(definitions, "…") if definitions else ValueLineage(CONSTANT)
    if len(definitions) > 1:
        definition = stepped(definition, Kind.UNKNOWN)
    bound = bind(child, {COMMON: definition})
    shown = {i: replace(i, text=i.text and i.text.replace(_COMMON_TEXT, definition.text)) for i in bound.indirect}
    text = bound.text.replace(_COMMON_TEXT, definition.text)
    return replace(bound, indirect=frozenset(shown.values()), text=clip(text))


def common_reference(_call: Call) -> ValueLineage:
    """Read a reference to a definition of the enclosing `With`. The JSON doesn't name it, so any is possible."""
    return ValueLineage(frozenset({DirectSource(Variable(COMMON), Kind.COPY, whole=True)}), text=_COMMON_TEXT)


def field_of_struct(call: Call) -> ValueLineage:
    """Read `struct.field`; by ordinal if the JSON has no name."""
    (struct,) = call.arguments
    name, ordinal = call.node.get("name"), call.node.get("ordinal")
    if isinstance(struct.type, dict) and struct.type.get("type") == "struct" and isinstance(ordinal, int):
        fields = struct.type.get("fields", ())
        if ordinal < len(fields):
            name = fields[ordinal]["name"]
    names = field_names(struct)
    if name is None and isinstance(ordinal, int) and ordinal < len(names):
        name = names[ordinal]
    if name is None:
        return call.step(Kind.DERIVE)
    return part(struct, str(name))


BASIC: dict[str, Rule] = {
    "AttributeReference": attribute,
    "OuterReference": outer_reference,
    "Literal": literal,
    "GetStructField": field_of_struct,
    "SortOrder": ordered,
    "With": common_expression,
    "CommonExpressionRef": common_reference,
    **rules(cast, "Cast AnsiCast UpCast"),
    **rules(transcode, "Encode Decode StringDecode"),
    **rules(
        same,
        "Alias KnownNullable KnownNotNull KnownNonNullable KnownFloatingPointNormalized NormalizeNaNAndZero "
        "PromotePrecision CheckOverflow AssertNotNull NamedArgumentExpression TempResolvedColumn "
        "CommonExpressionDef SQLScalarFunction TryElementAt",
    ),
    **rules(
        no_input,
        "CurrentTimestamp CurrentTimestampLike CurrentDate CurrentTime Now LocalTimestamp CurrentTimeZone CurrentUser "
        "CurrentDatabase CurrentCatalog CurrentBatchTimestamp Uuid MonotonicallyIncreasingID SparkPartitionID "
        "SparkVersion Version TypeOf Collation TypedNullLiteral",
    ),
    **rules(random, "Rand Randn RandStr Uniform"),
    **rules(named_constant, "VariableReference ResolvedCollation"),
    "Collate": collate,
    **rules(of_rows, "InputFileName InputFileBlockStart InputFileBlockLength"),
}
