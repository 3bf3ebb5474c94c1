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
-- union of structs
SELECT address AS a FROM trips UNION ALL SELECT named_struct('street', payload, 'geo', named_struct('lat', 1.0D, 'lon', CAST(id AS DOUBLE))) FROM trips;
-- union of structs goes by position
SELECT s.a AS a, s.b AS b, s AS s FROM (SELECT named_struct('a', id, 'b', age) AS s FROM people UNION ALL SELECT named_struct('b', person_id, 'a', id) FROM orders);
-- a struct's cast goes by position
SELECT CAST(named_struct('a', id, 'b', age) AS STRUCT<b: BIGINT, a: BIGINT>) AS s FROM people;
-- casts of arrays and maps
SELECT CAST(legs AS ARRAY<STRUCT<x: STRING, y: STRING>>) AS l, CAST(marks AS MAP<STRING, BIGINT>) AS m, CAST(tags AS ARRAY<INT>) AS t FROM trips;
-- a field of a choice
SELECT (CASE WHEN id > 1 THEN address ELSE NULL END).street AS s FROM trips;
-- a field of a coalesce
SELECT coalesce(address, named_struct('street', payload, 'geo', null)).street AS s FROM trips;
-- arrays changed
SELECT array_append(tags, payload) AS a, array_prepend(tags, payload) AS p, array_insert(tags, id, payload) AS i, array_repeat(payload, id) AS r, array_remove(tags, payload) AS m, slice(tags, 1, id) AS s, array_union(tags, array(payload)) AS u, array_compact(tags) AS c, array_except(tags, array(payload)) AS x, array_max(tags) AS mx, get(tags, 0) AS g, array_size(tags) AS z, shuffle(tags) AS sh, reverse(tags) AS rv, split(payload, ',') AS sp, concat_ws(',', tags) AS cw, named_struct('x', tags).x[0] AS nx FROM trips;
-- elements that may be missing
SELECT try_element_at(tags, 1) AS a, try_element_at(marks, payload) AS b, elt(2, payload, tags[0]) AS e FROM trips;
-- maps from entries and arrays
SELECT map_from_entries(array(struct(payload, id))) AS m, map_from_arrays(tags, transform(tags, t -> id)) AS m2, map_entries(marks) AS e FROM trips;
-- maps put together
SELECT map_concat(marks, map('a', id)) AS c, str_to_map(payload) AS s FROM trips;
-- arrays flattened, sorted, zipped
SELECT flatten(array(tags, array(payload))) AS f, sequence(1, id) AS s, array_sort(tags) AS o, arrays_zip(tags, legs) AS z FROM trips;
-- an order by a column outside
SELECT array_sort(tags, (a, b) -> IF(a < payload, 1, -1)) AS o FROM trips;
-- a lambda in a lambda, and columns outside
SELECT transform(legs, l -> struct(l.origin AS o, id AS i, transform(tags, t -> concat(t, l.dest)) AS n)) AS r FROM trips;
-- an accumulator of several fields
SELECT aggregate(legs, named_struct('a', '', 'b', id), (acc, l) -> named_struct('a', concat(acc.a, l.origin), 'b', acc.b + 1), acc -> acc.a) AS j FROM trips;
-- two maps, and new keys
SELECT map_zip_with(marks, marks, (k, a, b) -> a + b) AS z, transform_keys(marks, (k, v) -> concat(k, payload)) AS t FROM trips;
-- a value of a map just made
SELECT element_at(map_from_arrays(array('a', 'b'), array(id, length(payload))), 'a') AS x FROM trips;
-- explode zipped arrays
SELECT explode(arrays_zip(tags, legs)) AS z FROM trips;
-- explode what a lambda makes
SELECT id, explode(transform(legs, l -> l.origin)) AS o FROM trips;
-- fields of elements of elements
SELECT legs[0].origin AS a, filter(legs, l -> l.dest = 'x')[0].origin AS b, transform(legs, l -> l.dest)[1] AS c FROM trips;
-- all fields of a struct
SELECT address.*, address.geo.* FROM trips;
-- group by a field of a struct made below
SELECT s.a, count(*) AS n FROM (SELECT named_struct('a', city, 'b', name) AS s FROM people) GROUP BY s.a;
-- structs collected and exploded
SELECT e.n, e.a FROM (SELECT collect_list(struct(name AS n, age AS a)) AS l FROM people GROUP BY city) LATERAL VIEW explode(l) AS e;
-- JSON arrays and maps, CSV, XML
SELECT from_json(payload, 'ARRAY<STRUCT<a: INT>>') AS j, from_json(payload, 'MAP<STRING, INT>') AS m, schema_of_json('{"a":1}') AS s, json_array_length(payload) AS n, json_object_keys(payload) AS k, from_csv(payload, 'a INT, b STRING') AS c, to_csv(address) AS tc, from_xml(payload, 'a INT') AS x, xpath_string(payload, 'a/b') AS xp FROM trips;
-- JSON with an array there and back
SELECT from_json(to_json(struct(legs, id)), 'legs ARRAY<STRUCT<origin: STRING>>, id INT').legs[0].origin AS o FROM trips;
-- stack of constants and columns
SELECT stack(2, 'a', id, 'b', CAST(payload AS INT)) AS (k, v) FROM trips;
-- one element of an array just made
SELECT array(payload, tags[0])[0] AS a, element_at(array(payload, tags[0], address.street), -1) AS b, try_element_at(array(id, 2), 1) AS c, get(array(payload, tags[0]), 1) AS d, array(payload, tags[0])[id] AS e, concat(array(payload), array(tags[0], address.street))[2] AS f, try_element_at(array(payload), 9) AS g, array(struct(payload AS x), struct(tags[0] AS x)).x[1] AS h FROM trips;
-- one value of a map just made
SELECT map('a', id, 'b', size(tags))['a'] AS a, element_at(map(1, payload, 2, address.street), 2) AS b, try_element_at(map('a', id), 'z') AS c, map('a', id, 'b', size(tags))[payload] AS d, map('a', id, payload, size(tags))['a'] AS e, map_from_entries(array(struct('k' AS k, id AS v), struct('l' AS k, size(tags) AS v)))['l'] AS f, map_from_arrays(array('a', 'b'), array(payload, address.street))['b'] AS g FROM trips;
-- one value of maps put together
SELECT map_concat(marks, map('a', id))['a'] AS a, map_concat(map('a', id), marks)['a'] AS b, map_concat(map('a', id), map('b', size(tags)))['b'] AS c, map_concat(map('a', id), marks)['z'] AS d, coalesce(map('a', id), map('a', size(tags), 'b', length(payload)))['b'] AS e FROM trips;
-- a map of structs, by way of a subquery
SELECT m['b'].x AS x, m['a'].y[0] AS y, CAST(m['a'].x AS STRING) AS z FROM (SELECT map('a', struct(id AS x, array(payload, address.street) AS y), 'b', struct(size(tags) AS x, array(tags[0]) AS y)) AS m FROM trips);
-- a field of a picked element is picked, too
SELECT array(struct(payload AS x), struct(tags[0] AS x))[id].x AS a, filter(array(struct(payload AS x)), s -> s.x = address.street)[0].x AS b FROM trips;
-- a map just made, exploded
SELECT k, v, f FROM (SELECT explode(map('n', payload, 'c', address.street)) AS (k, v), map_keys(map('n', payload))[0] AS f FROM trips);
-- values under keys that are data
SELECT map_from_entries(transform(legs, l -> struct(l.origin, l.dest)))['x'] AS a, transform_keys(marks, (k, v) -> concat(k, payload))['x'] AS b, map(payload, id)['x'] AS c FROM trips;
-- an element of one of two arrays
SELECT coalesce(array(payload), array(tags[0], address.street))[1] AS a, IF(id > 1, array(payload), array(address.street, payload))[0] AS b, element_at(IF(id > 1, array(payload), array(address.street, payload)), -1) AS c FROM trips;
-- a field of the greater struct
SELECT greatest(struct(id AS x, payload AS y), struct(length(payload) AS x, address.street AS y)).y AS g, least(array(id, 1), array(length(payload), 2))[1] AS l FROM trips;
-- structs in arrays, compared as a whole
SELECT array_distinct(legs).dest AS d, sort_array(legs)[0].dest AS s, array_except(legs, array(struct(payload AS origin, payload AS dest))).origin AS e, array_union(legs, legs).dest AS u FROM trips;
-- as many as there are elements
SELECT size(transform(tags, t -> id)) AS n, aggregate(tags, id, (acc, t) -> acc + 1) AS c, transform(tags, (t, i) -> i) AS i, zip_with(tags, legs, (a, b) -> b.dest) AS z, transform(array(id, 2), t -> 1) AS two FROM trips;
-- JSON of a struct read as a map, and of a map as a struct
SELECT from_json(to_json(struct(id AS a, length(payload) AS b)), 'MAP<STRING, INT>')['b'] AS m, from_json(to_json(map('a', id, 'b', length(payload))), 'a INT, b INT').a AS s, from_json(to_json(map('a', id, 'b', length(payload))), 'MAP<STRING, INT>')['a'] AS k, from_json(to_json(struct(id AS a)), 'z INT').z AS z, from_json(to_json(array(struct(id AS a, payload AS b))), 'ARRAY<MAP<STRING, STRING>>')[0]['b'] AS e FROM trips;
-- values by key, of keys that are data
SELECT transform_values(marks, (k, v) -> id)['x'] AS v, map_zip_with(marks, map(payload, id), (k, a, b) -> 1)['x'] AS z, map_filter(map(payload, id), (k, v) -> v > 1)['x'] AS f, transform_values(map('x', id, 'y', 2), (k, v) -> v + 1)['x'] AS c FROM trips;
-- an element that is there if another array is long enough
SELECT transform(tags, t -> id)[0] AS t, array_repeat(payload, id)[1] AS r, flatten(transform(tags, t -> array(payload)))[id] AS f, IF(id > 1, transform(tags, t -> payload), array(payload))[0] AS i, element_at(map_from_entries(transform(tags, t -> struct('a', payload))), 'a') AS m, get_json_object(to_json(transform(tags, t -> payload)), '$[0]') AS j, transform(tags, t -> upper(t))[0] AS o, map_concat(map(payload, id), map('z', 1))['x'] AS c, from_json(to_json(map(payload, id)), 'x INT').x AS s FROM trips;
-- what picks elements, made into something that has nothing of them
SELECT transform(array_remove(tags, payload), t -> id) AS r, transform(array_compact(tags), t -> 1) AS c, transform(slice(tags, 1, id), t -> 1) AS s, transform(filter(tags, t -> t > payload), t -> 1) AS f, array_repeat(1, id) AS a, zip_with(array_distinct(tags), array(1), (a, b) -> b) AS z, transform_values(map_filter(marks, (k, v) -> v > id), (k, v) -> 1) AS v FROM trips;
-- a field of each of as many structs as there are elements
SELECT transform(tags, t -> address).street AS a, sort_array(transform(tags, t -> address)).street AS s, legs.dest AS l FROM trips;
-- a field of one of as many structs as the longest array has elements
SELECT element_at(CAST(arrays_zip(tags, array(payload)) AS ARRAY<STRUCT<x: STRING, y: STRING>>), -1).y AS e, reverse(CAST(arrays_zip(tags, array(payload, address.street)) AS ARRAY<STRUCT<x: STRING, y: STRING>>))[0].y AS r, transform(tags, t -> struct(t, id AS n))[0].n AS n, legs[0].dest AS d FROM trips;
