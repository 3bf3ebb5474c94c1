-- struct field
SELECT address.street, address.geo.lat AS lat FROM trips;
-- a whole struct
SELECT address FROM trips;
-- build a struct
SELECT struct(id, payload AS text) AS s, named_struct('a', id, 'b', address.street) AS n FROM trips;
-- build and take apart
SELECT s.a AS x FROM (SELECT named_struct('a', id, 'b', payload) AS s FROM trips);
-- array element
SELECT tags[0] AS first, element_at(tags, -1) AS last, tags[id] AS picked FROM trips;
-- map value
SELECT marks['x'] AS x, element_at(marks, payload) AS y FROM trips;
-- field of array elements
SELECT legs.origin AS origins, legs[0].dest AS dest FROM trips;
-- build an array and a map
SELECT array(id, 5) AS a, map('k', id) AS m, array(id, 5)[0] AS back FROM trips;
-- explode
SELECT id, tag FROM trips LATERAL VIEW explode(tags) t AS tag;
-- explode structs
SELECT leg.origin, leg.dest AS destination FROM trips LATERAL VIEW OUTER explode(legs) t AS leg;
-- explode a map
SELECT k, v FROM trips LATERAL VIEW explode(marks) t AS k, v;
-- posexplode
SELECT pos, tag FROM trips LATERAL VIEW posexplode(tags) t AS pos, tag;
-- inline
SELECT inline(legs) FROM trips;
-- stack
SELECT stack(2, id, payload, 5, tags[0]) AS (a, b) FROM trips;
-- transform
SELECT transform(tags, t -> upper(t)) AS up, transform(legs, (l, i) -> concat(l.origin, i)) AS o FROM trips;
-- filter elements
SELECT filter(legs, l -> l.origin = payload) AS kept FROM trips;
-- exists and forall
SELECT exists(tags, t -> t = payload) AS e, forall(tags, t -> t > 'a') AS f FROM trips;
-- aggregate elements
SELECT aggregate(tags, '', (acc, t) -> concat(acc, t), acc -> upper(acc)) AS joined FROM trips;
-- zip, maps
SELECT zip_with(tags, tags, (a, b) -> concat(a, b)) AS z, transform_values(marks, (k, v) -> v + id) AS m, map_filter(marks, (k, v) -> v > 1) AS f FROM trips;
-- array functions
SELECT array_distinct(tags) AS d, concat(tags, tags) AS c, size(tags) AS n, array_join(tags, ',') AS j, array_contains(tags, payload) AS h FROM trips;
-- map functions
SELECT map_keys(marks) AS k, map_values(marks) AS v, map_from_entries(array(struct(payload, id))) AS m FROM trips;
-- json of a column that is no payload
SELECT from_json(payload, 'a INT, b STRUCT<c: STRING>') AS j, get_json_object(payload, '$.x') AS x, to_json(address) AS t FROM trips;
-- json there and back
SELECT from_json(to_json(struct(id, address.street AS s)), 'id INT, s STRING').s AS street FROM trips;
-- json_tuple
SELECT a, b FROM trips LATERAL VIEW json_tuple(payload, 'a', 'b') t AS a, b;
