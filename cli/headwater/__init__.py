"""Command line, embedded stack and demo. This package may import all others except the benchmarks."""
