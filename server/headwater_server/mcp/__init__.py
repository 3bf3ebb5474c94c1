"""The questions as tools of the Model Context Protocol, for assistants.

tools     the tools: which operation each asks, with which of its parameters, and what its answer means
asks      how a tool asks an operation: the seam between the tools and whoever answers
protocol  the tools as a server of the official SDK, whatever carries its messages
http      `/mcp` of `headwater serve`, and where its clients learn at which provider to log in

A tool has no way of its own to the graph: it asks an operation of the API with the credential of its caller. So it
can't answer what the API would refuse, and the API's limits, filter and audit hold for it.
"""
