// All direct neighbours of a dataset on one side: searchable, by namespace, owner, type and criticality, each one step from being drawn.

import { useEffect, useRef, useState } from "preact/hooks";

import type { Neighbour, NeighbourFacets, NeighbourPage } from "../app/answers";
import { asOf } from "../app/api";
import { number, parted } from "../app/format";
import { step } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, AssetLink, State } from "../parts/basics";
import { More, noneOf, usePages } from "../parts/pages";
import { Table, type Column } from "../parts/table";
import type { Side } from "../stage/picture";
import { ownersOf } from "./picture";
import type { At } from "./questions";

/** More than a table draws whole: a list that goes on has a bar to scroll to its end. */
const FIRST = 200;
const FACETS = { namespace: "namespaces", owner: "owners", type: "types", criticality: "criticalities" } as const satisfies Record<string, keyof NeighbourFacets>;

interface Given {
  at: At;
  dataset: string;
  side: Side;
  drawn: (key: string) => boolean;
}

export function Neighbours({ at, dataset, side, drawn }: Given) {
  const [text, setText] = useState("");
  const [words, setWords] = useState("");
  const [by, setBy] = useState<Record<string, string>>({});
  useEffect(() => {
    const timer = setTimeout(() => setWords(text), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const pages = usePages<Neighbour, NeighbourPage>("neighbours", { asset: dataset, direction: side === "up" ? "UPSTREAM" : "DOWNSTREAM", q: words, as_of: asOf(), ...by }, FIRST);
  // The fields stay while the next answer is on its way: one of them has the focus.
  const facets = useRef<NeighbourFacets | null>(null);
  facets.current = pages.asked.value?.facets ?? facets.current;
  const draw = (key: string): void => step("dataset", { open: [...at.query.open, `${side}:${dataset}:${key}`] });
  const columns: Column<Neighbour>[] = [
    { name: "draw", title: t.draw, width: "64px", cell: ({ asset }) => (drawn(asset.key) ? <span class="note">{t.isDrawn}</span> : <button class="link" onClick={() => draw(asset.key)} aria-label={t.drawOne(parted(asset).last)}>{t.draw}</button>) },
    { name: "dataset", title: t.columnDataset, cell: ({ asset }) => <AssetLink asset={asset} under /> },
    { name: "criticality", title: t.columnCriticality, cell: ({ criticality }) => criticality ?? "–" },
    { name: "owners", title: t.columnOwners, cell: (row) => ownersOf(row).join(", ") || "–" },
    { name: "readers", title: t.columnOutputs, cell: ({ downstream_total }) => number(downstream_total), number: true },
    { name: "run", title: t.columnLastRun, cell: ({ status }) => (status?.last_run ? <State state={status.last_run.state} /> : "–") },
  ];
  return (
    <div class="neighbours">
      <input type="search" value={text} placeholder={t.filter} aria-label={t.neighbourFilter} onInput={(event) => setText(event.currentTarget.value)} />
      {facets.current && (
        <div class="neighbour-by">
          {(Object.keys(FACETS) as (keyof typeof FACETS)[]).map((name) => (
            <label>{t.neighbourBy[name]}
              <select value={by[name] ?? ""} onChange={(event) => setBy({ ...by, [name]: event.currentTarget.value })}>
                <option value="">{t.any}</option>
                {facets.current?.[FACETS[name]].map(({ value, total }) => value !== null && <option value={value}>{value} ({number(total)})</option>)}
              </select>
            </label>
          ))}
        </div>
      )}
      <Answer asked={pages.asked}>{(page) => (
        <>
          <p class="note" role="status">{t.neighbours(page.total, side)}</p>
          <Table plain rows={pages.rows} columns={columns} of={({ asset }) => asset.key} label={side === "up" ? t.allInputs : t.allReaders} empty={noneOf(page, words || Object.values(by).some(Boolean) ? t.noneMatch : t.noneKnown)} onEnd={pages.more} />
          <More pages={pages} />
        </>
      )}</Answer>
    </div>
  );
}
