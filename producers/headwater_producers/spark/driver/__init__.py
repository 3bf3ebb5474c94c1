"""Capture of one application in the Spark driver.

    callbacks ─▶ listeners, hooks ─▶ inbox ─▶ engine's worker ─▶ dispatch ─▶ (streaming) ─▶ emission ─▶ sink

`attach` wires it, `capture` is its handle, `shutdown` its end.
"""
