// Table of the answer that the picture draws: every dataset within the depth.

import { place } from "../app/address";
import { useMemo } from "preact/hooks";

import type { Drawing, DrawnNode, Impact } from "../app/answers";
import { number, parted, spelling } from "../app/format";
import { rank } from "../app/palette";
import { t } from "../app/texts";
import { AssetLink, Chip, Link, State, Time, Tone } from "../parts/basics";
import { fileName, save } from "../parts/download";
import { Table, csv, type Column } from "../parts/table";
import type { Change } from "../stage/picture";
import { addressOf, incidentsOf, ownersOf } from "./picture";
import { listsAllHits, severitiesOf } from "./severities";

interface Given {
  graph: Drawing;
  rows: readonly DrawnNode[];
  hidden: number;
  /** What differs from an earlier time, by key of datasets and arrows; null where nothing is compared. */
  changes: ReadonlyMap<string, Change> | null;
  impact: Impact | null;
  sort: string;
  onSort: (sort: string) => void;
  find: string;
  onFind: (text: string) => void;
  chosen: string | null;
  onChoose: (key: string) => void;
}

const sideOf = ({ hops }: DrawnNode): string => (hops === 0 ? t.sideStart : hops < 0 ? t.sideUp(-hops) : t.sideDown(hops));

/** What the picture colours, as texts of a dataset: its own change, and those of the arrows that lead to it. */
export function changeTexts({ nodes, edges }: Pick<Drawing, "nodes" | "edges">, changes: ReadonlyMap<string, Change>): Map<string, string[]> {
  const words = t.traces.diff.changes;
  const names = new Map(nodes.map(({ asset }) => [asset.key, parted(asset).last]));
  const found = new Map<string, string[]>();
  const add = (key: string, text: string): void => void found.set(key, [...(found.get(key) ?? []), text]);
  for (const { asset: { key } } of nodes) {
    const change = changes.get(key);
    if (change) add(key, words[change]);
  }
  for (const { key, source, target } of edges) {
    const change = changes.get(key);
    if (change) add(target, t.flowChanged(names.get(source) ?? source, words[change]));
  }
  return found;
}

export function columnsOf(impact: Impact | null, incidents: ReadonlyMap<string, string[]> = new Map(), changes: ReadonlyMap<string, string[]> | null = null): Column<DrawnNode>[] {
  // All severities, whichever the picture colours: a dataset that isn't coloured may be hit.
  const severities = severitiesOf(impact);
  const severity = (node: DrawnNode): string | null => severities.get(addressOf(node.asset)) ?? null;
  const changed = ({ asset }: DrawnNode): string => changes?.get(asset.key)?.join("; ") ?? "";
  const none = impact && listsAllHits(impact) ? t.notHit : t.notListedAsHit;
  return [
    { name: "dataset", title: t.columnDataset, value: ({ asset }) => spelling(asset), cell: ({ asset }) => <AssetLink asset={asset} under />, width: "34%" },
    { name: "type", title: t.columnType, value: ({ asset }) => asset.type, cell: ({ asset }) => <Chip kind={asset.type} />, wide: true },
    { name: "side", title: t.columnSide, value: ({ hops }) => hops, cell: sideOf },
    ...(changes ? [{ name: "change", title: t.columnChange, value: changed, cell: (node: DrawnNode) => (changed(node) ? <span class="clamp" title={changed(node)}>{changed(node)}</span> : "–") }] : []),
    ...(impact ? [{ name: "severity", title: t.columnSeverity, value: (node: DrawnNode) => severity(node) ?? none, order: (node: DrawnNode) => (severity(node) === null ? null : rank(severity(node) ?? "")), cell: (node: DrawnNode) => { const found = severity(node); return found ? <Tone severity={found} /> : none; } }] : []),
    { name: "owners", title: t.columnOwners, value: (node) => ownersOf(node).join(", "), cell: (node) => ownersOf(node).join(", ") || t.noOwner },
    { name: "contact", title: t.columnContact, value: ({ contact }) => contact, cell: ({ contact }) => contact ?? "–", wide: true },
    { name: "criticality", title: t.columnCriticality, value: ({ criticality }) => criticality, cell: ({ criticality }) => criticality ?? "–", wide: true },
    ...(incidents.size ? [{ name: "incidents", title: t.incidents, value: ({ asset }: DrawnNode) => incidents.get(asset.key)?.join(" ") ?? null, cell: ({ asset }: DrawnNode) => incidents.get(asset.key)?.map((id) => <Link to={place("incident", { id })}>{id}</Link>) ?? "–" }] : []),
    { name: "inputs", title: t.columnInputs, number: true, wide: true, value: ({ upstream_total }) => upstream_total, cell: ({ upstream_total }) => number(upstream_total) },
    { name: "outputs", title: t.columnOutputs, number: true, wide: true, value: ({ downstream_total }) => downstream_total, cell: ({ downstream_total }) => number(downstream_total) },
    { name: "run", title: t.columnLastRun, value: ({ status }) => status?.last_run?.at ?? null, cell: ({ status }) => (status?.last_run ? <><State state={status.last_run.state} /> <Time at={status.last_run.at} short /></> : "–"), wide: true },
    { name: "quality", title: t.columnQuality, value: ({ status }) => status?.quality ?? null, cell: ({ status }) => (status?.quality ? <State state={status.quality} /> : "–"), wide: true },
  ];
}

export function LineageTable({ graph, rows, hidden, changes, impact, sort, onSort, find, onFind, chosen, onChoose }: Given) {
  const columns = useMemo(() => columnsOf(impact, incidentsOf(graph), changes && changeTexts(graph, changes)), [impact, graph, changes]);
  const { nodes_total: total, truncated } = graph.metadata;
  const missing = total - graph.nodes.length;
  const beyond = [
    hidden > 0 && t.hiddenByFilter(hidden),
    missing > 0 && t.notListed(missing),
    truncated && missing === 0 && t.moreBeyondDepth,
  ].filter(Boolean).join(", ");
  return (
    <Table
      rows={rows} columns={columns} of={({ asset }) => asset.key} label={t.tableLabel(parted(graph.start).last)} noun={t.nouns.dataset}
      sort={sort} onSort={onSort} find={find} onFind={onFind} beyond={beyond || undefined}
      chosen={chosen} onChoose={({ asset }) => onChoose(asset.key)}
      actions={<button onClick={() => save(fileName(`${parted(graph.start).last}-lineage`, "csv"), csv(rows, columns), "text/csv;charset=utf-8")}>{t.csv}</button>}
    />
  );
}
