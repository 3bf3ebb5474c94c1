"""Operations that are answered for askers who may not see everything.

A route that isn't here is refused for them, so that a new one is until the property of
`tests/integration/server/test_non_interference.py` holds for it. What is left out reads numbers that were stored for
hidden datasets, too: gaps, timelines, checks and changes of quality. Declarations change the graph of all.
"""

from __future__ import annotations

FILTERED = frozenset(
    {
        *("asset", "assets", "asset_upstream", "asset_downstream", "asset_runs", "asset_versions"),
        *("column", "column_upstream", "column_downstream", "graph", "search"),
        *("job", "jobs", "job_runs", "job_intervals", "consumer", "consumers"),
        *("run", "runs", "open_runs", "run_inputs", "run_outputs", "run_intervals"),
        *("traces", "blast", "impact", "impact_analyze", "may_delete", "privacy", "diff"),
    }
)
