"""What `spark-submit --conf` and `spark.conf.set` say to capture.

`spark.headwater.jobName` is the setting `job_name`: each setting has one property, in Spark's own spelling.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX: Final = "spark.headwater."
# In no name, and in no value that a person writes.
_BETWEEN: Final = "\x1e"


def headwater_properties(spark: Any) -> dict[str, str]:
    """The session's `spark.headwater.…` properties: the application's, and over them what its `spark.conf` was set to.

    On a platform that makes the session itself there is nothing else to set.
    """
    return properties(spark.sparkContext, PREFIX) | _set_in_session(spark)


def properties(spark_context: Any, prefix: str) -> dict[str, str]:
    """The properties that begin with `prefix`; no round trip to the JVM for each."""
    return {name: value for name, value in spark_context.getConf().getAll() if name.startswith(prefix)}


def _set_in_session(spark: Any) -> dict[str, str]:
    # One string instead of a round trip for each of some hundred entries. A Scala map's entry is `key -> value`.
    entries = str(spark._jsparkSession.conf().getAll().mkString(_BETWEEN)).split(_BETWEEN)
    pairs = (entry.partition(" -> ") for entry in entries if entry.startswith(PREFIX))
    return {name: value for name, _, value in pairs}


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
