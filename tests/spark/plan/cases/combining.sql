-- inner join
SELECT p.name, o.amount FROM people p JOIN orders o ON p.id = o.person_id;
-- left join using
SELECT city, name, country FROM people LEFT JOIN cities USING (city);
-- full join using
SELECT city, name, country FROM people FULL JOIN cities USING (city);
-- natural join
SELECT * FROM (SELECT name, city FROM people) NATURAL JOIN cities;
-- join on an expression
SELECT name FROM people JOIN cities ON lower(people.city) = cities.city AND people.age > length(country);
-- semi join
SELECT name FROM people p LEFT SEMI JOIN orders o ON p.id = o.person_id;
-- anti join
SELECT name FROM people p LEFT ANTI JOIN orders o ON p.id = o.person_id;
-- cross join
SELECT name, country FROM people CROSS JOIN cities;
-- self join
SELECT a.name AS boss, b.name AS report FROM people a JOIN people b ON a.id = b.age;
-- the same table three times
SELECT a.name AS x, b.city AS y, c.email AS z FROM people a, people b, people c WHERE a.id = b.id AND b.id = c.id;
-- union all
SELECT name, city FROM people UNION ALL SELECT item, NULL FROM orders;
-- union
SELECT city FROM people UNION SELECT city FROM cities;
-- intersect
SELECT city FROM people INTERSECT SELECT city FROM cities;
-- except
SELECT city, name FROM people EXCEPT ALL SELECT city, country FROM cities;
-- common table expression
WITH rich AS (SELECT name, city, salary * 12 AS year FROM people WHERE salary > 1000) SELECT name, year FROM rich;
-- common table expression used twice
WITH p AS (SELECT id, upper(name) AS who FROM people) SELECT a.who AS x, b.who AS y FROM p a JOIN p b ON a.id = b.id;
-- nested common table expressions
WITH a AS (SELECT id, name FROM people), b AS (SELECT id, name AS n FROM a WHERE id > 1) SELECT n FROM b;
-- scalar subquery
SELECT name, (SELECT max(amount) FROM orders) AS top FROM people;
-- correlated scalar subquery
SELECT name, (SELECT sum(amount) FROM orders WHERE person_id = people.id) AS spent FROM people;
-- exists
SELECT name FROM people WHERE EXISTS (SELECT 1 FROM orders WHERE person_id = people.id AND amount > 5);
-- not exists
SELECT name FROM people WHERE NOT EXISTS (SELECT 1 FROM orders);
-- in a subquery
SELECT name FROM people WHERE id IN (SELECT person_id FROM orders WHERE amount > 5);
-- subquery in from
SELECT n FROM (SELECT name AS n, age FROM people WHERE age > 3) t WHERE t.age < 9;
-- lateral subquery
SELECT name, twice FROM people, LATERAL (SELECT age * 2 AS twice);
-- lateral correlated subquery
SELECT name, amount FROM people, LATERAL (SELECT amount FROM orders WHERE person_id = people.id ORDER BY at DESC LIMIT 1);
-- temporary view
CREATE OR REPLACE TEMPORARY VIEW adults AS SELECT name, city FROM people WHERE age >= 18;
SELECT name FROM adults;
-- global temporary view
CREATE OR REPLACE GLOBAL TEMPORARY VIEW everyone AS SELECT upper(name) AS who FROM people;
SELECT who FROM global_temp.everyone;
-- persistent view
CREATE OR REPLACE VIEW locals AS SELECT name, age FROM people WHERE city = 'Oslo';
SELECT name FROM locals WHERE age > 3;
-- values
SELECT a, b FROM VALUES (1, 'x'), (2, 'y') AS t(a, b);
-- range
SELECT id FROM range(5);
-- a view of values is a table in memory
CREATE OR REPLACE TEMPORARY VIEW codes AS SELECT * FROM VALUES (1, 'x') AS t(code, label);
SELECT name, label FROM people JOIN codes ON code = id;
-- right join using
SELECT city, name FROM people RIGHT JOIN cities USING (city);
-- all columns of a join using
SELECT * FROM people JOIN cities USING (city);
-- all columns of a full join using
SELECT * FROM people FULL JOIN cities USING (city);
-- self join of all columns
SELECT a.*, b.name AS n2 FROM people a JOIN people b USING (id);
-- self join of two subqueries
SELECT x.n, y.n AS m FROM (SELECT upper(name) AS n, id FROM people) x LEFT JOIN (SELECT lower(city) AS n, age AS id FROM people) y ON x.id = y.id;
-- exists with a subquery of its own
SELECT name FROM people p WHERE EXISTS (SELECT 1 FROM orders o WHERE o.person_id = p.id AND o.amount > (SELECT avg(amount) FROM orders i WHERE i.item = o.item));
-- a scalar subquery in a scalar subquery
SELECT (SELECT max(amount) FROM orders WHERE person_id = (SELECT max(id) FROM people q WHERE q.city = 'x')) AS m FROM people p;
-- not in a subquery
SELECT name FROM people WHERE id NOT IN (SELECT person_id FROM orders);
-- two columns in a subquery
SELECT name FROM people WHERE (id, name) IN (SELECT person_id, item FROM orders WHERE amount > 1);
-- in and exists as columns
SELECT name, id IN (SELECT person_id FROM orders) AS buys, EXISTS (SELECT 1 FROM orders WHERE person_id = people.id) AS e FROM people;
-- exists or a condition
SELECT name FROM people WHERE age > 3 OR EXISTS (SELECT 1 FROM orders WHERE person_id = people.id);
-- the latest of a correlated subquery
SELECT name, (SELECT item FROM orders WHERE person_id = people.id ORDER BY at DESC LIMIT 1) AS last FROM people;
-- a correlated count
SELECT name, (SELECT count(*) FROM orders WHERE person_id = people.id) AS c FROM people;
-- a subquery in having
SELECT city FROM people GROUP BY city HAVING count(*) > (SELECT count(*) FROM orders);
-- a common table expression filtered twice
WITH p AS (SELECT id, name, age FROM people) SELECT a.name AS x, b.name AS y FROM (SELECT * FROM p WHERE age > 3) a JOIN (SELECT * FROM p WHERE id < 9) b ON a.id = b.age;
-- a common table expression named like a table
WITH people AS (SELECT city AS name FROM cities) SELECT name FROM people;
-- a name defined anew within
WITH t AS (SELECT name AS x FROM people), u AS (WITH t AS (SELECT city AS x FROM cities) SELECT x FROM t) SELECT t.x AS a, u.x AS b FROM t, u;
-- union of three
SELECT name AS x FROM people UNION SELECT city FROM cities UNION SELECT 'z';
-- intersect, then union
(SELECT city FROM people INTERSECT SELECT city FROM cities) UNION ALL SELECT item FROM orders;
-- except between filters
SELECT name FROM people WHERE age > 3 EXCEPT SELECT item FROM orders WHERE amount > 1;
-- a view of a view
CREATE OR REPLACE VIEW v1 (a, b) AS SELECT name, city FROM people WHERE age > 3;
CREATE OR REPLACE VIEW v2 AS SELECT upper(a) AS c, b FROM v1 WHERE b = 'x';
SELECT c, b AS d FROM v2;
-- a temporary view of a view, by a common table expression
CREATE OR REPLACE TEMPORARY VIEW tv AS WITH q AS (SELECT * FROM v2) SELECT q.c AS e FROM q JOIN v1 ON q.b = v1.b;
SELECT e FROM tv;
-- lateral left join
SELECT name, t.m FROM people p LEFT JOIN LATERAL (SELECT max(amount) AS m FROM orders o WHERE o.person_id = p.id) t ON t.m > p.age;
-- lateral of a lateral
SELECT name, u.y FROM people p, LATERAL (SELECT p.age + 1 AS x) t, LATERAL (SELECT t.x + p.salary AS y) u;
-- values joined
SELECT name, v.label FROM people JOIN VALUES (1, 'x') AS v(code, label) ON code = id;
-- join on a hash
SELECT p.name FROM people p JOIN cities c ON md5(p.email) = c.city;
-- recursive common table expression
WITH RECURSIVE chain(id, boss, depth) AS (SELECT id, age, 0 FROM people WHERE name = 'x' UNION ALL SELECT p.id, p.age, c.depth + 1 FROM chain c JOIN people p ON p.age = c.id WHERE p.city = 'Oslo') SELECT id, depth, boss FROM chain;
-- recursion that swaps columns
WITH RECURSIVE r(a, b, n) AS (SELECT name, city, 0 FROM people UNION ALL SELECT b, upper(a), n + 1 FROM r WHERE n < 3) SELECT a, b FROM r;
-- rows of a table no column of which is asked for
SELECT p.name FROM people p JOIN orders o ON p.age > 3 LEFT SEMI JOIN cities c ON p.id = 1;
-- subqueries of constants
SELECT name, id IN (SELECT 1 FROM orders) AS i, EXISTS (SELECT 1 FROM cities WHERE people.age > 3) AS e FROM people;
-- set operations on constants
SELECT 1 AS one FROM people INTERSECT SELECT 1 FROM orders;
-- lateral subquery of a table, by nothing
SELECT name, l.one FROM people, LATERAL (SELECT 1 AS one FROM orders) l;
