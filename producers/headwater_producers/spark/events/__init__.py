"""Builders of events: names, runs, datasets, plans. No module of this package uses py4j."""
