"""Stand-ins for everything around the materializer's loop: clock, broker, graph. They pass the real ones' contract."""
