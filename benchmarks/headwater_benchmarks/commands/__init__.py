"""The commands `headwater bench` and `headwater soak`."""
