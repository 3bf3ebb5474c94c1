"""Making events: names, runs, datasets, plans. Nothing here knows py4j."""
