"""What runs while a job is captured: callbacks ─▶ inbox ─▶ the worker ─▶ dispatch."""
