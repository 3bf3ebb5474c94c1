"""The contract: what a lineage event contains, how datasets are named, and how events are encoded and sent.

Imports nothing else of Headwater, so that a producer, a consumer or a stranger can depend on it alone.
"""
