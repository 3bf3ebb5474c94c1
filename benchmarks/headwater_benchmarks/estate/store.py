"""An estate as a Neo4j store: made once for each (sizes, seed, generator), kept, and asked in place.

    estate-<digest>-…/manifest.json     written last: what is in the store, and how long it took
    estate-<digest>-…/neo4j/            Neo4j's home folder

All but micro-batches is imported by Neo4j's own `neo4j-admin database import`, whose class is among the jars of the
embedded stack. Then the materializer's `ensure_schema` makes constraints and indexes, and its writer writes the
micro-batches. Questions only read.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.errors import HeadwaterError
from headwater.stack import ensure_jars, java_runtime, ports
from headwater.stack.embedded import locked_version
from headwater.stack.neo4j import ADD_OPENS, USER, Neo4jServer
from headwater.stack.process import GuardedProcess
from headwater_benchmarks.estate.drawn import Estate, draw
from headwater_benchmarks.estate.micro_batches import write_micro_batches
from headwater_benchmarks.estate.sheets import LIST, Sheets
from headwater_benchmarks.estate.sizes import Sizes
from headwater_benchmarks.estate.starts import Record, Starts, draw_starts
from headwater_benchmarks.estate.write_columns import write_columns
from headwater_benchmarks.estate.write_datasets import write_datasets
from headwater_benchmarks.estate.write_jobs import write_jobs
from headwater_consumers.materializer.graph import writing_driver
from headwater_graph.connection import Neo4jTarget
from headwater_graph.facts.model import PREFIX
from headwater_graph.schema import GRAPH_VERSION, ensure_schema
from headwater_graph.statement_files import load

if TYPE_CHECKING:
    from neo4j import Driver

STARTS = 100
_IMPORT_HEAP_MB = 1024
_IMPORT_OFF_HEAP = "2G"


@dataclass(frozen=True, slots=True)
class Served:
    """A store that is up.

    Attributes:
        target: where.
        pid: of the server.
        neo4j: its version.
        manifest: nodes and relationships by kind, and the seconds that making it took.
        starts: where questions begin.
    """

    target: Neo4jTarget
    pid: int
    neo4j: str
    manifest: dict[str, Any]
    starts: Starts


@contextlib.contextmanager
def served(
    sizes: Sizes, below: Path, *, heap_mb: int, page_cache_mb: int, report: Callable[[str], None]
) -> Iterator[Served]:
    """The estate, up inside the block; made first if it isn't there.

    Args:
        sizes: of the estate.
        below: the folder that keeps stores.
        heap_mb: of the server.
        page_cache_mb: of the server.
        report: called with what is being done.

    Raises:
        HeadwaterError: it could not be made, or started.
    """
    version = locked_version("neo4j", "neo4j")
    folder = below / f"estate-{sizes.digest}-{GRAPH_VERSION}-{version}"
    with _alone(folder):
        if not (folder / "manifest.json").exists():
            _make(sizes, folder, report)
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        drawn = manifest.pop("starts")
        starts = Starts(
            tuple(drawn["far"]), tuple(drawn["any"]), tuple(Record(**record) for record in drawn["records"])
        )
        report("Starting Neo4j")
        with server_up(folder, heap_mb=heap_mb, page_cache_mb=page_cache_mb) as (server, target):
            yield Served(target, server.process.pid, version, manifest, starts)


def _make(sizes: Sizes, folder: Path, report: Callable[[str], None]) -> None:
    # What a kill left behind is not whole.
    shutil.rmtree(folder, ignore_errors=True)
    sheets_folder = folder / "sheets"
    sheets_folder.mkdir(parents=True)
    begun = time.monotonic()
    report("Drawing what feeds what")
    estate = draw(sizes)
    starts = draw_starts(estate, STARTS)
    sheets = write_sheets(estate, sheets_folder, lambda what: report(f"Writing {what}"))
    written = time.monotonic()
    report("Importing")
    import_sheets(sheets.arguments(), folder)
    shutil.rmtree(sheets_folder)
    imported = time.monotonic()
    report("Making constraints and indexes")
    with (
        server_up(folder, heap_mb=_IMPORT_HEAP_MB, page_cache_mb=_IMPORT_HEAP_MB) as (_, target),
        writing_driver(target) as driver,
    ):
        ensure_schema(driver, target.database)
        indexed = time.monotonic()
        report(f"Writing {estate.lines.intervals:,} micro-batches")
        write_micro_batches(estate, driver, target.database)
        made = time.monotonic()
        counts = {name: _counts(driver, target.database, name) for name in ("nodes", "relationships")}
    manifest = {
        "sizes": asdict(sizes),
        **counts,
        "micro_batches": estate.lines.intervals,
        "seconds": {
            "generate": round(written - begun, 1),
            "import": round(imported - written, 1),
            "indexes": round(indexed - imported, 1),
            "micro_batches": round(made - indexed, 1),
        },
        "starts": asdict(starts),
    }
    partial = folder / "manifest.json.partial"
    partial.write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    partial.replace(folder / "manifest.json")


def write_sheets(estate: Estate, folder: Path, report: Callable[[str], None]) -> Sheets:
    """The estate without its micro-batches, as in docs/graph.md, with the materializer's own keys."""
    with Sheets(folder) as sheets:
        for what, step in (
            ("datasets", write_datasets),
            ("columns", write_columns),
            ("jobs, plans and runs", write_jobs),
        ):
            report(what)
            step(estate, sheets)
    return sheets


