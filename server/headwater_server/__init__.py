"""HTTP: the questions of `analysis` as an API, and the page that draws lineage. Reads only.

app          wires it: routes, middleware, errors, one driver
server       the app behind a socket
connections  deadlines and limits of connections
settings     the section `serve`
asking       from a request to a question's answer: time limit, page size, the reader
answers      answers as JSON, cacheable
problems     errors, as RFC 9457 problem details
handlers     exceptions ⇒ problems
parameters   parameters of several routes
records      records of a topic, from query parameters
documented   the OpenAPI document: descriptions of fields, real examples, problems
examples     requests with the answers that the recorded demo gives
metrics      requests and their durations, for Prometheus
routes/      the endpoints, one file for each area
middleware/  steps of every request, one file for each concern
page/        the pages at `/` and `/docs`, built in `web/`
"""
