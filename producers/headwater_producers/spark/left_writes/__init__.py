"""Left writes: batch writes whose driver is gone, and their outcomes by the logs of their target tables."""
