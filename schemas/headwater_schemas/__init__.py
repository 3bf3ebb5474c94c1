"""Contract of lineage events: their content, the names of datasets, and how events are encoded and sent.

Imports nothing else of Headwater, so that producers, consumers and other programs can use it by itself.
"""
