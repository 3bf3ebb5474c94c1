"""Shared parts of capture: settings, errors, metrics, the protocol of sinks. Imports nothing else of capture."""
