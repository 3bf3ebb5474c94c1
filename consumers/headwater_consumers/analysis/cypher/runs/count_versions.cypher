// How many versions a dataset has
MATCH (d:Dataset)<-[:OF]-(v:Version) WHERE d.key IN $given.of
RETURN count(v) AS total
