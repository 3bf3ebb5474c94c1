"""The graph: its model, keys, constraints, derived facts, dump and oracle. `docs/graph.md` is for its readers."""
