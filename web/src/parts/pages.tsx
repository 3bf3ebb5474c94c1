// Lists that the API gives in pages: the first page is shown, the others are one button away.

import { useState } from "preact/hooks";

import { get, question, type Query } from "../app/api";
import { useAsked, type Asked } from "../app/asked";
import { report, say } from "../app/state";
import { t } from "../app/texts";
import type { Noun } from "../texts/values";
import { Answer } from "./basics";
import { Table, type Column } from "./table";

/** What every page of a list has. */
export interface Page<Row> {
  items: Row[];
  total: number;
  next_cursor: string | null;
  /** The answer leaves out what the asker may not see. */
  filtered?: boolean;
}

export interface Pages<Row, P> {
  asked: Asked<P>;
  /** Rows of all pages that were asked for. */
  rows: Row[];
  total: number;
  /** Ask for the next page; null where there is none. */
  more: (() => void) | null;
  loading: boolean;
}

const FIRST = 100;
const NEXT = 1000;

interface Later<Row> {
  of: string;
  items: Row[];
  cursor: string | null;
  loading: boolean;
}

/** Pages of a question. Rows of another question are never shown. Null asks nothing. */
export function usePages<Row, P extends Page<Row> = Page<Row>>(path: string | null, query: Query = {}, first = FIRST): Pages<Row, P> {
  const name = path === null ? null : question(path, { ...query, limit: first });
  const asked = useAsked<P>(name, () => get<P>(path ?? "", { ...query, limit: first }));
  const [later, set] = useState<Later<Row> | null>(null);
  const now = later && later.of === name ? later : null;
  const cursor = now ? now.cursor : (asked.value?.next_cursor ?? null);
  const more = (): void => {
    if (path === null || name === null || cursor === null || now?.loading) return;
    const before = now?.items ?? [];
    set({ of: name, items: before, cursor, loading: true });
    get<P>(path, { ...query, limit: NEXT, cursor }).then(
      (page) => {
        set((at) => (at?.of === name ? { of: name, items: [...before, ...page.items], cursor: page.next_cursor, loading: false } : at));
        say(t.paging.added(page.items.length));
      },
      (error: unknown) => {
        set((at) => (at?.of === name ? { ...at, loading: false } : at));
        report(error);
      },
    );
  };
  return {
    asked,
    rows: [...(asked.value?.items ?? []), ...(now?.items ?? [])],
    total: asked.value?.total ?? 0,
    more: cursor === null ? null : more,
    loading: now?.loading ?? false,
  };
}

/** "None", with a word where the asker may not see all. */
export const noneOf = (answer: { filtered?: boolean } | null, text: string): string => (answer?.filtered ? `${text} ${t.filtered}` : text);

/** Button that asks for what isn't listed yet. */
export function More({ pages, always = false }: { pages: Pages<never, never> | Pages<any, any>; always?: boolean }) {
  const left = pages.total - pages.rows.length;
  if (!pages.more || (left <= 0 && !always)) return null;
  return <button onClick={pages.more} disabled={pages.loading}>{pages.loading ? t.waiting : left > 0 ? t.paging.more(left) : t.paging.next}</button>;
}

interface Given<Row> {
  columns: readonly Column<Row>[];
  of: (row: Row) => string;
  label: string;
  empty: string;
  noun: Noun;
  plain?: boolean;
  sort?: string;
  onSort?: (sort: string) => void;
}

/** A table of pages: counts are of the whole list, the filter is of the rows that are listed, and both are said. */
export function Paged<Row, P extends Page<Row>>({ pages, empty, ...table }: Given<Row> & { pages: Pages<Row, P> }) {
  return (
    <Answer asked={pages.asked}>
      {(answer) => (
        <Table {...table} rows={pages.rows} empty={noneOf(answer, empty)}
          beyond={beyondOf(pages.rows.length, pages.total)} actions={<More pages={pages} />} />
      )}
    </Answer>
  );
}

/** "of 615" where not all are listed. */
export const beyondOf = (listed: number, total: number): string | undefined => (total > listed ? t.paging.beyond(total) : undefined);
