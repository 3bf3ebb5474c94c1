// How many versions a dataset has
MATCH (:Dataset {key: $of})<-[:OF]-(v:Version)
RETURN count(v) AS total
