"""What all of capture shares: settings, errors, metrics, the protocol of sinks. Imports nothing else of capture."""
