"""A Hive metastore on loopback, in a process of its own: Hive 2.3 from the jars of PySpark, over Derby in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

from headwater.stack import java_runtime, ports
from headwater.stack.process import GuardedProcess
from support.running import QUICK_JVM
from support.waiting import patience

_SECONDS = 90.0


@contextmanager
def hive_metastore(home: Path) -> Iterator[str]:
    """A metastore while the block runs.

    Args:
        home: a folder of its own, for its warehouse and log.

    Yields:
        Its URI, `thrift://127.0.0.1:…`. It has no locks: scripts of Hive's make their tables, and PySpark ships none.
    """
    port = ports.choose(ports.ANY).http
    settings = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.metastore.warehouse.dir": str(home / "warehouse"),
        "hive.async.log.enabled": "false",
        "derby.system.home": str(home),
        "java.io.tmpdir": str(home),
    }
    home.mkdir(parents=True, exist_ok=True)
    process = GuardedProcess(
        "A Hive metastore",
        [
            str(java_runtime().executable),
            *("-Xmx256m", *QUICK_JVM.split()),
            *(f"-D{name}={value}" for name, value in settings.items()),
            *("-cp", f"{Path(next(iter(pyspark.__path__))) / 'jars'}/*"),
            *("org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)),
        ],
        output=home / "metastore.log",
        folder=home,
    )
    try:
        process.wait_until(lambda: not ports.is_free(port), timeout_seconds=patience(_SECONDS), cancelled=lambda: False)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        process.stop()
