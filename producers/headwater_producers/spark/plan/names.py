"""Reported column names: names that Spark generates from expressions, without literals.

Spark names an unnamed column by its expression, and prints literals without quotes:

    aes_encrypt(ssn, 0000111122223333, GCM, DEFAULT, , )     ⇒ aes_encrypt(ssn, ?)
    base64(aes_encrypt(ssn, 0000111122223333, GCM, …))       ⇒ base64(aes_encrypt(ssn, ?))

and, if literals are hidden (`PlanSettings.literals`), for every such name:

    concat(first, 0000, last)   ⇒ concat(?)        DE_sum(x)   ⇒ ?_sum(x)
    (delay + 5)                 ⇒ (?)              sum(x)      ⇒ sum(x)

The table's column really has this name, and plans of its readers don't show the name's origin. So a name is recognized
only by its shape: writer and readers report the same name, and their lineages connect. Names of a literal (`SELECT
'DE'`) or of a pivot (`DE`) have no recognizable shape: only the job that creates them knows them. Columns with the same
reported name are one column, with their joint lineage.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from headwater_producers.spark.plan.tree import Nodes, PlanNode, is_tree, simple_name

HIDDEN: Final = "?"

_CIPHER: Final = re.compile(r"(?<!\w)(?:(?:try_)?aes_?(encrypt|decrypt)|(hmac))\(", re.IGNORECASE)
# Spark prints the arguments that have defaults, too.
_CIPHER_ARGUMENTS: Final = {"encrypt": 6, "decrypt": 5, "hmac": 3}
_COLUMN: Final = re.compile(r"[A-Za-z_][\w.`]*")
_DELIMITER: Final = re.compile(r"[(),]")
# Maximum nesting: a column's name in a file may be any text.
_MAX_NESTED: Final = 16

_AGGREGATES: Final = [
    "any_value",
    "approx_count_distinct",
    "array_agg",
    "avg",
    "bool_and",
    "bool_or",
    "collect_list",
    "collect_set",
    "corr",
    "count",
    "count_if",
    "covar_pop",
    "covar_samp",
    "every",
    "first",
    "first_value",
    "kurtosis",
    "last",
    "last_value",
    "max",
    "mean",
    "median",
    "min",
    "mode",
    "percentile",
    "skewness",
    "some",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "sum",
    "try_avg",
    "try_sum",
    "var_pop",
    "var_samp",
    "variance",
]
_ANY_AGGREGATE: Final = "|".join(_AGGREGATES)
_OF_A_COLUMN: Final = re.compile(rf"(?:{_ANY_AGGREGATE})\((?:DISTINCT )?(?P<column>[A-Za-z_][\w.`]*)\)|count\(1\)")
_OF_A_PIVOT: Final = re.compile(rf".*_(?P<call>(?:{_ANY_AGGREGATE})\(.*\))", re.DOTALL)
_CALL: Final = re.compile(r"(?P<head>\w+\()(?P<inside>.*)\)", re.DOTALL)
_OTHER_SHAPES: Final = (
    (re.compile(r"\(.*\)", re.DOTALL), f"({HIDDEN})"),
    (re.compile(r"CASE WHEN .* END", re.DOTALL), f"CASE WHEN {HIDDEN} END"),
    (re.compile(r"(?P<head>NOT |DATE |TIMESTAMP |TIMESTAMP_NTZ |INTERVAL |X(?=')).*", re.DOTALL), rf"\g<head>{HIDDEN}"),
    (re.compile(r"(?P<head>[\w.`]+\[).+\]", re.DOTALL), rf"\g<head>{HIDDEN}]"),
)
_PIVOTED: Final = "__pivot_"


@dataclass(slots=True)
class PlanNames:
    """Reported names of one plan's columns.

    Attributes:
        hidden: True to hide literals in generated names; in encryption functions they are always hidden.
        known: reported name by Spark's name, for generated names that aren't recognized by their shape.
    """

    hidden: bool = False
    known: dict[str, str] = field(default_factory=dict)

    def shown(self, name: str) -> str:
        """Return the reported name."""
        if (known := self.known.get(name)) is not None:
            return known
        name = without_keys(name)
        return without_literals(name) if self.hidden else name

    def learn(self, nodes: Nodes) -> None:
        """Learn from a plan which of its names are literals, or values of a pivot."""
        if not self.hidden:
            return
        for alias, tree in _aliases(nodes):
            literals = {str(each.get("value")) for each in tree if simple_name(each["class"]) == "Literal"}
            pivots = [str(each.get("name")) for each in tree if str(each.get("name")).startswith(_PIVOTED)]
            shown = without_literals(without_keys(alias))
            if pivots and alias not in self.known:
                self.known[alias] = _pivoted(alias, pivots[0])
            elif alias in literals:
                self.known[alias] = HIDDEN
            elif (found := _OF_A_COLUMN.fullmatch(alias)) and found["column"] in literals:
                self.known[alias] = f"{alias.partition('(')[0]}({HIDDEN})"
            elif shown != alias:
                self.known.setdefault(alias, shown)


_CURRENT: ContextVar[PlanNames | None] = ContextVar("names", default=None)
_PLAIN: Final = PlanNames()


def shown_name(name: str) -> str:
    """Return a column's name as reported by the current description (`reporting`)."""
    return (_CURRENT.get() or _PLAIN).shown(name)


