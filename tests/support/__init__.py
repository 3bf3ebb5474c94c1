"""Shared support of the test suites, on the import path as `support` (pytest's `pythonpath` in pyproject.toml)."""
