// A table that sorts, filters, and draws only the rows in sight.

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

import { count } from "../app/format";
import { narrow } from "../app/state";
import { t } from "../app/texts";
import type { Noun } from "../texts/values";

export interface Column<Row> {
  name: string;
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** What rows are filtered and exported by, and sorted if `order` is left out; without it, the column is of the eye alone. */
  value?: (row: Row) => string | number | null;
  /** What rows are sorted by, where the letters of `value` have another order: severities. */
  order?: (row: Row) => number | null;
  /** Right-aligned digits. */
  number?: boolean;
  /** Left out on a phone, until all columns are asked for. */
  wide?: boolean;
  width?: string;
}

interface Given<Row> {
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  of: (row: Row) => string;
  label: string;
  /** `name` or `-name`; kept by whoever shows the table where `onSort` is given. */
  sort?: string;
  onSort?: (sort: string) => void;
  find?: string;
  onFind?: (text: string) => void;
  /** Shown where there are no rows. */
  empty?: string;
  /** Rows that aren't among these: said in the same line as their number. */
  beyond?: ComponentChildren;
  actions?: ComponentChildren;
  chosen?: string | null;
  onChoose?: (row: Row) => void;
  /** Without a field to filter by. */
  plain?: boolean;
  /** Asks for the rows that follow, once the last one is scrolled into sight. */
  onEnd?: (() => void) | null;
  noun?: Noun;
}

const ROW = 37;
const AROUND = 12;
/** Tables of fewer rows are drawn whole. */
const MANY = 120;

/** Rows in another order: numbers by value, texts by letters, what is unknown last. */
export function sorted<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: string): readonly Row[] {
  const down = sort.startsWith("-");
  const column = columns.find(({ name }) => name === sort.replace(/^-/, ""));
  const value = column?.order ?? column?.value;
  if (!value) return rows;
  const compare = (a: Row, b: Row): number => {
    const [left, right] = [value(a), value(b)];
    if (left === null || left === "") return right === null || right === "" ? 0 : 1;
    if (right === null || right === "") return -1;
    const order = typeof left === "number" && typeof right === "number" ? left - right : String(left).localeCompare(String(right), "en", { numeric: true });
    return down ? -order : order;
  };
  return [...rows].sort(compare);
}

/** Rows of which some value has all words of a text. */
export function filtered<Row>(rows: readonly Row[], columns: readonly Column<Row>[], text: string): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const all = columns.map(({ value }) => String(value?.(row) ?? "")).join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

/** Comma-separated values (RFC 4180); what a spreadsheet would take for a formula is a text (OWASP, CSV injection). */
export function csv<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const field = (value: string | number | null): string => {
    const text = String(value ?? "");
    const safe = typeof value !== "number" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const shown = columns.filter(({ value }) => value);
  const lines = [shown.map(({ title }) => field(title)), ...rows.map((row) => shown.map(({ value }) => field(value?.(row) ?? null)))];
  return lines.map((line) => line.join(",") + "\r\n").join("");
}

