"""What several test suites share. On the import path as `support` (see pytest's `pythonpath` in pyproject.toml)."""
