"""Middleware that every request passes through.

requests    the outermost: counts and times it; a defect becomes a problem; so many questions at once; paths as sent
hosts       only under a name of this server, and not at the bidding of another site's page
answers     headers for browsers, HEAD without a body, gzip
bodies      read whole, and JSON

`app` has their order.
"""
