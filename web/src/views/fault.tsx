// Columns that a fault reached, and the first bad and last good run of each place in which bad data began.

import type { BadSince, IncidentReach, ReachedColumn, WritingStep } from "../app/answers";
import { t } from "../app/texts";
import { AssetLink, Section, Time, Tone } from "../parts/basics";
import { Table, type Column } from "../parts/table";
import { CertaintyMark } from "./hops";

const w = t.incidentView;

const COLUMNS: Column<ReachedColumn>[] = [
  { name: "effect", title: w.effect, cell: ({ effect }) => <Tone severity={w.tones[effect] ?? "NONE"}>{w.effects[effect]}</Tone>, value: ({ effect }) => effect },
  { name: "dataset", title: w.dataset, cell: ({ dataset }) => <AssetLink asset={dataset} />, value: ({ dataset }) => `${dataset.namespace}/${dataset.name}` },
  { name: "column", title: w.column, cell: ({ column }) => <span class="anywhere">{column}</span>, value: ({ column }) => column },
  { name: "hops", title: w.hops, number: true, cell: ({ depth }) => depth, value: ({ depth }) => depth },
  { name: "certainty", title: t.traces.certainty, cell: ({ certainty }) => <CertaintyMark of={certainty} />, value: ({ certainty }) => certainty },
  { name: "via", title: w.via, cell: ({ via }) => <span class="anywhere">{via.join(" → ")}</span>, value: ({ via }) => via.join(" → "), wide: true },
  { name: "why", title: w.why, cell: ({ why }) => <span class="anywhere">{why}</span>, value: ({ why }) => why, wide: true },
];

/** None is claimed only where nothing on the way is unknown. */
export function Columns({ of: reach }: { of: IncidentReach }) {
  const { columns, columns_unknown: unknown, columns_truncated: cut, all_columns: all, restricts } = reach;
  const open = cut || unknown.length > 0 || !reach.complete;
  return (
    <>
      {restricts && <p class="note-warn">{w.restrict}</p>}
      <Section title={w.columns}>
        {all !== null && <p class="empty">{w.allColumns(w.effects[all] ?? all)}</p>}
        {cut && <p class="note-warn">{w.columnsCut}</p>}
        {all === null && !reach.complete && <p class="note-warn">{w.columnsOpen}</p>}
        {columns.length > 0 && <Table rows={columns} columns={COLUMNS} of={({ dataset, column }) => `${dataset.key} ${column}`} label={w.columns} noun={w.columnNoun} />}
        {all === null && columns.length === 0 && !open && <p class="empty">{w.noColumn}</p>}
        {unknown.length > 0 && (
          <>
            <p class="note-warn">{w.moreColumns}</p>
            <ul class="lines">{unknown.map(({ dataset, why }) => <li><AssetLink asset={dataset} /> {why}</li>)}</ul>
          </>
        )}
      </Section>
    </>
  );
}

export function stepName({ run_id: run, query_id: query, query_name: name, batch_id: batch }: WritingStep): string {
  const found = [batch !== null ? w.batch(batch, name ?? query ?? "") : null, run !== null ? w.run(run) : null];
  return found.filter(Boolean).join(", ");
}

const Step = ({ of: step }: { of: WritingStep | null }) =>
  step === null ? <>{w.unknownStep}</> : <span class="anywhere">{stepName(step)} {step.at && <Time at={step.at} />} {step.code_version && <b>{w.code(step.code_version)}</b>}</span>;

const SINCE: Column<BadSince>[] = [
  { name: "of", title: w.began, cell: ({ of }) => <AssetLink asset={of} />, value: ({ of }) => `${of.namespace}/${of.name}` },
  { name: "first", title: w.firstBad, cell: ({ first_bad: step }) => <Step of={step} />, value: ({ first_bad: step }) => step?.at ?? null },
  { name: "last", title: w.lastGood, cell: ({ last_good: step }) => <Step of={step} />, value: ({ last_good: step }) => step?.at ?? null },
  { name: "certainty", title: t.traces.certainty, cell: ({ certainty }) => <CertaintyMark of={certainty} />, value: ({ certainty }) => certainty },
  { name: "why", title: w.remark, cell: ({ why }) => <span class="anywhere">{why}</span>, value: ({ why }) => why, wide: true },
];

export const Since = ({ of: rows }: { of: BadSince[] }) =>
  rows.length === 0 ? null : (
    <Section title={w.turns}>
      <Table rows={rows} columns={SINCE} of={({ of }) => of.key} label={w.turns} noun={w.turn} plain />
    </Section>
  );
