"""Reconciling from the command line: a checkpoint, what is known of its query, and what is to be sent.

unreadable     errors of a location that cannot be read
checkpoints    which files to read a location with
knowledge      what the graph, or a person, knows of the query
reconcile      the events of one checkpoint, and what is missing for good
"""
