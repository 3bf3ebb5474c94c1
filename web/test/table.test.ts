// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, describe, expect, it } from "vitest";

import { narrow } from "../src/app/state";
import { Table, csv, filtered, sorted, type Column } from "../src/parts/table";

interface Row {
  name: string;
  many: number | null;
}
const COLUMNS: Column<Row>[] = [
  { name: "name", title: "Name", cell: ({ name }) => name, value: ({ name }) => name },
  { name: "many", title: "Rows, all", cell: ({ many }) => many, value: ({ many }) => many },
  { name: "seen", title: "Seen", cell: () => "only to be seen" },
];
const row = (name: string, many: number | null = 0): Row => ({ name, many });
const names = (rows: readonly Row[]): string[] => rows.map(({ name }) => name);

describe("rows", () => {
  const rows = [row("b10", 2), row("b9", 10), row("a", null), row("", 1)];

  it("are sorted by value, what is unknown last both ways", () => {
    expect(names(sorted(rows, COLUMNS, "many"))).toEqual(["", "b10", "b9", "a"]);
    expect(names(sorted(rows, COLUMNS, "-many"))).toEqual(["b9", "b10", "", "a"]);
    expect(names(sorted(rows, COLUMNS, "name"))).toEqual(["a", "b9", "b10", ""]);
    expect(names(sorted(rows, COLUMNS, "-name"))).toEqual(["b10", "b9", "a", ""]);
  });

  it("are sorted by an order of their own where a column has one", () => {
    const severity: Column<Row> = { name: "severity", title: "Severity", cell: ({ name }) => name, value: ({ name }) => name, order: ({ many }) => many };
    expect(names(sorted(rows, [severity], "severity"))).toEqual(["", "b10", "b9", "a"]);
  });

  it("stay as they are where a column has no values, or there is no such column", () => {
    for (const sort of ["", "seen", "-nothing"]) expect(sorted(rows, COLUMNS, sort)).toBe(rows);
  });

  it("are found by all words, in any column that has values", () => {
    expect(names(filtered(rows, COLUMNS, " 10  B "))).toEqual(["b10", "b9"]);
    expect(names(filtered(rows, COLUMNS, "seen"))).toEqual([]);
    expect(filtered(rows, COLUMNS, "  ")).toBe(rows);
  });
});

describe("comma-separated values", () => {
  const line = (name: string, many: number | null = 0): string => csv([row(name, many)], COLUMNS).split("\r\n").slice(1).join("\r\n");

  it("have the columns that have values, in a line for each row", () => {
    expect(csv([row("a", 1), row("b", null)], COLUMNS)).toBe('Name,"Rows, all"\r\na,1\r\nb,\r\n');
  });

  it("keep commas, quotes and lines within a field", () => {
    expect(line('a,"b"\nc')).toBe('"a,""b""\nc",0\r\n');
  });

  it.each(["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])("make a text of what a spreadsheet would take for a formula: %j", (name) => {
    expect(line(name)).toBe(`'${name},0\r\n`);
  });

  it("make a text of a formula that needs quotes", () => {
    expect(line('=HYPERLINK("http://x")')).toBe(`"'=HYPERLINK(""http://x"")",0\r\n`);
    expect(line("\r=1")).toBe(`"'\r=1",0\r\n`);
  });

  it("leave numbers alone", () => {
    expect(line("a", -5)).toBe("a,-5\r\n");
  });
});

describe("on a phone", () => {
  const wide: Column<Row>[] = COLUMNS.map((column, index) => ({ ...column, wide: index > 0 }));
  const titles = (): string[] => [...document.querySelectorAll("th")].map(({ textContent }) => textContent ?? "");

  afterEach(() => {
    act(() => render(null, document.body));
    narrow.value = false;
  });

  it.each([false, true])("columns that are left out are one button away (plain: %s)", (plain) => {
    narrow.value = true;
    act(() => render(h(Table<Row>, { rows: [row("a", 3)], columns: wide, of: ({ name }) => name, label: "Rows", plain }), document.body));
    expect(titles()).toEqual(["Name"]);
    const button = [...document.querySelectorAll("button")].find(({ textContent }) => textContent === "All columns (2 more)");
    act(() => button?.click());
    expect(titles()).toEqual(["Name", "Rows, all", "Seen"]);
    expect(document.querySelector("tbody tr")?.textContent).toBe("a3only to be seen");
    expect(button?.getAttribute("aria-pressed")).toBe("true");
  });

  it("no button is where nothing is left out", () => {
    act(() => render(h(Table<Row>, { rows: [row("a")], columns: wide, of: ({ name }) => name, label: "Rows" }), document.body));
    expect(titles()).toEqual(["Name", "Rows, all", "Seen"]);
    expect(document.body.textContent).not.toContain("All columns");
  });
});
