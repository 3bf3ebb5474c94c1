"""What `spark-submit --conf` says to capture.

`spark.headwater.jobName` is the setting `job_name`: each setting has one property, in Spark's own spelling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "spark.headwater."


def headwater_properties(spark: Any) -> dict[str, str]:
    """The application's `spark.headwater.…` properties, as its driver was started with them."""
    return properties(spark.sparkContext, PREFIX)


def properties(spark_context: Any, prefix: str) -> dict[str, str]:
    """The properties that begin with `prefix`; no round trip to the JVM for each."""
    return {name: value for name, value in spark_context.getConf().getAll() if name.startswith(prefix)}


def property_name(setting: str) -> str:
    """`job_name` ⇒ `spark.headwater.jobName`."""
    first, *others = setting.split("_")
    return PREFIX + first + "".join(word.capitalize() for word in others)


def settings_named(found: Mapping[str, str], known: Mapping[str, object]) -> tuple[dict[str, str], str | None]:
    """The settings that properties are about, and the first property that is about none.

    Args:
        found: properties by name.
        known: all settings.
    """
    names = {property_name(setting): setting for setting in known}
    strange = min((name for name in found if name not in names), default=None)
    return {names[name]: value for name, value in found.items() if name in names}, strange


def setting_meant(name: str) -> str:
    """`spark.headwater.jobNme` ⇒ `job_nme`: how the setting would be spelt, to find the nearest with."""
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name.removeprefix(PREFIX)).lower()