@contextlib.contextmanager
def reporting(names: PlanNames) -> Iterator[None]:
    """Use this reporting of names within the block."""
    token = _CURRENT.set(names)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def without_keys(name: str) -> str:
    """Remove the arguments of encryption functions, except the value, from a name or text. Idempotent."""
    parts: list[str] = []
    done = 0
    while found := _CIPHER.search(name, done):
        arguments, end = _arguments(name, found.end())
        value = arguments[0].strip()
        value = without_keys(value) if len(_CIPHER.findall(value)) < _MAX_NESTED else HIDDEN
        shown = value if _is_of_columns(value) else HIDDEN
        parts.append(f"{name[done : found.end()]}{shown}, {HIDDEN})")
        others = [each.strip() for each in arguments[1:]]
        if end is None or (others != [HIDDEN] and len(arguments) != _CIPHER_ARGUMENTS[(found[1] or found[2]).lower()]):
            # A comma or a bracket is part of the key, so the key's end is unknown.
            before = name[: found.start()]
            return "".join(parts) + ")" * max(before.count("(") - before.count(")"), 0)
        done = end
    return "".join((*parts, name[done:]))


def without_literals(name: str) -> str:
    """Remove possible literals from a name with the shape of Spark's generated names. Idempotent."""
    if _OF_A_COLUMN.fullmatch(name):
        return name
    if (pivot := _OF_A_PIVOT.fullmatch(name)) and name.partition("(")[0] not in _AGGREGATES:
        return f"{HIDDEN}_{without_literals(pivot['call'])}"
    if call := _CALL.fullmatch(name):
        return f"{call['head']}{HIDDEN if call['inside'] else ''})"
    for shape, shown in _OTHER_SHAPES:
        if shape.fullmatch(name):
            return shape.sub(shown, name, count=1)
    return name


def _arguments(name: str, start: int) -> tuple[list[str], int | None]:
    """Return the arguments of the call that opens before `start`, and the position after it (None: never closed)."""
    arguments: list[str] = []
    depth, begin = 0, start
    for found in _DELIMITER.finditer(name, start):
        if found[0] == "(":
            depth += 1
        elif found[0] == ")" and depth:
            depth -= 1
        elif depth == 0:
            arguments.append(name[begin : found.start()])
            begin = found.end()
            if found[0] == ")":
                return arguments, begin
    return [*arguments, name[begin:]], None


def _is_of_columns(text: str) -> bool:
    leaves = (leaf.strip() for leaf in _DELIMITER.split(text))
    return all(not leaf or leaf == HIDDEN or _COLUMN.fullmatch(leaf) for leaf in leaves)


def _pivoted(alias: str, pivot: str) -> str:
    for index, character in enumerate(alias):
        if character == "_" and alias[index + 1 :] and alias[index + 1 :] in pivot:
            return f"{HIDDEN}_{without_literals(alias[index + 1 :])}"
    return HIDDEN


def _aliases(nodes: Nodes) -> Iterator[tuple[str, Nodes]]:
    """Yield each alias of a plan with the expression that it names, subqueries included."""
    waiting: list[Any] = [nodes]
    while waiting:
        value = waiting.pop()
        if is_tree(value) and simple_name(value[0]["class"]) == "Alias":
            yield str(PlanNode("Alias", value[0]).get("name")), value[1:]
        if isinstance(value, list):
            waiting += (each for each in value if isinstance(each, list | dict))
        elif isinstance(value, dict):
            waiting += (each for each in value.values() if isinstance(each, list | dict))
