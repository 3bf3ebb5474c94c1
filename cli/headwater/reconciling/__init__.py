"""Reconciling from the command line: checkpoints of streaming queries, and tables that batch writes left open."""
