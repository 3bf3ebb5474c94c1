// Filters of the search with their totals: links that add or take away one value of the address.

import { useState } from "preact/hooks";

import type { SearchFacets } from "../app/answers";
import { altered, type Place } from "../app/address";
import { number } from "../app/format";
import { t } from "../app/texts";
import { Link } from "../parts/basics";

export interface Filter {
  title: string;
  totals: keyof SearchFacets;
  chosen: (at: Place<"search">) => string[];
  toggled: (at: Place<"search">, value: string) => Place<"search">;
  word: (value: string) => string;
}

/** One value or none. */
const single = (name: "namespace" | "owner" | "tag", totals: keyof SearchFacets, title: string): Filter => ({
  title, totals,
  chosen: (at) => (at.query[name] ? [at.query[name]] : []),
  toggled: (at, value) => altered(at, { [name]: at.query[name] === value ? "" : value }),
  word: (value) => value,
});

/** Any number of values. */
const several = (name: "kind" | "type" | "sensitivity", totals: keyof SearchFacets, title: string): Filter => ({
  title, totals,
  chosen: (at) => at.query[name],
  toggled: (at, value) => altered(at, { [name]: at.query[name].includes(value) ? at.query[name].filter((each) => each !== value) : [...at.query[name], value] }),
  word: (value) => value.toLowerCase(),
});

export const FILTERS: Filter[] = [
  several("kind", "kinds", t.searchView.kind),
  several("type", "types", t.type),
  single("namespace", "namespaces", t.searchView.namespace),
  single("owner", "owners", t.searchView.owner),
  single("tag", "tags", t.searchView.tag),
  several("sensitivity", "sensitivities", t.sensitivity),
];

export const chosenCount = (at: Place<"search">): number => FILTERS.reduce((sum, filter) => sum + filter.chosen(at).length, 0);

const KINDS = ["DATASET", "COLUMN", "JOB"];
const FEW = 8;

/** Values of a filter: those of the answer, and those that are chosen. Kinds are always offered. */
export function valuesOf(filter: Filter, at: Place<"search">, totals: SearchFacets | null): { value: string; total: number | null }[] {
  const counted = (totals?.[filter.totals] ?? []).filter((each): each is { value: string; total: number } => each.value !== null);
  const known = new Set(counted.map(({ value }) => value));
  const always = [...filter.chosen(at), ...(filter.totals === "kinds" ? KINDS : [])];
  return [...counted, ...[...new Set(always)].filter((value) => !known.has(value)).map((value) => ({ value, total: null }))];
}

export function Facets({ at, totals, truncated }: { at: Place<"search">; totals: SearchFacets | null; truncated: boolean }) {
  return <>{truncated && <p class="note">{t.searchView.facetsOf}</p>}{FILTERS.map((filter) => <One filter={filter} at={at} values={valuesOf(filter, at, totals)} none={totals?.[filter.totals]?.find(({ value }) => value === null)?.total ?? 0} />)}</>;
}

function One({ filter, at, values, none }: { filter: Filter; at: Place<"search">; values: { value: string; total: number | null }[]; none: number }) {
  const [open, set] = useState(false);
  if (values.length === 0) return null;
  const chosen = new Set(filter.chosen(at));
  const long = values.length > FEW + 2;
  const shown = long && !open ? values.filter(({ value }, index) => index < FEW || chosen.has(value)) : values;
  return (
    <section class="facet-filter">
      <h2>{filter.title}</h2>
      <ul>
        {shown.map(({ value, total }) => (
          <li>
            <Link class={`facet-value ${chosen.has(value) ? "on" : ""}`} to={filter.toggled(at, value)} title={value}>
              <span class="check" aria-hidden="true">{chosen.has(value) ? "✓" : ""}</span>
              <span class="facet-name">{filter.word(value)}{chosen.has(value) && <span class="unseen"> {t.searchView.isOn}</span>}</span>
              {total !== null && <small>{number(total)}</small>}
            </Link>
          </li>
        ))}
        {none > 0 && <li class="facet-none">{t.searchView.without} <small>{number(none)}</small></li>}
      </ul>
      {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllOf(values.length)}</button>}
    </section>
  );
}
