"""Reading of schema files.

files        format of a file, and its reader
document     JSON and YAML with the line of each value, and with mistakes
spark        Spark's StructType as JSON
avro         `.avsc`
json_schema  JSON Schema
columns      a list of columns: OpenLineage's schema facet
contract     a table of an ODCS data contract
ddl          CREATE TABLE, or columns as Spark's `fromDDL` takes them
"""
