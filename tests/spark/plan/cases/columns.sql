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
