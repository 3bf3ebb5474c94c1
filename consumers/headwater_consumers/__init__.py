"""Consumers of lineage events: the materializer, and the graph that it writes. Imports only the contract."""
