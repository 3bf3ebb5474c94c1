"""Tools of the Model Context Protocol for the questions, for assistants.

tools     the tools: operation and parameters of each, and the meaning of its answer
asks      interface between the tools and the API that answers them
protocol  server of the tools with the official SDK, independent of the transport
http      `/mcp` of `headwater serve`, and metadata with the provider at which clients log in

A tool doesn't read the graph itself: it asks an operation of the API with its caller's credential. So the API's limits,
filter and audit apply, and a tool can't answer a question that the API would refuse.
"""
