"""Answers for people: trees, tables and drawings of what `headwater_analysis` found. One module an area."""
