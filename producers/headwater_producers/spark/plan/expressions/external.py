"""Black boxes: functions whose code isn't in the plan, so that every argument is a possible source."""

from __future__ import annotations

from dataclasses import replace

from headwater_producers.spark.plan.column import CONSTANT, DirectSource, ValueLineage
from headwater_producers.spark.plan.expressions.call import Call, Rule, rules
from headwater_producers.spark.plan.text import inline_texts
from headwater_schemas.events import TransformationKind as Kind

BLACK_BOXES = (
    "PythonUDF PythonUDAF PythonUDTF UnresolvedPolymorphicPythonUDTF ScalaUDF ScalaAggregator ScalaUDAF "
    "UserDefinedGenerator HiveSimpleUDF HiveGenericUDF HiveUDAFFunction HiveGenericUDTF CallMethodViaReflection "
    "TryReflect ApplyFunctionExpression V2Aggregator Invoke StaticInvoke NewInstance TypedAggregateExpression "
    "SimpleTypedAggregateExpression ComplexTypedAggregateExpression"
)


def external(call: Call) -> ValueLineage:
    """Read a user-defined function: Python, Scala, Java, Hive."""
    name = call.node.get("name") or call.node.get("udfName") or call.node.name
    varying = [argument for argument in call.arguments if argument.direct != CONSTANT]
    result = replace(call.step(Kind.EXTERNAL, varying), text=f"{name}({inline_texts(call.arguments)})")
    result = replace(result, type=call.node.get("dataType"))
    return result if result.direct else replace(result, direct=frozenset({DirectSource(None, Kind.EXTERNAL)}))


EXTERNAL: dict[str, Rule] = rules(external, BLACK_BOXES)
