// What is drawn of a dataset's lineage, and how.

import type { Drawing } from "../app/answers";
import { place } from "../app/address";
import { go, step, tweak } from "../app/navigation";
import { narrow } from "../app/state";
import { t } from "../app/texts";
import { Copy, Menu } from "../parts/basics";
import { fileName, save } from "../parts/download";
import { exportPicture } from "../stage/lazy";
import { valuesOf, type Filters, type Grouping } from "./picture";
import type { At } from "./questions";

const MOST_VALUES = 30;
const GROUPINGS: Grouping[] = ["", "namespace", "owner", "tag", "type"];

/** Picture or table: what the address says, else what suits the screen. */
export const viewOf = ({ query }: At): "graph" | "table" => query.view || (narrow.value ? "table" : "graph");

/** Beside a table, and on a phone, only of what was chosen: else it would take the room of the answer, as that of a column's path. */
export const hasPanel = ({ query }: Pick<At, "query">, view: "graph" | "table"): boolean =>
  !query.nopanel && ((!narrow.value && view === "graph") || [query.sel, query.col && !query.only, query.change, query.panel].some(Boolean));

export const showAs = (view: "graph" | "table"): void => tweak("dataset", { view });

export function Toolbar({ at, graph, name }: { at: At; graph: Drawing | null; name: string }) {
  const { query } = at;
  const view = viewOf(at);
  const deeper = (by: number): void => step("dataset", { depth: Math.max(1, (query.depth === "all" ? 9 : query.depth) + by), open: [] });
  const all = (direction: "UPSTREAM" | "DOWNSTREAM"): void => step("dataset", { direction, depth: "all", open: [] });
  const panel = hasPanel(at, view);
  const openPanel = (): void => tweak("dataset", { nopanel: false, panel: hasPanel({ query: { ...query, nopanel: false } }, view) ? query.panel : "about" });
  const shown = query.direction === "BOTH" ? t.bothSides : query.direction === "UPSTREAM" ? t.upstreamOnly : t.downstreamOnly;
  return (
    <div class="toolbar" role="toolbar" aria-label={t.toolbar}>
      <span class="switch" role="group" aria-label={t.viewAs}>
        <button aria-pressed={view === "graph"} onClick={() => showAs("graph")}>{t.graph}</button>
        <button aria-pressed={view === "table"} onClick={() => showAs("table")} title={t.tableKey}>{t.table}</button>
      </span>
      {!query.to && (
        <span class="switch" role="group" aria-label={t.depth}>
          <button aria-label={t.lessDeep} disabled={query.depth === 1} onClick={() => deeper(-1)}>−</button>
          <output>{query.depth === "all" ? t.allHops : t.hops(query.depth)}</output>
          <button aria-label={t.deeper} disabled={query.depth === "all"} onClick={() => deeper(1)}>+</button>
        </span>
      )}
      {!query.to && (
        <Menu label={<>{shown} ▾</>} pressed={query.direction !== "BOTH"}>
          {(close) => (
            <>
              <button onClick={() => (close(), step("dataset", { direction: "BOTH", depth: query.depth === "all" ? 1 : query.depth, open: [] }))}>{t.bothSides}</button>
              <button onClick={() => (close(), step("dataset", { direction: "UPSTREAM", open: [] }))}>{t.upstreamOnly}</button>
              <button onClick={() => (close(), step("dataset", { direction: "DOWNSTREAM", open: [] }))}>{t.downstreamOnly}</button>
            </>
          )}
        </Menu>
      )}
      {!query.to && <button class="all" onClick={() => all("UPSTREAM")} aria-pressed={query.direction === "UPSTREAM" && query.depth === "all"}>{t.allUpstream}</button>}
      {!query.to && <button class="all" onClick={() => all("DOWNSTREAM")} aria-pressed={query.direction === "DOWNSTREAM" && query.depth === "all"}>{t.allDownstream}</button>}
      <button aria-pressed={query.columns} onClick={() => tweak("dataset", { columns: !query.columns })} title={t.columnsKey}>{t.columns}</button>
      {query.col && <button aria-pressed={query.only} onClick={() => step("dataset", { only: !query.only, zoom: null })} title={t.onlyKey}>{t.onlyPath(query.col)}</button>}
      <FilterMenu at={at} graph={graph} />
      <Menu label={<>{t.group} ▾</>} pressed={query.group !== ""}>
        {(close) => GROUPINGS.map((group) => (
          <button aria-pressed={query.group === group} onClick={() => (close(), tweak("dataset", { group, open: query.open.filter((one) => !one.startsWith("group:")) }))}>{t.groupBy[group]}</button>
        ))}
      </Menu>
      <ShowMenu at={at} />
      <ExportMenu at={at} graph={graph} name={name} />
      <button class="end" aria-pressed={panel} onClick={() => (panel ? tweak("dataset", { nopanel: true }) : openPanel())}>{t.panel}</button>
    </div>
  );
}

