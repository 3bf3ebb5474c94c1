"""The soak test: real processes, real faults, and the graph compared with what the brokers acknowledged.

- `run`, `turns`: the order of things, and the report;
- `world`, `size`, `verdict`: servers, feed and consumers, and the comparison;
- `faults/`: the classes of faults;
- `servers`, `links`, `process`, `consumer`, `feed`: the parts of a world;
- `crashing`: a consumer that ends at a step of the checkpoint.
"""
