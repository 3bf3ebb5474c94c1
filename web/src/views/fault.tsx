// Owners, jobs and columns that a fault reached, and the first bad and last good run of each place in which bad data began.

import type { AffectedJob, Asset, BadSince, DatasetOwners, IncidentReach, ReachedColumn, ReachedVersion, WritingStep } from "../app/answers";
import { spelling } from "../app/format";
import { t } from "../app/texts";
import { AssetLink, Section, Time, Tone } from "../parts/basics";
import { namesOf } from "../parts/people";
import { Table, type Column } from "../parts/table";
import { UsePart } from "../parts/uses";
import { CertaintyMark } from "./hops";

const w = t.incidentView;

/** A column with the owners of a row's datasets, each once. */
export function ownersColumn<Row>(known: readonly DatasetOwners[], of: (row: Row) => readonly Asset[]): Column<Row> {
  const byKey = new Map(known.map(({ dataset, owners }) => [dataset.key, owners]));
  const value = (row: Row): string => [...new Set(of(row).flatMap(({ key }) => byKey.get(key) ?? []).map(({ name }) => name))].join(", ");
  return { name: "owners", title: w.owners, cell: (row) => <span class="rec-cell">{value(row) || "–"}</span>, value };
}

const JOBS: Column<AffectedJob>[] = [
  { name: "job", title: w.job, cell: ({ job }) => <AssetLink asset={job} under />, value: ({ job }) => spelling(job) },
  { name: "hops", title: w.hops, number: true, width: "64px", cell: ({ depth }) => depth, value: ({ depth }) => depth },
  { name: "certainty", title: t.traces.certainty, cell: ({ certainty }) => <CertaintyMark of={certainty} />, value: ({ certainty }) => certainty },
  { name: "owners", title: w.owners, cell: ({ owners }) => <span class="rec-cell">{namesOf(owners) || "–"}</span>, value: ({ owners }) => namesOf(owners) },
];

/** None is claimed only where nothing on the way is unknown. */
export function Jobs({ of: { jobs, jobs_unknown: unknown, complete } }: { of: IncidentReach }) {
  return (
    <Section title={w.jobs}>
      {unknown > 0 && <p class="note-warn">{w.jobsUnknown(unknown)}</p>}
      <Table rows={jobs} columns={JOBS} of={({ job }) => job.key} label={w.jobs} noun={w.jobNoun} empty={complete && unknown === 0 ? w.noJob : w.noJobKnown} />
    </Section>
  );
}

/** Versions of reference data with which runs on the way computed bad data. */
export const Versions = ({ of: rows }: { of: readonly ReachedVersion[] }) =>
  rows.length === 0 ? null : (
    <Section title={w.versions}>
      {rows.map(({ reference, outputs, runs }) => <><p>{w.versionIn(runs)} {outputs.map((asset, index) => <>{index > 0 && ", "}<AssetLink asset={asset} /></>)}</p><UsePart use={reference} wrote={false} /></>)}
    </Section>
  );

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
