"""`headwater run`: an unmodified PySpark script, captured."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from pydantic import SecretStr

import headwater_producers
from headwater.connection import require_servers
from headwater.console import console
from headwater.errors import ConfigurationError, InputError, NotConfiguredError
from headwater.settings import environment_name, load_settings, running_stack

if TYPE_CHECKING:
    from headwater.stack.spark import SparkJars

# All arguments after the script belong to the script.
CONTEXT = {"allow_interspersed_args": False}

_BOOTSTRAP = "spark/running/headwater_run.py"
# Sections of settings that capture shares with the commands.
_SECTIONS = ("kafka", "topic", "registry")
# For each value of `--with`: the lock (a list of jars with checksums) of its jars.
_JARS: Final[dict[str, SparkJars]] = {"kafka": "spark", "delta": "delta", "iceberg": "iceberg", "avro": "avro"}
_SUBMIT_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"


def command(  # noqa: PLR0917  Typer's options are parameters
    script: Annotated[str | None, typer.Argument(metavar="JOB.py", help="A PySpark script.")] = None,
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="ARGS", help="Arguments of the script, options included.")
    ] = None,
    job_name: Annotated[
        str | None, typer.Option(help="Name of the application's job; default: spark.app.name.")
    ] = None,
    job_namespace: Annotated[str | None, typer.Option(help="Namespace of the job.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant of the graph.")] = None,
    job_owner: Annotated[str | None, typer.Option(help="Owner of the job, e.g. team:flights.")] = None,
    job_criticality: Annotated[str | None, typer.Option(help="Criticality of the job, e.g. tier-1.")] = None,
    job_tags: Annotated[str | None, typer.Option(help="Tags of the job: key=value or key, comma-separated.")] = None,
    job_code_version: Annotated[
        str | None, typer.Option(help="Version of the code. Default: the git commit of the script.")
    ] = None,
    others: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other setting of capture; repeatable.")
    ] = None,
    with_jars: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="NAME",
            help="Add jars for the installed PySpark, downloaded once: kafka, delta, iceberg or avro; repeatable.",
        ),
    ] = None,
    bootstrap: Annotated[
        bool, typer.Option("--bootstrap", help="Print the path of the file to give to spark-submit before the script.")
    ] = False,
) -> None:
    """Run a PySpark script as `python JOB.py ARGS` would, and capture the lineage of each Spark session it creates.

    Give options before the script; they override Spark's properties and the environment. The exit status is the
    script's. It is 2 if the script can't be read, and 6 if settings are wrong: before the script runs, or when it
    creates its first session.
    """
    if bootstrap:
        console.raw(f"{bootstrap_file()}\n")
        return
    if script is None:
        raise InputError("No script was named.", fix="Write `headwater run JOB.py`.")
    if importlib.util.find_spec("pyspark") is None:
        raise ModuleNotFoundError("No module named 'pyspark'", name="pyspark")
    chosen = {
        "job_name": job_name,
        "job_namespace": job_namespace,
        "tenant": tenant,
        "job_owner": job_owner,
        "job_criticality": job_criticality,
        "job_tags": job_tags,
        "job_code_version": job_code_version,
    }
    named = [f"{name}={value}" for name, value in chosen.items() if value is not None] + (others or [])
    options = [word for setting in named for word in ("--set", setting)]
    environment = {**os.environ, **connection(), **_java(), **submit_arguments(with_jars or ())}
    sys.stdout.flush()
    sys.stderr.flush()
    # This process becomes the script's process. So the script gets its signals and standard streams directly, and sets
    # the exit status.
    os.execve(  # noqa: S606
        sys.executable,
        [sys.executable, str(bootstrap_file()), "--exit-on-wrong-settings", *options, script, *(arguments or ())],
        environment,
    )


def bootstrap_file() -> Path:
    """Path of the bootstrap file, an argument of `spark-submit` before the script."""
    # PySpark isn't imported here: if Spark has its own PySpark, only `spark-submit` knows its location.
    path = Path(headwater_producers.__path__[0], _BOOTSTRAP)
    if not path.is_file():
        raise InputError(f"{path} is missing from this installation.")
    return path


def connection() -> dict[str, str]:
    """Connection settings for lineage, as variables: from a file, the environment or a running stack.

    The address of Kafka is reported on stderr.
    """
    try:
        settings = load_settings(running=running_stack())
    except InputError as error:
        # Not status 2: programs that start jobs take this status for a script that can't be read.
        raise ConfigurationError(error.message, fix=error.fix, nearest=error.nearest) from None
    found: dict[str, str] = {}
    for section in _SECTIONS:
        values = getattr(settings, section)
        # Only explicitly set values: Spark's properties may have others, such as Kafka's address.
        found |= {
            environment_name(f"{section}.{field}"): text(getattr(values, field)) for field in values.model_fields_set
        }
    with contextlib.suppress(NotConfiguredError):
        # If no Kafka is set yet, Spark's properties may name one. If not, capture refuses the script's first session.
        console.using({"Kafka": f"{require_servers(settings.kafka)} ({settings.origin('kafka.bootstrap_servers')})"})
    return {name: value for name, value in found.items() if value}


def text(value: Any) -> str:
    """Format a setting's value for its environment variable; '' if it isn't set."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, dict):
        return json.dumps({name: text(each) for name, each in value.items()}) if value else ""
    return "" if value is None else str(value)


def _java() -> dict[str, str]:
    """Variables for the bundled Java; empty if this machine has a Java."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return {}
    from headwater.stack import java_runtime

    return java_runtime().environment()


def submit_arguments(wanted: Sequence[str]) -> dict[str, str]:
    """Return PySpark's arguments for spark-submit with the jars added; empty without jars."""
    from headwater.stack import ensure_jars

    for name in wanted:
        if name not in _JARS:
            raise InputError(f"--with {name}: there are no such jars.", fix=f"Choose from {', '.join(_JARS)}.")
    jars = [str(jar) for name in dict.fromkeys(wanted) for jar in ensure_jars(_JARS[name])]
    return {_SUBMIT_ARGUMENTS: jars_added(os.environ.get(_SUBMIT_ARGUMENTS, ""), jars)} if jars else {}


def jars_added(arguments: str, jars: Sequence[str]) -> str:
    """Add jars to the arguments of spark-submit, all in one `--jars`: spark-submit only uses the last one."""
    given = shlex.split(arguments) or ["pyspark-shell"]
    named = list(jars)
    others: list[str] = []
    while given:
        option, joined, value = given.pop(0).partition("=")
        if option == "--jars":
            named += (value if joined else given.pop(0) if given else "").split(",")
        else:
            others.append(option + joined + value)
    return shlex.join(["--jars", ",".join(filter(None, named)), *others])
