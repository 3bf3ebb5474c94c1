"""Questions answered naively, from the dump of a graph."""
