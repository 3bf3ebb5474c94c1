"""Answers for people: trees, tables and drawings of what `headwater_consumers.analysis` found. One module an area."""
