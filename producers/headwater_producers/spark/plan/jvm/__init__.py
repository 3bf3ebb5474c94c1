"""Direct looks at a plan through py4j, for what its JSON doesn't tell: what leaves read and commands write."""
