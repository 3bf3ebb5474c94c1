"""Questions to a `headwater serve` elsewhere, in place of the graph's database.

choice      the server that is asked, and the credential for it: variables, else the last `headwater login`
logins      file of log-ins
device      log-in of a person by the device flow of an OpenID Connect provider
server      requests, answers and problems of a server
names       what a name stands for; other questions stand with their commands
"""
