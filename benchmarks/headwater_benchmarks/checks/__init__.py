"""`headwater bench checks`: how long each rule of `headwater check` takes on a large graph, a part of it declared.

declare     what is declared of the estate, written as the materializer writes it
run         the measuring, and the report
show        the report as tables
"""
