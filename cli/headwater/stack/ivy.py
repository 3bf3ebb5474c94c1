"""Run of the Ivy that PySpark contains. Ivy has a default repository, so no address has to be configured."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from headwater.errors import ConfigurationError, UnreachableError
from headwater.invocation import install_command
from headwater.stack import trust
from headwater.stack.java import java_runtime
from headwater.stack.process import GuardedProcess

MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="headwater" module="{name}"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
{dependencies}
  </dependencies>
</ivy-module>
"""

# `ibiblio` without an address is Ivy's own default repository. The flat list needs no POMs: the 215 jars of Neo4j take
# 20 seconds instead of 2 minutes. The lock's SHA-256 replaces the repository's checksums.
FLAT_SETTINGS = """<ivysettings>
  <settings defaultResolver="default"/>
  <resolvers><ibiblio name="default" m2compatible="true" usepoms="false" checksums=""/></resolvers>
</ivysettings>
"""


@contextlib.contextmanager
def run(name: str, dependencies: str, *, cache: Path, flat: bool, retrieve: Path) -> Iterator[Iterator[str]]:
    """Resolve and download during the block; yield Ivy's output, line by line.

    Leaving the block early ends Ivy. Its downloads stay in `cache` for the next run.

    Args:
        name: Name of the module. The report in `cache` is named `headwater-<name>-default.xml`.
        dependencies: `<dependency>` and `<exclude>` elements.
        flat: Whether to fetch only the named modules, without reading POMs; otherwise dependencies are resolved, too.
        retrieve: Folder for the jars, with paths `organisation/artifact-version[-classifier].jar`.

    Raises:
        UnreachableError: Ivy failed; the message has the cause from its output.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="headwater-ivy-") as scratch:
        module = Path(scratch, "ivy.xml")
        module.write_text(MODULE.format(name=name, dependencies=dependencies), encoding="utf-8")
        options = ["-cache", str(cache), "-ivy", str(module), "-confs", "default"]
        options += ["-retrieve", f"{retrieve}/[organisation]/[artifact]-[revision](-[classifier]).[ext]"]
        if flat:
            settings = Path(scratch, "ivysettings.xml")
            settings.write_text(FLAT_SETTINGS, encoding="utf-8")
            options += ["-settings", str(settings)]
        java = [str(java_runtime().executable), "-Xmx256m", *trust.java_options(system=False), *_proxy_options()]
        # Guarded, so that the download ends if its owner is killed: the next attempt uses the same cache.
        output = Path(scratch, "output")
        process = GuardedProcess("Ivy", [*java, "-cp", str(ivy_jar()), "org.apache.ivy.Main", *options], output=output)
        try:
            yield _lines(process, output)
            if process.exit_status() not in {None, 0}:
                raise UnreachableError(
                    f"The jars could not be downloaded. {_reason(output)}",
                    fix="Check the network, then run the same command again: arrived files are kept.",
                )
        finally:
            process.stop()


def ivy_jar() -> Path:
    """The Ivy jar of the installed PySpark.

    Raises:
        ConfigurationError: PySpark is not installed, or has no Ivy in it.
    """
    spec = importlib.util.find_spec("pyspark")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    found = [jar for folder in folders for jar in Path(folder, "jars").glob("ivy-*.jar")]
    if not found:
        raise ConfigurationError(
            "PySpark, whose Ivy downloads the jars, is missing.", fix=f"Install it: {install_command('stack')}"
        )
    return found[0]


def _lines(process: GuardedProcess, output: Path) -> Iterator[str]:
    with output.open(encoding="utf-8", errors="replace") as file:
        running = True
        while running:
            # Checked before reading, so that the last output is read, too.
            running = not process.ended()
            yield from file
            time.sleep(0.1 if running else 0)


def _reason(output: Path) -> str:
    # Ivy repeats failures many times; only a few lines contain a cause.
    cause = re.compile(r"SERVER ERROR|not found|Exception|FAILED|timed out")
    lines = output.read_text(encoding="utf-8", errors="replace").splitlines()
    causes = dict.fromkeys(line.strip() for line in lines if cause.search(line))
    return " ".join(list(causes)[:3]) or "Ivy gave no reason."


def _proxy_options() -> list[str]:
    # Java reads no HTTPS_PROXY.
    options = []
    for scheme in ("http", "https"):
        proxy = urlsplit(os.environ.get(f"{scheme}_proxy") or os.environ.get(f"{scheme.upper()}_PROXY") or "")
        if proxy.hostname:
            options += [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={proxy.port or 80}"]
    return options
