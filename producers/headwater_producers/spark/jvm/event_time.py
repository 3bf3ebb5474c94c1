"""Event time in a streaming query's plan: watermarks, stateful operators, retention of their state.

    EventTimeWatermark t, 10 minutes ─▶ window(t, 1 hour) ─▶ Aggregate        horizon: 70 minutes

The horizon is the largest lateness of a record that may still reach the state: the delay of the watermark and the
length of the window together. It is only reported for a single operator that drops its state by event time: windows,
and groups or deduplication by event time. It isn't reported for sessions, joins of two streams, user-defined state, a
group without event time, several such operators, output mode complete, or an input without a watermark.
"""

from __future__ import annotations

import re
from typing import Any, Final

from headwater_producers.spark.jvm.scala import class_name, items

# Maximum number of plan steps to read; for a larger plan no event time is reported.
_MAX_NODES: Final = 500
_BY_EVENT_TIME: Final = frozenset({"Aggregate", "Deduplicate"})
_STATEFUL: Final = _BY_EVENT_TIME | {
    "DeduplicateWithinWatermark",
    "FlatMapGroupsWithState",
    "FlatMapGroupsInPandasWithState",
    "TransformWithState",
    "TransformWithStateInPandas",
    "TransformWithStateInPySpark",
}
# Spark marks a column of event time with its watermark's delay: t#2-T600000ms.
_EVENT_TIME: Final = re.compile(r"-T\d+ms")
# The end of a window in Spark's analyzed plan: … + 3600000000), LongType, TimestampType))
_WINDOW_MICROS: Final = re.compile(r"\+ (\d+)\), LongType, TimestampType(?:NTZ)?\)")


def event_time(plan: Any, jvm: Any) -> dict[str, Any]:
    """Return an analyzed plan's watermarks, stateful operators and, if known, the state's horizon; empty without any.

    Args:
        plan: a streaming query's `logicalPlan`.
        jvm: JVM view, which converts delays to milliseconds.
    """
    watermarks: list[dict[str, Any]] = []
    operators: list[str] = []
    windows: list[int] = []
    texts: list[str] = []
    all_bounded = True
    delays = jvm.org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
    for node, has_watermark in _streaming_nodes(plan):
        name = class_name(node)
        all_bounded &= has_watermark or node.children().size() > 0
        if name == "EventTimeWatermark":
            watermarks.append({"field": str(node.eventTime().name()), "delayMs": int(delays.getDelayMs(node.delay()))})
        elif name in _STATEFUL or (name == "Join" and node.left().isStreaming() and node.right().isStreaming()):
            operators.append(name)
            texts.append(_keys(node, name))
        elif name in {"Project", "Expand"}:
            text = ", ".join(str(each.toString()) for each in items(node.expressions()))
            windows += [int(micros) // 1_000 for micros in _WINDOW_MICROS.findall(text)]
            texts += ["session"] if "AS session_window#" in text else []
    out: dict[str, Any] = {}
    if watermarks:
        out["watermarks"] = watermarks
    if operators:
        out["statefulOperators"] = operators
    if windows:
        out["windowMs"] = max(windows)
    complete = str(plan.simpleString(100)).rstrip().endswith(", Complete")
    by_time = all_bounded and all(_EVENT_TIME.search(text) for text in texts)
    if watermarks and len(operators) == 1 and not complete and by_time:
        out["stateHorizonMs"] = max(each["delayMs"] for each in watermarks) + max(windows, default=0)
    return out


def _keys(node: Any, name: str) -> str:
    """Return an operator's keys as text, if event time among them bounds its state; "" for other operators."""
    if name == "Aggregate":
        return ", ".join(str(each.toString()) for each in items(node.groupingExpressions()))
    if name == "Deduplicate":
        return ", ".join(str(each.toString()) for each in items(node.keys()))
    return ""


def _streaming_nodes(plan: Any) -> list[tuple[Any, bool]]:
    """List the streaming nodes of a plan, each with whether its records pass a watermark in this node or a later one.

    Empty for a plan of more than `_MAX_NODES` nodes.
    """
    found: list[tuple[Any, bool]] = []
    waiting = [(plan, False)]
    for _ in range(_MAX_NODES):
        if not waiting:
            return found
        node, has_watermark = waiting.pop()
        has_watermark = has_watermark or class_name(node) == "EventTimeWatermark"
        if node.isStreaming():
            found.append((node, has_watermark))
        waiting.extend((each, has_watermark) for each in items(node.children()))
    # An operator beyond the limit of nodes could keep records for longer.
    return [] if waiting else found
