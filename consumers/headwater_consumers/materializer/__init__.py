"""The materializer: from the events topic to the graph, `source → decode → fold → write → checkpoint`.

`app.py` wires the materializer, `loop.py` drives it; every other file has one step or one concept.
"""
