-- filter
SELECT name FROM people WHERE age > 18 AND city = 'Oslo';
-- filter on a derived column
SELECT name FROM (SELECT name, age * 2 AS twice FROM people) WHERE twice > 18;
-- filter by date is the same every day
SELECT name FROM people WHERE born > DATE '2026-01-01' AND email > '2026-01-01';
-- sort and limit
SELECT name FROM people ORDER BY salary DESC, age LIMIT 3;
-- limit
SELECT name FROM people LIMIT 3 OFFSET 2;
-- distinct
SELECT DISTINCT name, city FROM people;
-- sample
SELECT name FROM people TABLESAMPLE (10 PERCENT);
-- hints
SELECT /*+ REPARTITION(2, city) */ name FROM people;
-- group by
SELECT city, count(*) AS n, sum(salary) AS total, max(age) AS oldest FROM people GROUP BY city;
-- group by an expression
SELECT year(born) AS y, avg(salary) AS pay FROM people GROUP BY year(born);
-- global aggregate
SELECT count(*) AS n, count(name) AS named, sum(1) AS ones FROM people;
-- having
SELECT city FROM people GROUP BY city HAVING max(age) > 60;
-- filter on an aggregate function
SELECT sum(salary) FILTER (WHERE age > 30) AS pay FROM people;
-- distinct aggregates
SELECT city, count(DISTINCT name) AS names, sum(DISTINCT salary) AS pays, count(DISTINCT email, age) AS both FROM people GROUP BY city;
-- arithmetic on aggregates
SELECT city, sum(salary) / count(*) AS mean FROM people GROUP BY city;
-- collected lists
SELECT city, collect_list(name) AS names, collect_set(struct(id, age)) AS s, first(email) AS e, max_by(name, age) AS eldest FROM people GROUP BY city;
-- rollup
SELECT city, age, sum(salary) AS total FROM people GROUP BY ROLLUP (city, age);
-- cube
SELECT city, age, sum(salary) AS total, grouping(city) AS g FROM people GROUP BY CUBE (city, age);
-- grouping sets
SELECT city, age, count(*) AS n FROM people GROUP BY GROUPING SETS ((city), (age), ());
-- pivot
SELECT * FROM (SELECT city, age, salary FROM people) PIVOT (sum(salary) FOR age IN (20 AS a, 30 AS b));
-- unpivot
SELECT * FROM (SELECT id, name, city FROM people) UNPIVOT (val FOR key IN (name, city));
-- rank
SELECT name, rank() OVER (PARTITION BY city ORDER BY salary DESC) AS r, row_number() OVER (ORDER BY id) AS n FROM people;
-- lag and lead
SELECT lag(name, 1) OVER (PARTITION BY city ORDER BY age) AS before, lead(salary, 2, 0) OVER (ORDER BY id) AS after FROM people;
-- running sum with a frame
SELECT sum(salary) OVER (PARTITION BY city ORDER BY age ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS running FROM people;
-- window function over an aggregate
SELECT city, sum(salary) AS total, rank() OVER (ORDER BY sum(salary) DESC) AS place FROM people GROUP BY city;
-- first row of each group
SELECT name FROM (SELECT name, row_number() OVER (PARTITION BY city ORDER BY age) AS n FROM people) WHERE n = 1;
-- qualify by a named window
SELECT name, min(age) OVER w AS youngest FROM people WINDOW w AS (PARTITION BY city);
