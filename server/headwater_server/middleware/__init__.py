"""Middleware that every request passes through.

requests    the outermost: counts and times requests; defects become problems; limits concurrent questions; paths as
    sent
audit       a record of each, before its answer
hosts       only under a name of this server, and not from another site's page
identify    who asks, and whether the credential allows what the route needs
intake      the doors for events and declarations
answers     headers for browsers, HEAD without a body, gzip
bodies      read whole, and JSON

`app` has their order.
"""
