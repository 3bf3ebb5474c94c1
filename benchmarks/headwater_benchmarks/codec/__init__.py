"""`bench codec`: events to bytes and back, beside bare fastavro and beside OpenLineage's JSON.

contestants  who encodes and decodes
openlineage  the same facts as OpenLineage's events
run          the measuring, and the report
show         the report as a table
"""
