import { expect, test } from "vitest";

import { columnsByName, lines, named, spaced, tokens, type Line } from "../src/parts/sqltext";

const written = (sql: string): string =>
  lines(sql).map(({ indent, tokens: all }: Line) => "  ".repeat(indent) + all.map((token, index) => (spaced(all[index - 1], token) ? " " : "") + token.text).join("")).join("\n");

test("each clause begins a line, and each column of a select has one", () => {
  expect(written("select a, sum(b) as total from db.orders o left join c on c.id = o.id and c.x > 1 where a = 'x, y' and b between 1 and 2 or d is null group by a order by 2 desc")).toBe(
    [
      "SELECT a,", "  sum(b) AS total", "FROM db.orders o", "LEFT JOIN c ON c.id = o.id", "  AND c.x > 1", "WHERE a = 'x, y'", "  AND b BETWEEN 1 AND 2", "  OR d IS NULL", "GROUP BY a", "ORDER BY 2 DESC",
    ].join("\n"),
  );
});

test("a query within parentheses is indented", () => {
  expect(written("with t as (select 1 as one) select * from t where one in (select x from u)")).toBe(
    ["WITH t AS (", "  SELECT 1 AS one", ")", "SELECT *", "FROM t", "WHERE one IN (", "  SELECT x", "  FROM u", ")"].join("\n"),
  );
});

test("a merge and a case keep their parts together", () => {
  expect(written("merge into a using b on a.id = b.id when matched then update set x = 1, y = case when b.z = 1 and b.q = 2 then 1 else 2 end when not matched then insert (x) values (1)")).toBe(
    ["MERGE INTO a", "USING b ON a.id = b.id", "WHEN MATCHED THEN UPDATE SET x = 1,", "  y = CASE WHEN b.z = 1 AND b.q = 2 THEN 1 ELSE 2 END", "WHEN NOT MATCHED THEN INSERT (x)", "VALUES (1)"].join("\n"),
  );
});

test("nothing of a text is lost, even where it is no SQL", () => {
  for (const sql of ["", "🦩 <b>'unfinished", "select `a``b`, \"c\"\"d\" -- why\n, 1.5e3 /* open", "))((;;", "select 'it''s' || x::int", "𝒮elect 1"]) {
    const kept = tokens(sql).map(({ text }) => text.toLowerCase()).join("").replace(/\s/g, "");
    expect(kept).toBe(sql.toLowerCase().replace(/\s/g, ""));
    expect(lines(sql).flatMap((line) => line.tokens).length).toBe(tokens(sql).length);
  }
});

test("a comment ends its line, and words in it are no keywords", () => {
  expect(written("select a -- from here\nfrom t")).toBe("SELECT a -- from here\nFROM t");
});

test("columns are found by their last part, in any case, and without quotes", () => {
  const found = columnsByName(["value.Amount", "id"]);
  expect(found.get("amount")).toBe("value.Amount");
  expect(found.get(named(tokens("`ID`")[0]!).toLowerCase())).toBe("id");
});

test("a long text is formatted in time", () => {
  const sql = `select ${Array.from({ length: 3_000 }, (_, index) => `case when a${index} = 1 and b = 2 then 3 end as c${index}`).join(", ")} from t`;
  const began = performance.now();
  lines(sql);
  expect(performance.now() - began).toBeLessThan(2_000);
});
