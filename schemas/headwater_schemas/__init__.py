"""The contract: what a lineage event contains, how datasets are named, and how events are encoded and sent.

Imports nothing else of Headwater, so that producers, consumers and other programs can use it by itself.
"""
