"""Middleware that every request passes through.

requests    the outermost: counts and times requests; defects become problems; limits questions; keeps paths escaped
audit       audit record of each request, before its answer
hosts       refusal of requests for other hosts, and from pages of other sites
identify    identity of the asker, and check of the scope that the route needs
intake      limits of requests with events and declarations
answers     headers for browsers, HEAD without a body, gzip
bodies      complete reading of bodies, which must be JSON

`app` defines their order.
"""
