"""Base facts that events state about the graph's nodes and relationships, and joins of facts.

model         labels and relationship types
registers     values with a stamp each; the greater stamp wins
properties    registers as properties of the graph and back
owners        registers of each label
nodes         facts of one node, its uses and spans
declarations  facts of declaration sets
incidents     logs of incidents
delta         facts of a set of events by key, and the join of two

Other modules of `graph` derive more facts from these, and write them. This package imports none of those modules.
"""
