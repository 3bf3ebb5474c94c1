// All direct neighbours of a dataset on one side: searchable, by namespace, owner and type, and each one step from being drawn.

import { useEffect, useState } from "preact/hooks";

import type { NeighbourPage } from "../app/answers";
import { asOf, get } from "../app/api";
import { useAsked } from "../app/asked";
import { number, parted } from "../app/format";
import { step } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, AssetLink, State } from "../parts/basics";
import type { Side } from "../stage/picture";
import type { At } from "./questions";

const PAGE = 50;

export function Neighbours({ at, dataset, side, drawn }: { at: At; dataset: string; side: Side; drawn: (key: string) => boolean }) {
  const [text, setText] = useState("");
  const [words, setWords] = useState("");
  const [by, setBy] = useState<Record<string, string>>({});
  const [limit, setLimit] = useState(PAGE);
  useEffect(() => {
    const timer = setTimeout(() => setWords(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const query = { asset: dataset, direction: side === "up" ? "UPSTREAM" : "DOWNSTREAM", q: words, as_of: asOf(), limit, ...by };
  const asked = useAsked(JSON.stringify(query), () => get<NeighbourPage>("neighbours", query), { keep: true });
  const draw = (key: string): void => step("dataset", { open: [...at.query.open, `${side}:${dataset}:${key}`] });
  const facet = (name: string, values: readonly { value: string | null; total: number }[]) => (
    <label>{t.neighbourBy(name)}
      <select value={by[name] ?? ""} onChange={(event) => setBy({ ...by, [name]: event.currentTarget.value })}>
        <option value="">{t.any}</option>
        {values.filter(({ value }) => value !== null).map(({ value, total }) => <option value={value ?? ""}>{value} ({number(total)})</option>)}
      </select>
    </label>
  );
  return (
    <div class="neighbours">
      <input type="search" value={text} placeholder={t.filter} aria-label={t.neighbourFilter} onInput={(event) => setText(event.currentTarget.value)} />
      <Answer asked={asked}>{(page) => (
        <>
          <div class="neighbour-by">
            {facet("namespace", page.facets.namespaces)}
            {facet("owner", page.facets.owners)}
            {facet("type", page.facets.types)}
          </div>
          <p class="note" role="status">{t.neighbours(page.total, side)}</p>
          <ul class="neighbour-list">
            {page.items.map(({ asset, owners, owners_of_jobs, criticality, downstream_total, status }) => (
              <li>
                <span class="neighbour-name">
                  <AssetLink asset={asset} under />
                  <small>{[...(owners.length ? owners : owners_of_jobs), criticality, t.readBy(downstream_total)].filter(Boolean).join(" · ")}</small>
                </span>
                {status?.last_run && <State state={status.last_run.state} />}
                {drawn(asset.key) ? <span class="note">{t.isDrawn}</span> : <button onClick={() => draw(asset.key)} aria-label={t.drawOne(parted(asset).last)}>{t.draw}</button>}
              </li>
            ))}
          </ul>
          {page.next_cursor && <button onClick={() => setLimit(Math.min(1_000, limit * 4))} disabled={limit >= 1_000}>{t.moreOf(page.total - page.items.length)}</button>}
        </>
      )}</Answer>
    </div>
  );
}
