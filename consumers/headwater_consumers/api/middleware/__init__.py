"""What every request passes through, the outermost first.

measure     counts and times it
headers     what browsers are told not to do
unforeseen  an error nobody foresaw becomes a problem, and a line in the log
hosts       only under a name of this server
sites       not at the bidding of another site's page
codings     gzip where Accept-Encoding really wants it
head        HEAD is GET without the body
bodies      read whole: none too large, none too slow
media       bodies are JSON
admission   no more questions at once than allowed
paths       an escaped slash in a path stays a part of its name
"""
