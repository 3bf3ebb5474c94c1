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
