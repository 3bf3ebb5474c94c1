"""Questions to a remote `headwater serve` instead of the graph's database.

choice      choice of the server and its credential: variables, else the last `headwater login`
logins      file of log-ins
server      requests, answers and problems of a server
tools       calls of an assistant's tools
names       assets by name; other questions are in the modules of their commands
"""
