"""The graph's model: labels, keys, constraints, what is derived, the dump and the oracle. `docs/graph.md` for readers."""
