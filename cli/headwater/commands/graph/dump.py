"""`headwater graph dump`: the whole graph in one canonical form."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.table import Table

from headwater.console import JsonOption, console
from headwater.graph_driver import current_graph
from headwater.line_output import line_sink, write_line
from headwater.settings import connected_settings
from headwater_graph.dump import dump as dump_lines


def dump(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Include properties that begin with `_`, on which later merges depend.")
    ] = False,
    json_output: JsonOption = False,
) -> None:
    """Print the graph as JSON lines: equal graphs give equal bytes.

    With --json the lines are counted and hashed, and only written to the file given by -o: compare graphs by `sha256`.
    """
    settings = connected_settings(neo4j=True).neo4j
    with current_graph(settings) as driver, line_sink(output, silent=json_output) as sink:
        document = _write(dump_lines(driver, settings.database, internal=internal), sink, output)
    if output is not None or json_output:
        console.result(document, _table(document))


def _write(lines: Iterator[str], sink: BinaryIO | None, output: Path | None) -> dict[str, Any]:
    digest, nodes, relationships, count = hashlib.sha256(), Counter[str](), Counter[str](), 0
    for line in lines:
        digest.update(line.encode() + b"\n")
        if sink is not None:
            write_line(sink, line)
        fields = json.loads(line)
        if "labels" in fields:
            nodes.update(fields["labels"])
        else:
            relationships[fields["type"]] += 1
        count += 1
    return {
        "file": None if output is None else str(output),
        "lines": count,
        "sha256": digest.hexdigest(),
        "nodes": dict(sorted(nodes.items())),
        "relationships": dict(sorted(relationships.items())),
    }


def _table(document: dict[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, count in (*document["nodes"].items(), *document["relationships"].items()):
        table.add_row(name, f"{count:,}")
    table.add_row("lines", f"{document['lines']:,}")
    table.add_row("sha256", document["sha256"])
    return table
