// Declarations that are there, and what relationships they make
UNWIND $batch.rows AS key
MATCH (n:HwDeclaration {key: key})
RETURN collect(n {.key, .tenant, .subject, .subject_type, .inputs, .outputs, ._job, ._feeds, ._consumes}) AS found
