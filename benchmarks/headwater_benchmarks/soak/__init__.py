"""`headwater soak`: real processes, real faults, and the graph compared with what the brokers acknowledged.

- `schedule`: the order of faults, and the report;
- `world`: servers, feed and consumers, and the comparison;
- `faults`: the classes of faults; `doctored`: a consumer that crashes or loses events;
- `servers`, `links`, `feed`: the parts of a world.
"""
