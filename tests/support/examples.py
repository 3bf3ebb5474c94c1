"""Number of Hypothesis examples: few in the gate, as many as each property asks for in the nightly run."""

from __future__ import annotations

from hypothesis import settings

MOST_EXAMPLES = 50
"""Bound of the profile "gate"."""


def examples(many: int) -> int:
    """Number of examples in this run's profile, for `@settings(max_examples=…)`."""
    return min(many, MOST_EXAMPLES) if settings.get_current_profile_name() == "gate" else many
