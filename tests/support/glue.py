"""AWS Glue on loopback: moto's server in a process of its own. It needs Iceberg's bundle of AWS in the session."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JJavaError

from headwater.stack import ports
from headwater.stack.process import GuardedProcess
from support.waiting import patience

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 60.0
_CREDENTIALS = ("aws.accessKeyId", "aws.secretAccessKey")


@contextmanager
def glue(spark: SparkSession) -> Iterator[str]:
    """A Glue while the block runs; the session's JVM has credentials for it, which it doesn't look at.

    Yields:
        Its endpoint.
    """
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass("software.amazon.awssdk.services.glue.GlueClient")
    except Py4JJavaError:
        pytest.skip("iceberg-aws-bundle isn't on the session's classpath: see the test")
    if importlib.util.find_spec("moto") is None:
        pytest.skip("moto isn't installed: see the test")
    system = jvm.java.lang.System
    port = ports.choose(ports.ANY).http
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "moto.server", "--host", "127.0.0.1", "--port", str(port)]
        process = GuardedProcess("moto", command, output=Path(folder) / "moto.log")
        for name in _CREDENTIALS:
            system.setProperty(name, "none")
        try:
            process.wait_until(
                lambda: not ports.is_free(port), timeout_seconds=patience(_SECONDS), cancelled=lambda: False
            )
            yield f"http://127.0.0.1:{port}"
        finally:
            for name in _CREDENTIALS:
                system.clearProperty(name)
            process.stop()