export function Table<Row>(given: Given<Row>) {
  const { rows, columns, of, label, empty = t.noneKnown, chosen, onChoose, plain = false, noun = t.nouns.row } = given;
  const [whole, showWhole] = useState(false);
  const left = narrow.value ? columns.filter(({ wide }) => wide).length : 0;
  const drawn = left > 0 && !whole ? columns.filter(({ wide }) => !wide) : columns;
  const counted = !plain || given.actions || given.beyond;
  const [ownSort, setOwnSort] = useState("");
  const [ownFind, setOwnFind] = useState("");
  const sort = given.onSort ? (given.sort ?? "") : ownSort;
  const find = given.onFind ? (given.find ?? "") : ownFind;
  const setSort = given.onSort ?? setOwnSort;
  const setFind = given.onFind ?? setOwnFind;
  const found = useMemo(() => filtered(rows, columns, find), [rows, columns, find]);
  const all = useMemo(() => (sort ? sorted(found, columns, sort) : found), [found, columns, sort]);
  const frame = useRef<HTMLDivElement>(null);
  const [window, look] = useState({ first: 0, last: MANY });
  const measure = (): void => {
    const element = frame.current;
    if (!element || all.length <= MANY) return;
    const first = Math.max(0, Math.floor(element.scrollTop / ROW) - AROUND);
    const last = Math.ceil((element.scrollTop + element.clientHeight) / ROW) + AROUND;
    if (first !== window.first || last !== window.last) look({ first, last });
  };
  const scrolled = (): void => {
    measure();
    const element = frame.current;
    if (element && element.scrollTop + element.clientHeight >= element.scrollHeight - ROW) given.onEnd?.();
  };
  useLayoutEffect(measure, [all.length]);
  const virtual = all.length > MANY;
  // A row that was chosen elsewhere, in the picture say, comes into sight.
  useLayoutEffect(() => {
    const [element, at] = [frame.current, chosen ? all.findIndex((row) => of(row) === chosen) : -1];
    if (!element || at < 0) return;
    const top = at * ROW;
    if (!virtual) element.querySelector("tr.chosen")?.scrollIntoView({ block: "nearest" });
    else if (top < element.scrollTop || top + 2 * ROW > element.scrollTop + element.clientHeight) element.scrollTop = top - element.clientHeight / 2;
  }, [chosen, all.length]);
  const shown = virtual ? all.slice(window.first, window.last) : all;
  const above = virtual ? window.first * ROW : 0;
  const below = virtual ? Math.max(0, all.length - window.last) * ROW : 0;
  const heading = ({ name, title, value, number, width }: Column<Row>) => (
    <th scope="col" class={number ? "number" : ""} style={width ? { width } : undefined} aria-sort={sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined}>
      {value ? <button class="sort" onClick={() => setSort(sort === name ? `-${name}` : name)}>{title}<span aria-hidden="true">{sort === name ? " ▲" : sort === `-${name}` ? " ▼" : ""}</span></button> : title}
    </th>
  );
  return (
    <div class="table">
      {(counted || left > 0) && (
        <div class="table-bar">
          {!plain && (rows.length > 8 || find) && (
            <input type="search" value={find} placeholder={t.filter} aria-label={`${t.filter}: ${label}`} onInput={(event) => setFind(event.currentTarget.value)} />
          )}
          <span class="note" role="status">
            {counted && rows.length > 0 && (find ? t.someOf(all.length, rows.length) : count(rows.length, noun[0], noun[1]))}{given.beyond && <>, {given.beyond}</>}
          </span>
          {left > 0 && rows.length > 0 && <button aria-pressed={whole} onClick={() => showWhole(!whole)}>{t.allColumns(left)}</button>}
          {given.actions}
        </div>
      )}
      {all.length === 0 ? <p class="empty">{rows.length ? t.noneMatch : empty}</p> : (
        <div class={`table-frame ${virtual ? "virtual" : ""}`} ref={frame} onScroll={scrolled} tabIndex={0} role="region" aria-label={label}>
          <table aria-rowcount={all.length + 1}>
            <thead><tr>{drawn.map(heading)}</tr></thead>
            <tbody>
              {above > 0 && <tr style={{ height: `${above}px` }} aria-hidden="true"><td colSpan={drawn.length} /></tr>}
              {shown.map((row, index) => (
                <tr key={of(row)} aria-rowindex={(virtual ? window.first : 0) + index + 2} class={`${onChoose ? "open" : ""} ${chosen === of(row) ? "chosen" : ""}`}
                  tabIndex={onChoose ? 0 : undefined} onKeyDown={(event) => onChoose && event.key === "Enter" && event.target === event.currentTarget && onChoose(row)}
                  onClick={(event) => onChoose && !(event.target as HTMLElement).closest("a, button, input") && onChoose(row)}>
                  {drawn.map(({ cell, number, title, width }) => <td class={`${number ? "number" : ""} ${width ? "sized" : ""}`} data-title={title}>{cell(row)}</td>)}
                </tr>
              ))}
              {below > 0 && <tr style={{ height: `${below}px` }} aria-hidden="true"><td colSpan={drawn.length} /></tr>}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}
