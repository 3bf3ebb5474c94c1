"""Questions to a `headwater serve` elsewhere, in place of the graph's database.

choice      the server that is asked, and the credential for it: variables, else the last `headwater login`
logins      file of log-ins
server      requests, answers and problems of a server
tools       calls of an assistant's tools
names       what a name stands for; other questions stand with their commands
"""
