-- identity
SELECT id, name FROM people;
-- rename
SELECT name AS full_name FROM people;
-- renamed and renamed back
SELECT n AS name FROM (SELECT name AS n FROM people);
-- cast
SELECT CAST(age AS STRING) AS age FROM people;
-- arithmetic
SELECT age + salary * 2 AS score FROM people;
-- nested functions
SELECT upper(trim(concat(name, ' ', city))) AS label FROM people;
-- string functions
SELECT substring(name, 1, 3) AS short, regexp_replace(email, '@.*', '') AS user, length(name) AS size FROM people;
-- date functions
SELECT year(born) AS year, date_add(born, age) AS day, datediff(current_date(), born) AS days FROM people;
-- constants
SELECT 1 AS one, 'x' AS letter, NULL AS nothing, DATE '2026-01-01' AS day, current_timestamp() AS now FROM people;
-- random
SELECT rand(7) AS r, uuid() AS u, monotonically_increasing_id() AS i FROM people;
-- the file read
SELECT input_file_name() AS file FROM people;
-- case
SELECT CASE WHEN age < 18 THEN name WHEN age < 65 THEN city ELSE 'old' END AS label FROM people;
-- case of constants
SELECT CASE WHEN age < 18 THEN 'young' ELSE 'old' END AS label FROM people;
-- if
SELECT IF(age > 30, salary, 0) AS pay FROM people;
-- coalesce
SELECT COALESCE(name, email, 'nobody') AS who FROM people;
-- nullif
SELECT NULLIF(name, city) AS who FROM people;
-- nvl, nvl2, ifnull
SELECT NVL(name, email) AS a, NVL2(name, email, city) AS b, IFNULL(city, name) AS c FROM people;
-- greatest, least
SELECT GREATEST(age, salary) AS top, LEAST(age, 5) AS low FROM people;
-- between, in, like
SELECT age BETWEEN 1 AND 9 AS a, city IN ('x', 'y') AS b, name LIKE 'A%' AS c FROM people;
-- hashes
SELECT md5(email) AS a, sha1(email) AS b, sha2(email, 256) AS c, crc32(email) AS d, xxhash64(email, name) AS e, hash(name) AS f FROM people;
-- mask
SELECT mask(email) AS masked FROM people;
-- encryption hides its key
SELECT base64(aes_encrypt(email, '0000111122223333')) AS secret FROM people;
-- hash of a derived value, and derived from a hash
SELECT md5(upper(email)) AS a, substring(md5(email), 1, 4) AS b FROM people;
-- the same column twice
SELECT name, name AS other, concat(name, name) AS twice FROM people;
-- two columns of one name
SELECT name, city AS name FROM people;
-- names with dots and backquotes
SELECT name AS `a.b`, city AS `c``d` FROM people;
-- each masking function
SELECT mask(name) AS a, md5(name) AS b, sha(name) AS c, sha2(name, 512) AS d, crc32(name) AS e, hash(name, city) AS f, xxhash64(name) AS g, aes_encrypt(name, '0000111122223333') AS h, try_aes_decrypt(aes_encrypt(name, '0000111122223333'), '0000111122223333') AS i, base64(name) AS j, aes_decrypt(unbase64(name), '0000111122223333') AS k, substr(sha2(concat(name, 'salt'), 256), 1, 8) AS l, bitmap_construct_agg(age) AS m FROM people GROUP BY name, city;
-- a hash inside a struct and inside JSON
SELECT struct(md5(email) AS h, name) AS s, to_json(struct(md5(email) AS h, name)) AS j FROM people;
-- a condition on a hash
SELECT CASE WHEN md5(email) = 'x' THEN name END AS n FROM people;
-- of the session, not of a column
SELECT typeof(name) AS t, current_user() AS u, current_catalog() AS c, current_database() AS d, input_file_name() AS f, spark_partition_id() AS p, version() AS v, user() AS w, session_user() AS x FROM people;
-- metadata columns
SELECT _metadata.file_name AS f, _metadata.file_path AS p, name FROM people;
-- nullifzero, zeroifnull, decode
SELECT nullifzero(age) AS a, zeroifnull(age) AS b, decode(city, 'a', name, 'b', email, 'none') AS d FROM people;
-- functions that try
SELECT try_cast(payload AS INT) AS a, try_add(id, 1) AS b, try_divide(id, 2) AS c, try_element_at(tags, 1) AS d, try_to_number(payload, '999') AS e, try_to_timestamp(payload) AS f, try_sum(id) AS g, try_avg(id) AS h FROM trips GROUP BY payload, id, tags;
-- collations
SELECT payload COLLATE UTF8_LCASE AS p, collation(payload) AS c, payload COLLATE UNICODE_CI = 'x' AS e FROM trips;
-- intervals and times
SELECT extract(year FROM born) AS y, born + INTERVAL 1 DAY AS t, make_date(age, 1, 1) AS m, date_trunc('month', at) AS tr, unix_timestamp(at) AS u, timestampdiff(DAY, at, current_timestamp()) AS td FROM people JOIN orders ON person_id = people.id;
-- between computed bounds
SELECT age + 1 BETWEEN id AND salary AS b FROM people;
-- an alias used beside its definition
SELECT age * 2 AS twice, twice + salary AS more, more + twice AS most FROM people;
-- arguments by name
SELECT mask(email, lowerChar => 'q', upperChar => 'Q') AS m FROM people;
-- all but some columns
SELECT * EXCEPT (id, email, born) FROM people;
-- hashes of constants, functions of nothing
SELECT md5('x') AS a, pi() AS p, mask('secret') AS m, sum(md5('a')) OVER () AS s FROM people;
-- what was encrypted, decrypted
SELECT CAST(aes_decrypt(aes_encrypt(name, '0000111122223333'), '0000111122223333') AS STRING) AS n, aes_decrypt(aes_encrypt(md5(email), '0000111122223333'), '0000111122223333') AS h FROM people;
-- sketches
SELECT hll_sketch_agg(name) AS h, hll_sketch_estimate(hll_sketch_agg(city)) AS e, count_min_sketch(age, 0.5D, 0.5D, 1) AS c FROM people;
