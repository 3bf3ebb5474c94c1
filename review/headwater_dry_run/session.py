"""Session of a dry run: always local, with its warehouse in the scratch folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTINGS: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "1",
    # Signatures need the complete plan, with equal settings in both versions.
    "spark.sql.debug.maxToStringFields": "100000",
    "spark.sql.optimizer.inSetConversionThreshold": "100000",
}
# Prefix of the settings that a script may change: none of them gives access to other systems.
_SCRIPT_MAY_SET: Final = "spark.sql."
_SCRIPT_MAY_NOT_SET: Final = (
    "spark.sql.catalog",
    "spark.sql.extensions",
    "spark.sql.warehouse",
    "spark.sql.hive",
    "spark.sql.streaming.checkpointLocation",
    *_SETTINGS,
)


def make_session(scratch: Path) -> SparkSession:
    """Create a local session, whose JVM may only write to `scratch`."""
    from pyspark.sql import SparkSession

    java = f"-Dderby.system.home={scratch} -Djava.io.tmpdir={scratch} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss16m"
    builder = SparkSession.builder.master("local[1]").appName("headwater-review")
    settings = {
        **_SETTINGS,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java,
        "spark.local.dir": str(scratch / "local"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def keep_session(session: SparkSession) -> None:
    """Always give the script this session, and prevent the script from ending the session."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = session.sparkContext
    get = SparkSession.Builder.getOrCreate

    def get_this_session(builder: Any) -> Any:
        options = builder._options
        for name in [
            name for name in options if not name.startswith(_SCRIPT_MAY_SET) or name.startswith(_SCRIPT_MAY_NOT_SET)
        ]:
            del options[name]
        options.pop("spark.remote", None)
        return get(builder)

    def share_context(new: Any, *_: Any, **__: Any) -> None:
        new.__dict__ = context.__dict__

    def ignore_stop(*_: Any, **__: Any) -> None:
        """Ignore `stop()`: the session lives to the end of the dry run."""

    SparkSession.Builder.getOrCreate = get_this_session  # type: ignore[method-assign,assignment]
    SparkContext.__init__ = share_context  # type: ignore[method-assign,assignment]
    SparkSession.stop = ignore_stop  # type: ignore[method-assign]
    SparkContext.stop = ignore_stop  # type: ignore[method-assign]
