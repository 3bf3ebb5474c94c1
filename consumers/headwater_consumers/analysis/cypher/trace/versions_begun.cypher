// Versions of a dataset that begin with a text
MATCH (:HwDataset {key: $given.dataset})<-[:OF]-(v:HwVersion) WHERE $given.text <> '' AND v.version STARTS WITH $given.text
WITH v.version AS version ORDER BY version LIMIT 5
RETURN collect(version) AS versions
