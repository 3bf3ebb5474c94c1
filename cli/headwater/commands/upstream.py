"""`headwater upstream`."""

from __future__ import annotations

from headwater.commands.lineage import lineage_command
from headwater_analysis.lineage import LineageDirection

command = lineage_command(
    LineageDirection.UPSTREAM,
    """List what a dataset or column is derived from, and by which jobs.

    Namespace, type and tag choose what is listed; what they leave out is passed through all the same.
    """,
)