def import_sheets(arguments: list[str], folder: Path) -> None:
    """Make the store of sheets below `folder`, which is Neo4j's own.

    Raises:
        HeadwaterError: the import failed.
    """
    home = folder / "neo4j"
    (home / "conf").mkdir(parents=True)
    log = folder / "import.log"
    process = GuardedProcess(
        "Neo4j's import",
        [
            str(java_runtime().executable),
            f"-Xmx{_IMPORT_HEAP_MB}m",
            *ADD_OPENS,
            "-cp",
            ":".join(map(str, ensure_jars("neo4j"))),
            "org.neo4j.cli.AdminTool",
            *("database", "import", "full", "neo4j", "--id-type=actual", f"--array-delimiter={LIST}"),
            f"--max-off-heap-memory={_IMPORT_OFF_HEAP}",
            f"--report-file={folder / 'import.report'}",
            *arguments,
        ],
        output=log,
        environment={"NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf"), "PATH": ""},
    )
    try:
        while not process.ended():
            time.sleep(0.2)
        if process.exit_status() != 0:
            raise HeadwaterError(f"Neo4j's import failed.\n{process.log_tail()}", fix=f"See {log}.")
    finally:
        process.stop()


@contextlib.contextmanager
def server_up(folder: Path, *, heap_mb: int, page_cache_mb: int) -> Iterator[tuple[Neo4jServer, Neo4jTarget]]:
    """A server with the store below a folder, which stays; a new store where there is none.

    Raises:
        HeadwaterError: it doesn't come up.
    """
    options = (f"-Xms{heap_mb}m", f"-Xmx{heap_mb}m")
    chosen = ports.choose(ports.ANY)
    home = folder / "neo4j"
    server = Neo4jServer(
        home, chosen, ensure_jars("neo4j"), java_options=options, page_cache_mb=page_cache_mb, delete=False
    )
    try:
        server.start()
        server.wait(lambda: False)
        password = server.password_file.read_text(encoding="utf-8").strip()
        yield server, Neo4jTarget(server.uri, USER, password, "neo4j")
    finally:
        if server.started:
            server.process.stop()


def _counts(driver: Driver, database: str, name: str) -> dict[str, int]:
    with driver.session(database=database) as session:
        rows = session.run(load("headwater_benchmarks.estate", f"counts/{name}"))
        return {row["kind"].removeprefix(PREFIX): row["many"] for row in rows}


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Two benchmarks can't have one store open: the second waits."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
