"""Reconciliation from the command line: from checkpoints of streaming queries, and from logs of tables."""
