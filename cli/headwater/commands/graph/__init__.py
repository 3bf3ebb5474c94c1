"""`headwater graph`: dumps, verifies and rebuilds the whole graph."""

from __future__ import annotations

import typer

from headwater.commands.graph.dump import dump
from headwater.commands.graph.rebuild import migrate, rebuild
from headwater.commands.graph.restored import restored
from headwater.commands.graph.verify import verify

app = typer.Typer(help="Dump, verify and rebuild the whole graph.", no_args_is_help=True)
app.command()(dump)
app.command()(verify)
app.command()(rebuild)
app.command()(restored)
app.command()(migrate)
