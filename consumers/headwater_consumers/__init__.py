"""Consumers of lineage events: the materializer, the bridge and the forwarder."""
