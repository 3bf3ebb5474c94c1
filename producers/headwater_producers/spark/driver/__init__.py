"""Capture of one application in the Spark driver.

    callbacks ─▶ listeners, hooks ─▶ inbox ─▶ engine's worker ─▶ dispatch ─▶ (streaming) ─▶ emission ─▶ sink

`attach` connects these parts, `capture` is the handle for the job, and `shutdown` ends capture with the process.
"""
