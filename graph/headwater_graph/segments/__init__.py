"""Segments: storage of a streaming query's micro-batches, 512 to a node.

slots.py     the facts of one micro-batch as a structure, integers and texts, and back
blocks.py    the slots of 64 micro-batches as bytes: open, to be appended to; closed, compressed
"""
