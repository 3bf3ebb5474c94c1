"""Number of Hypothesis examples: few in the gate, as many as each property asks for in the nightly run."""

from __future__ import annotations

from support.gate import in_gate

MOST_EXAMPLES = 50
"""Bound of the profile "gate"."""


def examples(many: int) -> int:
    """Number of examples in this run's profile, for `@settings(max_examples=…)`."""
    return min(many, MOST_EXAMPLES) if in_gate() else many
