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
-- statistics, lists, the row of the least
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY salary) AS p, listagg(name, ',') WITHIN GROUP (ORDER BY age) AS l, mode(city) AS m, median(age) AS d, percentile_approx(salary, 0.5) AS pa, bool_or(age > 3) AS b, approx_count_distinct(name) AS ac, corr(age, salary) AS co, min_by(struct(name, city), age).name AS mb, count_if(age > 3) AS ci, regr_count(age, salary) AS rc FROM people;
-- the greatest struct's field
SELECT max(struct(salary, name)).name AS n FROM people;
-- aggregates of a choice
SELECT city, sum(CASE WHEN age > 30 THEN salary ELSE 0 END) AS s, count(CASE WHEN age > 3 THEN 1 END) AS c, count(IF(age > 3, name, NULL)) AS d FROM people GROUP BY city;
-- an aggregate of an aggregate
SELECT sum(n) AS s FROM (SELECT count(*) AS n FROM people GROUP BY city);
-- grouping_id
SELECT city, grouping_id(city, age) AS gid, sum(salary) AS s FROM people GROUP BY CUBE (city, age);
-- rollup of an expression
SELECT upper(city) AS c, sum(salary) AS s, sum(age) AS a FROM people GROUP BY ROLLUP (upper(city), age);
-- pivot with several aggregates and aliases
SELECT * FROM (SELECT city, age, salary, name FROM people) PIVOT (sum(salary) AS s, max(name) AS n FOR age IN (20 AS a, 30));
-- pivot by two columns
SELECT * FROM (SELECT city, age, salary, name FROM people) PIVOT (sum(salary) FOR (age, name) IN ((20, 'x') AS a, (30, 'y') AS b));
-- unpivot several columns at once
SELECT * FROM people UNPIVOT INCLUDE NULLS ((a, b) FOR k IN ((name, city) AS nc, (email, name) AS en));
-- a window over a window
SELECT name, sum(r) OVER (PARTITION BY city) AS s FROM (SELECT name, city, rank() OVER (ORDER BY age) AS r FROM people);
-- values of a window's rows
SELECT first_value(name) IGNORE NULLS OVER (PARTITION BY city ORDER BY age) AS f, nth_value(name, 2) OVER (ORDER BY id) AS n, ntile(4) OVER (ORDER BY salary) AS t, last_value(email) OVER (ORDER BY id) AS l, percent_rank() OVER (ORDER BY age) AS p FROM people;
-- a window without keys
SELECT row_number() OVER (ORDER BY 1) AS r, count(*) OVER () AS c FROM people;
-- arithmetic on a lag
SELECT salary - lag(salary) OVER (PARTITION BY city ORDER BY born) AS diff, lag(name, 1, city) OVER (ORDER BY id) AS l FROM people;
-- distinct over a window
SELECT DISTINCT city, max(age) OVER (PARTITION BY city) AS m FROM people;
-- group by all
SELECT city, upper(name) AS n, sum(salary) AS total FROM people GROUP BY ALL;
-- order by all
SELECT city, name FROM people ORDER BY ALL;
-- group by position, order by position
SELECT upper(city) AS u, count(1) AS c FROM people GROUP BY 1 HAVING u > 'a' ORDER BY 2;
-- order by an aggregate
SELECT city FROM people GROUP BY city ORDER BY sum(salary);
-- an alias of an aggregate used beside it
SELECT city, sum(salary) AS total, total / count(*) AS mean FROM people GROUP BY city;
-- distribute by, sort by
SELECT name FROM people DISTRIBUTE BY city SORT BY age;
-- order by a subquery
SELECT name FROM people ORDER BY upper(city), (SELECT max(amount) FROM orders);
-- the first three rows of each group
SELECT * EXCEPT (n, email) FROM (SELECT *, row_number() OVER (PARTITION BY city ORDER BY age DESC, id NULLS LAST) AS n FROM people) WHERE n <= 3;
-- the last row of each group by a filter that asks more
SELECT id, name FROM (SELECT *, rank() OVER (PARTITION BY city, name ORDER BY born DESC) AS r, count(*) OVER (PARTITION BY email) AS c FROM people) WHERE r = 1 AND c > 1 AND salary > 5;
-- groups kept by a running sum
SELECT name FROM (SELECT name, sum(salary) OVER (PARTITION BY city ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before FROM people) WHERE before < 100;
-- the first row of all, by nothing
SELECT name FROM (SELECT name, row_number() OVER (ORDER BY 1) AS n FROM people) WHERE n = 1;
-- order that ends with nulls
SELECT name FROM people ORDER BY age NULLS LAST, city DESC NULLS FIRST, id DESC;
-- a field of the row with the least, one with the most
SELECT city, min_by(struct(name, email), age).email AS e, (max(struct(salary, name)) FILTER (WHERE age > 3)).name AS n FROM people GROUP BY city;
-- a field of a struct of the window's first row
SELECT (first(struct(id, name)) OVER (PARTITION BY city ORDER BY age)).name AS n FROM people;
-- unpivot in front of a filter
SELECT id, val FROM people UNPIVOT (val FOR key IN (name AS n, email AS e)) WHERE key = 'n';
-- a field of the row before
SELECT (lag(struct(name, city)) OVER (ORDER BY id)).city AS c, (lead(array(name, city), 1) OVER (ORDER BY id))[1] AS d, (nth_value(struct(name, age), 2) OVER (PARTITION BY city ORDER BY id)).name AS n FROM people;
-- arrays and sets of structs, compared as a whole
SELECT max(array(salary, id))[1] AS m, array_sort(collect_set(struct(age, name))).name AS s FROM people;
