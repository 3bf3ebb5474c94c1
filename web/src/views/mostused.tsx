// What is used most: datasets by how much is made from them, with owners, last run and quality.

import type { MostUsed as Answered, UsedDataset } from "../app/answers";
import { place } from "../app/address";
import { get } from "../app/api";
import { useAsked } from "../app/asked";
import { number } from "../app/format";
import { t } from "../app/texts";
import { Answer, AssetLink, Link, Section, State, Time } from "../parts/basics";
import { beyondOf } from "../parts/pages";
import { Table, type Column } from "../parts/table";

const MANY = 12;

const COLUMNS: Column<UsedDataset>[] = [
  { name: "dataset", title: t.dataset, cell: (row) => <AssetLink asset={row.asset} under />, value: (row) => row.asset.title ?? row.asset.name },
  { name: "owners", title: t.owners, cell: (row) => row.owners.join(", ") || <span class="muted">–</span>, value: (row) => row.owners.join(" ") || null, wide: true },
  { name: "readers", title: t.homeView.readers, cell: (row) => number(row.downstream_total), value: (row) => row.downstream_total, number: true },
  { name: "run", title: t.aboutTab.lastRun, value: (row) => row.status.last_run?.at ?? null, cell: (row) => {
    const run = row.status.last_run;
    return run ? <><Link to={place("run", { id: run.run_id })} title={run.run_id}><State state={run.state} /></Link> <small class="muted"><Time at={run.at} short /></small></> : <span class="muted">–</span>;
  } },
  { name: "quality", title: t.homeView.quality, cell: (row) => (row.status.quality ? <State state={row.status.quality} /> : <span class="muted">–</span>), value: (row) => row.status.quality ?? null, wide: true },
];

export function MostUsed() {
  const asked = useAsked<Answered>("most-used", () => get("most-used", { limit: MANY }));
  // A server of an earlier version doesn't answer it.
  if (asked.problem?.status === 404) return null;
  return (
    <Section title={t.homeView.used}>
      <Answer asked={asked}>{(found) => <Table plain rows={found.items} columns={COLUMNS} of={(row) => row.asset.key} label={t.homeView.used} noun={t.jobView.datasets} empty={t.homeView.noneUsed} beyond={beyondOf(found.items.length, found.total)} />}</Answer>
    </Section>
  );
}
