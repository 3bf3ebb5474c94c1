// What a client sent besides: a facet's JSON as names and values, tables where it is a list of alike things, SQL as SQL.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

import type { Facet } from "../app/answers";
import type { Place } from "../app/address";
import { t } from "../app/texts";
import { Folded, FoldedList } from "./fold";
import { Sql } from "./sql";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type Sqls = { columns?: readonly string[]; to?: (column: string) => Place };

/** Rows of a table, values of a list, that are shown at first. */
const ROWS = 10;
/** Levels of which names stand beside values. */
const DEEPEST = 6;

/** A facet's content without what every facet has; null where the text is no JSON. */
export function content(json: string): { value: Json } | null {
  try {
    const parsed = JSON.parse(json) as Json;
    if (!isObject(parsed)) return { value: parsed };
    const { _producer, _schemaURL, ...members } = parsed;
    return { value: members };
  } catch {
    return null;
  }
}

const isObject = (value: Json | undefined): value is { [name: string]: Json } => typeof value === "object" && value !== null && !Array.isArray(value);
const isPlain = (value: Json | undefined): boolean => typeof value !== "object" || value === null || value === undefined;

/** Names of the columns, where a list is one of things that are alike: at least two, each of plain values. */
export function columnsOf(list: Json[]): string[] | null {
  if (list.length < 2 || !list.every((each) => isObject(each) && Object.values(each).every(isPlain))) return null;
  const names = [...new Set(list.flatMap((each) => Object.keys(each as object)))];
  return names.length > 0 && names.length <= 8 ? names : null;
}

/** Facets that have content: one that was cleared is empty. */
export function Facets({ facets, ...sqls }: { facets: Facet[] } & Sqls) {
  const shown = facets.filter(({ json }) => json);
  if (shown.length === 0) return null;
  return <div class="facets">{shown.map((facet) => <FacetPart facet={facet} {...sqls} />)}</div>;
}

export function FacetPart({ facet: { name, json }, ...sqls }: { facet: Facet } & Sqls) {
  const found = content(json);
  return (
    <div class="facet">
      <h3>{name}</h3>
      {found === null ? <Folded text={json} pre /> : <Value value={found.value} name={name} depth={0} {...sqls} />}
    </div>
  );
}

const isSql = (name: string, value: string): boolean => /^(sql|query|statement|expression)$/i.test(name) && /\b(select|insert|merge|create|update|delete|with)\b/i.test(value) && value.length > 12;

function Value({ value, name, depth, ...sqls }: { value: Json; name: string; depth: number } & Sqls): ComponentChildren {
  if (value === null) return <span class="muted">{t.nullValue}</span>;
  if (typeof value === "boolean") return value ? t.yes : t.no;
  if (typeof value === "number") return <span class="digits">{String(value)}</span>;
  if (typeof value === "string") return isSql(name, value) ? <Sql text={value} {...sqls} /> : <Text text={value} />;
  if (depth >= DEEPEST) return <Folded text={JSON.stringify(value, null, 2)} pre />;
  return Array.isArray(value) ? <List list={value} name={name} depth={depth} {...sqls} /> : <Members value={value} depth={depth} {...sqls} />;
}

/** A text; an address of the web is a link. */
export function Text({ text }: { text: string }) {
  if (text === "") return <span class="muted">{t.noText}</span>;
  return isWeb(text) ? <a href={text} rel="noopener noreferrer" target="_blank">{text}</a> : <Folded text={text} pre={text.includes("\n")} />;
}

/** Whether a text is an address that may be followed: no other scheme is a link. */
export const isWeb = (text: string): boolean => /^https?:\/\/[^\s<>"]+$/i.test(text);

function Members({ value, depth, ...sqls }: { value: { [name: string]: Json }; depth: number } & Sqls) {
  const [open, set] = useState(false);
  const all = Object.entries(value);
  if (all.length === 0) return <span class="muted">{t.noMembers}</span>;
  const long = all.length > ROWS * 2;
  const shown = long && !open ? all.slice(0, ROWS * 2) : all;
  return (
    <>
      <dl class={`facts ${depth > 0 ? "nested" : ""}`}>
        {shown.map(([name, each]) => <><dt>{name}</dt><dd><Value value={each} name={name} depth={depth + 1} {...sqls} /></dd></>)}
      </dl>
      {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllOf(all.length)}</button>}
    </>
  );
}

function List({ list, name, depth, ...sqls }: { list: Json[]; name: string; depth: number } & Sqls) {
  const [open, set] = useState(false);
  if (list.length === 0) return <span class="muted">{t.noItems}</span>;
  const columns = columnsOf(list);
  if (!columns) return <FoldedList most={ROWS} items={list.map((each) => <Value value={each} name={name} depth={depth + 1} {...sqls} />)} />;
  const long = list.length > ROWS + 2;
  const rows = (long && !open ? list.slice(0, ROWS) : list) as { [name: string]: Json }[];
  return (
    <div class="fold">
      <div class="table-frame facet-table" tabIndex={0} role="region" aria-label={name}>
        <table>
          <thead><tr>{columns.map((column) => <th scope="col">{column}</th>)}</tr></thead>
          <tbody>{rows.map((row) => <tr>{columns.map((column) => <td>{row[column] === undefined ? "" : <Value value={row[column] ?? null} name={column} depth={depth + 1} {...sqls} />}</td>)}</tr>)}</tbody>
        </table>
      </div>
      {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllOf(list.length)}</button>}
    </div>
  );
}
