-- pipes
FROM people |> WHERE age > 3 |> EXTEND salary * 2 AS twice |> AGGREGATE sum(twice) AS total GROUP BY city |> ORDER BY total |> LIMIT 3;
-- pipes that set, drop and join
FROM people |> SET name = upper(name) |> DROP email |> AS p |> SELECT p.name, p.city |> JOIN cities USING (city);
-- pipes that aggregate a join
FROM orders |> JOIN people ON people.id = orders.person_id |> AGGREGATE sum(amount) AS total, count(*) AS n GROUP BY city |> WHERE n > 3 |> SELECT city, total;
-- pipes that unite and sample
FROM people |> SELECT name |> UNION ALL (SELECT item FROM orders) |> TABLESAMPLE (10 PERCENT) |> WHERE name IS NOT NULL;
-- a function written in SQL
CREATE OR REPLACE TEMPORARY FUNCTION area(w INT, h DOUBLE) RETURNS DOUBLE RETURN w * h + 1;
SELECT area(age, salary) AS a, name FROM people;
-- a function with a subquery
CREATE OR REPLACE TEMPORARY FUNCTION spent(who INT) RETURNS DOUBLE RETURN (SELECT sum(amount) FROM orders WHERE person_id = who);
SELECT name, spent(id) AS s FROM people;
-- a table function written in SQL
CREATE OR REPLACE TEMPORARY FUNCTION of_person(who INT) RETURNS TABLE (item STRING, amount DOUBLE) RETURN SELECT item, amount FROM orders WHERE person_id = who;
SELECT p.name, f.item FROM people p, LATERAL of_person(p.id) f;
-- variants
SELECT parse_json(payload) AS v, variant_get(parse_json(payload), '$.c', 'string') AS y, try_variant_get(parse_json(payload), '$.c[0]', 'string') AS z, to_variant_object(address) AS tv, schema_of_variant(parse_json(payload)) AS sv, is_variant_null(parse_json(payload)) AS iv FROM trips;
-- a variant exploded
SELECT pos, key, value FROM trips, LATERAL variant_explode(parse_json(payload));
-- a table function beside a table
SELECT * FROM trips, LATERAL inline(legs) AS e;
-- a table function of a column
SELECT e.col FROM trips, LATERAL explode(tags) AS e;
-- a session variable
DECLARE OR REPLACE VARIABLE lim INT DEFAULT 3;
SELECT name, lim AS l FROM people WHERE age > lim;
-- identifiers as text
SELECT IDENTIFIER('name') AS n FROM IDENTIFIER('people');
-- execute immediate
EXECUTE IMMEDIATE 'SELECT name FROM people WHERE age > ?' USING 3;
-- execute immediate with a parameter by name
EXECUTE IMMEDIATE 'SELECT concat(name, :suffix) AS n FROM people' USING 'x' AS suffix;
-- a variable set by a query
DECLARE OR REPLACE VARIABLE eldest INT;
SET VAR eldest = (SELECT max(age) FROM people);
SELECT name, eldest - age AS younger FROM people;
-- a persistent function
CREATE OR REPLACE FUNCTION shout(what STRING) RETURNS STRING RETURN concat(upper(what), '!');
SELECT shout(name) AS loud FROM people WHERE shout(city) = 'OSLO!';
-- a parameter by name in a table's place
SELECT name FROM IDENTIFIER('peo' || 'ple') WHERE city = 'Oslo';
-- aliases beside their definition, in groups
SELECT city AS c, upper(c) AS d, sum(salary) AS total, total * 2 AS twice FROM people GROUP BY city;
-- columns named alike on both sides of a lateral join
SELECT p.name, t.name AS other FROM people p LEFT JOIN LATERAL (SELECT o.item AS name FROM orders o WHERE o.person_id = p.id AND o.amount > p.salary LIMIT 1) t;
-- pipes with a window and a pivot
FROM people |> SELECT city, age, salary |> PIVOT (sum(salary) FOR age IN (20 AS twenty, 30 AS thirty)) |> EXTEND twenty + thirty AS both |> SELECT city, both AS total |> ORDER BY total DESC;
-- a collated column compared and grouped
SELECT city COLLATE UTF8_LCASE AS c, max(name COLLATE UNICODE_CI) AS n FROM people WHERE name COLLATE UNICODE = 'x' GROUP BY 1;
-- a table function of a column, written in SQL, with a default
CREATE OR REPLACE TEMPORARY FUNCTION dearer(least DOUBLE DEFAULT 5) RETURNS TABLE RETURN SELECT item, amount * 2 AS twice FROM orders WHERE amount > least;
SELECT item, twice FROM dearer() UNION ALL SELECT item, twice FROM dearer(1)
