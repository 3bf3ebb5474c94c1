// Search: what is called like the text, or all that passes the filters; filters with their totals on the side.

import { useState } from "preact/hooks";

import type { Hit, SearchPage } from "../app/answers";
import { place, type Place } from "../app/address";
import { count, number, spelling } from "../app/format";
import { narrow } from "../app/state";
import { t } from "../app/texts";
import { Answer, AssetLink, Chip, Link } from "../parts/basics";
import { More, noneOf, usePages } from "../parts/pages";
import { tagText } from "../parts/people";
import { Table, type Column } from "../parts/table";
import { FILTERS, Facets, chosenCount } from "./facets";

export function Search({ place: at }: { place: Place<"search"> }) {
  const { q, kind, type, namespace, owner, tag, sensitivity } = at.query;
  const [open, set] = useState(false);
  const pages = usePages<Hit, SearchPage>("search", { q, kind, type, namespace, owner, tag, sensitivity, facets: true });
  const chosen = chosenCount(at);
  const facets = <Facets at={at} totals={pages.asked.value?.facets ?? null} truncated={pages.asked.value?.truncated ?? false} />;
  return (
    <div class="view search-view">
      <h1>{q ? t.searchView.of(q) : t.searchView.all}</h1>
      <div class="search-columns">
        {narrow.value ? (
          <div class="search-folded">
            <button aria-expanded={open} onClick={() => set(!open)}>{t.searchView.filters}{chosen > 0 && <small> {number(chosen)}</small>}</button>
            {open && facets}
          </div>
        ) : <aside class="search-facets" aria-label={t.searchView.filters}>{facets}</aside>}
        <div class="search-found">
          <Chosen at={at} />
          <Answer asked={pages.asked}>{(answer) => (
            <>
              <p class="note" role="status">
                {answer.truncated ? t.searchView.truncated(answer.total) : answer.total ? count(answer.total, ...t.nouns.hit) : ""}
                {answer.total > pages.rows.length && `, ${t.searchView.listed(pages.rows.length)}`}
              </p>
              {answer.consumers.length > 0 && <Consumers of={answer.consumers} />}
              <Table plain rows={pages.rows} columns={COLUMNS} of={({ asset }) => asset.key} label={t.searchView.hits} empty={noneOf(answer, chosen ? t.searchView.noneFiltered : q ? t.nothingFound(q) : t.searchView.none)} />
              <p class="row"><More pages={pages} /></p>
            </>
          )}</Answer>
        </div>
      </div>
    </div>
  );
}

const COLUMNS: Column<Hit>[] = [
  { name: "name", title: t.searchView.name, cell: (row) => <span class={row.gone ? "gone" : ""}><AssetLink asset={row.asset} under />{row.gone && <small class="muted"> {row.asset.kind === "COLUMN" ? t.columnsTab.left : t.dropped}</small>}</span>, value: (row) => spelling(row.asset) },
  { name: "kind", title: t.type, cell: (row) => <><Chip kind={row.asset.kind === "DATASET" ? row.asset.type : row.asset.kind} />{row.asset.kind !== "DATASET" && row.asset.type && <small class="muted"> {row.asset.type.toLowerCase()}</small>}</>, value: (row) => row.asset.type ?? row.asset.kind },
  { name: "owners", title: t.owners, cell: (row) => row.owners.join(", "), value: (row) => row.owners.join(" ") || null, wide: true },
  { name: "tags", title: t.tags, cell: (row) => <span class="clamp" title={row.tags.map(tagText).join(", ")}>{row.tags.map(tagText).join(", ")}</span>, value: (row) => row.tags.map(tagText).join(" ") || null, wide: true },
  { name: "sensitivity", title: t.sensitivity, cell: (row) => row.sensitivity?.toLowerCase(), value: (row) => row.sensitivity, wide: true },
];

/** Filters that are on, each with a link that takes it off. */
function Chosen({ at }: { at: Place<"search"> }) {
  const on = FILTERS.flatMap((filter) => filter.chosen(at).map((value) => ({ filter, value })));
  if (on.length === 0) return null;
  return (
    <ul class="names chosen-filters" aria-label={t.searchView.chosen}>
      {on.map(({ filter, value }) => <li><Link class="tag" to={filter.toggled(at, value)} title={t.searchView.remove}>{filter.title}: {filter.word(value)} ✕</Link></li>)}
      <li><Link to={place("search", {}, { query: { q: at.query.q } })}>{t.searchView.removeAll}</Link></li>
    </ul>
  );
}

const Consumers = ({ of }: { of: SearchPage["consumers"] }) => (
  <section class="found-consumers" aria-labelledby="found-consumers">
    <h2 id="found-consumers">{t.searchView.consumers}</h2>
    <ul class="lines">{of.map((one) => <li><Link to={place("consumer", { key: one.key })}>{one.name}</Link> <small class="muted">{[one.type?.toLowerCase(), ...one.owners].filter(Boolean).join(", ")}</small></li>)}</ul>
    {of.length >= 20 && <p class="note">{t.searchView.firstConsumers}</p>}
  </section>
);
