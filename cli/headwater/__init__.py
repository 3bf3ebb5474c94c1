"""The command line, the embedded stack and the benchmarks: the only package that may import all the others."""
