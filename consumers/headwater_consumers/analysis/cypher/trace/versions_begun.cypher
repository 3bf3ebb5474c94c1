// Versions of a dataset that begin with a text
MATCH (:Dataset {key: $dataset})<-[:OF]-(v:Version) WHERE $text <> '' AND v.version STARTS WITH $text
WITH v.version AS version ORDER BY version LIMIT 5
RETURN collect(version) AS versions
