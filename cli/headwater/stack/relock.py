"""Rewrite the locks: `python -m headwater.stack.relock [NAME …]`, with names of `lock.LockName`. For maintainers.

Ivy resolves each root with its dependencies (minutes for Neo4j), and the result without the exclusions becomes the flat
list. Check the difference before you commit it. Spark's locks are written for the installed PySpark and leave out its
jars: `uv run --with pyspark==3.5.7 python -m headwater.stack.relock spark delta`.
"""

from __future__ import annotations

import hashlib
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from headwater.console import console
from headwater.errors import ConfigurationError
from headwater.stack import ivy
from headwater.stack.lock import Jar, LockName, render_lock
from headwater.stack.spark import SPARK_JARS, installed_pyspark, installed_release, lock_file


@dataclass(frozen=True, slots=True)
class Root:
    """Modules to resolve for one lock.

    Attributes:
        modules: `organisation:artifact:version` of the modules to include.
        excluded: modules to exclude, as `organisation:artifact`; the reason is in a comment at the declaration.
        bundled: Whether to leave out jars that are part of PySpark.
        alone: Whether to leave out all dependencies, because the target already has them.
    """

    modules: tuple[str, ...]
    excluded: tuple[str, ...] = ()
    bundled: bool = False
    alone: bool = False


ROOTS: dict[LockName, Root] = {
    "kafka": Root(
        # The broker logs through slf4j 1.7; without a binding it would log nothing.
        modules=("org.apache.kafka:kafka_2.13:4.1.1", "org.apache.logging.log4j:log4j-slf4j-impl:2.24.3"),
        # Tools, and the store of Kafka Streams: 60 MB that a broker never loads.
        excluded=("org.apache.kafka:kafka-tools-api", "org.rocksdb:rocksdbjni"),
    ),
    "neo4j": Root(
        modules=("org.neo4j:neo4j:5.26.30", "org.neo4j.client:neo4j-browser:5.24.0"),
        # Test helpers that the POM names by mistake and the repository doesn't have.
        excluded=("org.neo4j:log-test-utils",),
    ),
    # Baseline of `headwater bench capture`.
    "openlineage": Root(modules=("io.openlineage:openlineage-spark_2.13:1.53.0",), bundled=True),
    # OpenLineage's listener for Spark 3, for a test.
    "openlineage-spark3": Root(modules=("io.openlineage:openlineage-spark_2.12:1.53.0",), alone=True),
    # OpenLineage's listener and Kafka's connector, which a test adds to the jars of PyFlink.
    "flink": Root(
        modules=(
            "io.openlineage:openlineage-flink:1.53.0",
            "org.apache.flink:flink-connector-kafka:5.0.0-2.2",
            "org.apache.flink:flink-connector-base:2.2.1",
            "org.apache.kafka:kafka-clients:4.1.1",
        ),
        alone=True,
    ),
}

# Annotations for compilers, which nothing loads.
_COMPILERS_OWN: Final = ("com.google.code.findbugs:jsr305",)


def roots() -> dict[LockName, Root]:
    """All locks of this environment: those for any Spark, and those of the installed Spark."""
    of_spark: dict[LockName, Root] = {
        name: Root(modules=(module,), excluded=_COMPILERS_OWN, bundled=True)
        for name, module in installed_release().modules.items()
    }
    return {**ROOTS, **of_spark}


def resolve(name: LockName) -> list[Jar]:
    """Resolve one root and hash every jar of the result."""
    root = roots()[name]
    conf = f'conf="*->master,runtime" transitive="{str(not root.alone).lower()}"'
    dependencies = [
        f'<dependency org="{org}" name="{artifact}" rev="{version}" {conf}/>'
        for org, artifact, version in (module.split(":") for module in root.modules)
    ]
    dependencies += [
        f'<exclude org="{org}" module="{artifact}"/>' for org, artifact in (e.split(":") for e in root.excluded)
    ]
    bundled = {_artifact(jar) for jar in ivy.ivy_jar().parent.glob("*.jar")} if root.bundled else set()
    with tempfile.TemporaryDirectory(prefix="headwater-relock-") as scratch:
        cache = Path(scratch, "cache")
        with ivy.run(name, "\n".join(dependencies), cache=cache, flat=False, retrieve=Path(scratch, "jars")) as lines:
            for line in lines:
                console.message(line.rstrip())
        jars = _reported(cache / f"headwater-{name}-default.xml")
    return sorted(jar for jar in jars if jar.artifact not in bundled)


def _artifact(jar: Path) -> str:
    """Artifact of a jar, `slf4j-api` for `slf4j-api-2.0.17.jar`: a job can't use another version than PySpark's."""
    return re.split(r"-(?=\d)", jar.stem, maxsplit=1)[0]


def _reported(report: Path) -> list[Jar]:
    jars = []
    for module in ET.parse(report).iter("module"):  # noqa: S314  written by the Ivy run above
        for revision in module.iter("revision"):
            for artifact in revision.findall("artifacts/artifact"):
                content = Path(artifact.attrib["location"]).read_bytes()
                jars.append(
                    Jar(
                        organisation=module.attrib["organisation"],
                        artifact=artifact.attrib["name"],
                        version=revision.attrib["name"],
                        classifier=artifact.get("extra-1.m.classifier", ""),
                        sha256=hashlib.sha256(content).hexdigest(),
                        size=len(content),
                    )
                )
    return jars


def main(names: list[str]) -> None:
    """Write the named locks, or all.

    Raises:
        ConfigurationError: The installed PySpark isn't the version of its locks.
    """
    release = installed_release()
    for name, root in roots().items():
        if names and name not in names:
            continue
        file = f"{name}.lock"
        if name in SPARK_JARS:
            if installed_pyspark() != release.pyspark:
                raise ConfigurationError(
                    f"PySpark {installed_pyspark()} is installed; {name}.lock is made with {release.pyspark}.",
                    fix=f"uv run --with pyspark=={release.pyspark} python -m headwater.stack.relock {name}",
                )
            file = lock_file(name, release)
        jars = resolve(name)
        heading = f"Written by python -m headwater.stack.relock from {', '.join(root.modules)}; not by hand."
        target = Path(__file__).parent / "locks" / file
        target.parent.mkdir(exist_ok=True)
        target.write_text(render_lock(jars, heading=heading), encoding="utf-8")
        console.message(f"{file}: {len(jars)} jars, {sum(jar.size for jar in jars) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