const FilterChip = ({ text, remove }: { text: string; remove: () => void }) => (
  <button class="filter-chip" onClick={remove} title={`${text}. ${t.removeFilter}`}><span>{text}</span> ✕</button>
);

function FilterMenu({ at, graph }: { at: At; graph: Drawing | null }) {
  const { query } = at;
  const active = query.namespace.length + query.owner.length + query.type.length + query.tag.length;
  const toggle = (by: keyof Filters, value: string): void => {
    const now = query[by];
    tweak("dataset", { [by]: now.includes(value) ? now.filter((one) => one !== value) : [...now, value] });
  };
  return (
    <>
      <Menu label={<>{t.filterMenu}{active > 0 && ` (${active})`} ▾</>} pressed={active > 0}>
        <div class="filters">
          {(["type", "namespace", "owner", "tag"] as const).map((by) => {
            const counts = new Map<string, number>();
            for (const node of graph?.nodes ?? []) for (const value of valuesOf(node, by)) counts.set(value, (counts.get(value) ?? 0) + 1);
            const values = [...counts].filter(([value]) => value).sort((a, b) => b[1] - a[1]);
            if (values.length === 0) return null;
            return (
              <fieldset>
                <legend>{t.groupBy[by]}</legend>
                {values.slice(0, MOST_VALUES).map(([value, many]) => (
                  <label title={value}><input type="checkbox" checked={query[by].includes(value)} onChange={() => toggle(by, value)} /> <span>{value}</span> <small>{many}</small></label>
                ))}
                {values.length > MOST_VALUES && <p class="note">{t.moreInTable(values.length - MOST_VALUES)}</p>}
              </fieldset>
            );
          })}
        </div>
      </Menu>
      {(["type", "namespace", "owner", "tag"] as const).flatMap((by) => query[by].map((value) => (
        <FilterChip text={`${t.groupBy[by]}: ${value}`} remove={() => toggle(by, value)} />
      )))}
    </>
  );
}

function ShowMenu({ at }: { at: At }) {
  const { query } = at;
  const active = query.nojobs || !!query.since || !!query.to;
  const since = (days: number): string => new Date(new Date().setHours(0, 0, 0, 0) - days * 86_400_000).toISOString();
  const monday = (new Date().getDay() + 6) % 7;
  return (
    <>
      <Menu label={<>{t.show} ▾</>} pressed={active}>
        {(close) => (
          <div class="show-menu">
            <button aria-pressed={!query.nojobs} onClick={() => (close(), tweak("dataset", { nojobs: !query.nojobs }))}>{t.jobNames}</button>
            <p class="note">{t.changedSince}</p>
            <button onClick={() => (close(), step("dataset", { since: since(1) }))}>{t.yesterday}</button>
            <button onClick={() => (close(), step("dataset", { since: since(monday || 7) }))}>{t.lastMonday}</button>
            <label>{t.sinceTime} <input type="datetime-local" onChange={(event) => event.currentTarget.value && step("dataset", { since: new Date(event.currentTarget.value).toISOString() })} /></label>
            <form onSubmit={(event) => {
              event.preventDefault();
              const to = new FormData(event.currentTarget).get("to");
              if (typeof to === "string" && to.trim()) {
                close();
                step("dataset", { to: to.trim(), open: [] });
              }
            }}>
              <label>{t.pathTo} <input name="to" type="text" placeholder={t.pathToHint} /></label>
              <button>{t.apply}</button>
            </form>
          </div>
        )}
      </Menu>
      {query.since && <FilterChip text={t.sinceChip(query.since)} remove={() => step("dataset", { since: "" })} />}
      {query.to && <FilterChip text={t.pathChip(query.to)} remove={() => step("dataset", { to: "" })} />}
    </>
  );
}

function ExportMenu({ at, graph, name }: { at: At; graph: Drawing | null; name: string }) {
  const drawn = viewOf(at) === "graph";
  return (
    <Menu label={<>{t.exportMenu} ▾</>}>
      {(close) => (
        <>
          {drawn && (["png", "svg", "mermaid"] as const).map((kind) => <button onClick={() => (close(), exportPicture(kind, name))}>{t.exportAs[kind]}</button>)}
          {graph && <button onClick={() => (close(), save(fileName(name, "json"), JSON.stringify(graph, null, 2), "application/json"))}>{t.exportAs.json}</button>}
          {drawn && <button onClick={() => (close(), tweak("dataset", { view: "table" }))}>{t.exportAs.csv}</button>}
          <Copy text={() => location.href}>{t.copyLink}</Copy>
        </>
      )}
    </Menu>
  );
}

export const startAt = (path: At["path"], at: At): void => go(place("dataset", path, { query: { columns: at.query.columns, view: at.query.view, nojobs: at.query.nojobs }, asOf: at.asOf }));
