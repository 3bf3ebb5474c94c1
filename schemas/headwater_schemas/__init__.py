"""The contract: what a lineage event says, how it is named and how it travels.

Imports nothing else of Headwater, so that a producer, a consumer or a stranger can depend on it alone.
"""
