"""HTTP server: the questions of `analysis` as an API, the page that draws lineage, and the intake of events.

app          wiring: routes, middleware, errors, one driver
server       server of the app: socket, start and stop
connections  deadlines and limits of connections
settings     the section `serve`
asking       steps from a request to a question's answer: time limit, page size, reader, cacheable JSON
access       configured ways to log in, and TLS
problems     errors, as RFC 9457 problem details
handlers     exceptions ⇒ problems
parameters   parameters of several routes
records      records of a topic, from query parameters
documented   the OpenAPI document: descriptions of fields, real examples, problems
examples     requests and answers, recorded from the demo
metrics      requests and their durations, for Prometheus
routes/      the endpoints, one file for each area
middleware/  steps that every request passes, one file for each concern
page/        the pages at `/` and `/docs`, built in `web/`
"""
