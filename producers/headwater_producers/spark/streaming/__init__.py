"""From a streaming query's progress and checkpoint to runs and intervals. Nothing here knows py4j."""
