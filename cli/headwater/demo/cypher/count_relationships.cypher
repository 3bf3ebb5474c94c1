// How many relationships of each type
MATCH ()-[relationship]->()
RETURN type(relationship) AS type, count(*) AS count
ORDER BY type
