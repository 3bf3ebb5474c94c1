"""`headwater soak`: real processes, real faults, and comparisons of the graph with the acknowledged events.

- `schedule`: the order of faults, and the report;
- `world`: servers, feed and consumers, and the comparison;
- `faults`: the classes of faults;
- `doctored`: a consumer that crashes or loses events;
- `servers`, `links`, `feed`: the parts of a world.
"""
