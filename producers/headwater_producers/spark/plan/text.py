"""Texts of expressions, equal in every run: no expression ids, no dates, no secrets.

Rendered here instead of by Spark's `sql()`, which contains ids and would take a round trip for each expression.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from headwater_producers.spark.plan.column import CONSTANT, ValueLineage, inline
from headwater_producers.spark.plan.schema import type_text
from headwater_producers.spark.plan.tree import PlanNode

INFIX = {
    "Add": "+",
    "Subtract": "-",
    "Multiply": "*",
    "Divide": "/",
    "IntegralDivide": "div",
    "Remainder": "%",
    "And": "and",
    "Or": "or",
    "EqualTo": "=",
    "EqualNullSafe": "<=>",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
    "Like": "like",
    "RLike": "rlike",
}

_NAMES = {
    "JsonToStructs": "from_json",
    "StructsToJson": "to_json",
    "CsvToStructs": "from_csv",
    "StructsToCsv": "to_csv",
    "XmlToStructs": "from_xml",
    "StructsToXml": "to_xml",
    "AvroDataToCatalyst": "from_avro",
    "CatalystDataToAvro": "to_avro",
    "CreateNamedStruct": "struct",
    "CreateArray": "array",
    "CreateMap": "map",
    "UnaryMinus": "negative",
    "Average": "avg",
    "CountDistinct": "count_distinct",
    "Murmur3Hash": "hash",
    "XxHash64": "xxhash64",
    "ArrayTransform": "transform",
    "ArrayAggregate": "aggregate",
    "ArrayFilter": "filter",
    "ParseToDate": "to_date",
    "ParseToTimestamp": "to_timestamp",
    "DateFormatClass": "date_format",
    "TruncTimestamp": "date_trunc",
    "StringSplit": "split",
    "RegExpReplace": "regexp_replace",
    "RegExpExtract": "regexp_extract",
    "StringTrim": "trim",
    "NullIf": "nullif",
    "ArrayExists": "exists",
    "ArrayForAll": "forall",
    "DateDiff": "datediff",
    "GetArrayItem": "element_at",
    "GetMapValue": "element_at",
    "InSubquery": "in",
    "UnBase64": "unbase64",
    "StringToMap": "str_to_map",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "ApproximatePercentile": "percentile_approx",
    "ListAgg": "listagg",
    "PosExplode": "posexplode",
}
_REPLACED_AT_RUNTIME = frozenset(
    {"Between", "Nvl", "Nvl2", "NullIf", "NullIfZero", "ZeroIfNull", "Decode", "Extract", "TryEval"}
)
"""Classes of expressions that Spark replaces before a run: `nvl(a, b)` by `coalesce(a, b)`."""
_FORMS = {
    "Not": "not {}",
    "IsNull": "({} is null)",
    "IsNotNull": "({} is not null)",
    "NullIfResult": "if({}, null, {})",
}
_SECRETIVE = frozenset({"AesEncrypt", "AesDecrypt", "TryAesDecrypt", "Hmac", "StaticInvoke", "Invoke"})
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
_NUMBERED = re.compile(r"[^\W_]*\d[^\W_]*")
_NUMBER = re.compile(r"[-+]?\d[\d.]*(?:E[-+]?\d+)?", re.IGNORECASE)
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Literals(Enum):
    """Display of literals in expressions' texts."""

    SHOWN = "shown"
    NUMBERLESS = "numberless"
    """Each number is shown as `#`, and so is each word with a digit in it: `'batch 7'` is `'batch #'`."""
    HIDDEN = "hidden"


def function_name(class_name: str) -> str:
    """Return a class's function name in SQL: from `_NAMES`, else in snake case, `DateAdd` ⇒ `date_add`."""
    return _NAMES.get(class_name) or _WORD.sub("_", class_name.rstrip("$")).lower()


def expression_text(node: PlanNode, arguments: Sequence[ValueLineage]) -> str:
    """Return the text of an expression over its arguments' texts."""
    name = node.name
    texts = [inline(a) for a in arguments]
    if name in _SECRETIVE:
        # Keys are passed as literals, or as functions of literals: `unhex('…')`.
        texts = ["?" if a.direct == CONSTANT else text for a, text in zip(arguments, texts, strict=True)]
    if name in _REPLACED_AT_RUNTIME and len(texts) == 1:
        return texts[0]
    if name in INFIX and len(texts) == 2:
        return f"({texts[0]} {INFIX[name]} {texts[1]})"
    if name in _FORMS:
        return _FORMS[name].format(*texts)
    match name, texts:
        case ("Cast" | "AnsiCast", [value]):
            return f"cast({value} as {type_text(node.get('dataType'))})"
        case ("In", [value, *rest]):
            return f"({value} in ({', '.join(rest)}))"
        case ("CaseWhen", _):
            return _case(texts)
    return f"{function_name(name)}({', '.join(texts)})"


def order_text(value: str, node: PlanNode) -> str:
    """Render a `SortOrder` as SQL, without the defaults: ASC with nulls first, DESC with nulls last."""
    descending = node.object_name("direction") == "Descending"
    nulls = node.object_name("nullOrdering")
    usual = "NullsLast" if descending else "NullsFirst"
    order = "" if nulls in ("", usual) else f" nulls {nulls.removeprefix('Nulls').lower()}"
    return f"{value}{' desc' if descending else ''}{order}"


def _case(texts: Sequence[str]) -> str:
    branches = [f"when {texts[i]} then {texts[i + 1]}" for i in range(0, len(texts) - 1, 2)]
    tail = f" else {texts[-1]}" if len(texts) % 2 else ""
    return f"case {' '.join(branches)}{tail} end"


def literal_text(value: object, data_type: object, literals: Literals = Literals.SHOWN) -> str:
    """Render a literal. Dates and times show only their type, so that a job has the same lineage every day."""
    if value is None:
        return "null"
    text = str(value)
    if data_type in ("date", "timestamp", "timestamp_ntz") or (data_type == "string" and _DATE.match(text)):
        return f"<{'date' if data_type in ('date', 'string') else 'timestamp'}>"
    if data_type == "binary":
        return "<binary>"
    if literals is Literals.HIDDEN:
        return "?"
    if isinstance(data_type, str) and data_type.startswith("interval "):
        text = _interval(text, data_type)
    if literals is Literals.NUMBERLESS:
        text = _numberless(text)
    return "'" + text.replace("'", "''") + "'" if data_type == "string" else text


def _interval(number: str, data_type: str) -> str:
    """Render an interval, which Spark keeps in months, or microseconds."""
    if "month" in data_type or "year" in data_type:
        return f"interval {number} months"
    whole = number.removesuffix("000000")
    return f"interval {whole} seconds" if whole != number else f"interval {number} microseconds"


def _numberless(text: str) -> str:
    if _NUMBER.fullmatch(text):
        return "#"
    return _NUMBERED.sub("#", _UUID.sub("#", text))


def inline_texts(arguments: Sequence[ValueLineage]) -> str:
    """Join the arguments of a call."""
    return ", ".join(inline(a) for a in arguments)
