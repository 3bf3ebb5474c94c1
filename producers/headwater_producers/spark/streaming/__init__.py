"""Streaming queries: runs and intervals from progress and checkpoint. Nothing here knows py4j."""
