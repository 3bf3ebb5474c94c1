// What a supposed change hits: in short in the panel, in full on its own tab.

import type { DatasetDetails, Impact as Answered, ImpactItem, ImpactedJob, ReadingConsumer } from "../app/answers";
import type { Place } from "../app/address";
import { headline, number, parted } from "../app/format";
import { step, tweak } from "../app/navigation";
import { rank, tone } from "../app/palette";
import { t } from "../app/texts";
import { Answer, AssetLink, Copy, Link, OfNow, Section, Tone } from "../parts/basics";
import { fileName, save } from "../parts/download";
import { namesOf } from "../parts/people";
import { Table, csv, type Column } from "../parts/table";
import { place } from "../app/address";
import { changeOf, useImpact, type At } from "./questions";
import { listsAllHits } from "./severities";
import { WhatIf } from "./what-if";

/** `If amount_net of orders is removed:` */
export function supposed(at: At, name: string): string {
  const { change, changedcol, newtype, newname } = at.query;
  const words = t.change[change as keyof typeof t.change] ?? change;
  return t.supposed(changedcol, name, words, change === "RETYPED" ? newtype : change === "RENAMED" ? newname : "");
}

/** Severities with their totals; each is a switch that leaves the others out of picture and tables. */
function Totals({ at, impact }: { at: At; impact: Answered }) {
  const { severity } = at.query;
  const toggle = (one: string): void => tweak("dataset", { severity: severity.includes(one) ? severity.filter((each) => each !== one) : [...severity, one] });
  return (
    <p class="totals">
      {impact.totals.filter(({ total }) => total > 0).map(({ severity: one, total }) => (
        <button class={`tone ${tone(one)}`} aria-pressed={severity.includes(one)} onClick={() => toggle(one)}>{one.toLowerCase()} {number(total)}</button>
      ))}
    </p>
  );
}

/** The verdict, whom it concerns, and what isn't known. */
export function Verdict({ at, impact, name, undrawn }: { at: At; impact: Answered; name: string; undrawn?: number }) {
  const incomplete = impact.truncated || impact.total > impact.items.length;
  return (
    <div class="impact" id="impact" role="status">
      <p class="under">{supposed(at, name)}</p>
      {/* The bar over the tab says so itself. */}
      {at.tab === "lineage" && <OfNow asOf={at.asOf} />}
      <p><strong>{headline(impact)}</strong> · {t.jobsHit(impact.jobs_total)}{incomplete && <> · {t.firstHits(impact.items.length, impact.total)}</>}</p>
      <Totals at={at} impact={impact} />
      {undrawn !== undefined && undrawn > 0 && <p class="note" id="undrawn">{t.hitsNotDrawn(undrawn, !listsAllHits(impact))} <Link to={{ ...at, tab: "impact" }}>{t.allHitsLink}</Link></p>}
      {[...impact.unknown, ...impact.notes].map((note) => <p class="note">{note}</p>)}
      <p class="row">
        <Copy class="link" text={impact.summary}>{t.copyForTicket}</Copy>
        <button class="link" onClick={() => step("dataset", { change: "", changed: "", changedcol: "", newtype: "", newname: "", severity: [], panel: "impact" })}>{t.clearImpact}</button>
      </p>
    </div>
  );
}

const ITEMS: Column<ImpactItem>[] = [
  { name: "severity", title: t.columnSeverity, value: ({ severity }) => severity, order: ({ severity }) => rank(severity), cell: ({ severity }) => <Tone severity={severity} /> },
  { name: "asset", title: t.columnHit, value: ({ asset }) => [asset.namespace, asset.name, asset.column].filter(Boolean).join("/"), cell: ({ asset }) => <AssetLink asset={asset} />, width: "26%" },
  { name: "hops", title: t.columnHops, number: true, wide: true, value: ({ hops }) => hops, cell: ({ hops }) => hops },
  { name: "owners", title: t.columnOwners, value: ({ owners }) => namesOf(owners), cell: ({ owners }) => namesOf(owners) || t.noOwner },
  { name: "reason", title: t.columnReason, value: ({ reason }) => reason, cell: ({ reason }) => reason, wide: true, width: "30%" },
  { name: "action", title: t.columnAction, value: ({ action }) => action, cell: ({ action }) => action, wide: true },
];
const JOBS: Column<ImpactedJob>[] = [
  { name: "severity", title: t.columnSeverity, value: ({ severity }) => severity, order: ({ severity }) => rank(severity), cell: ({ severity }) => <Tone severity={severity} /> },
  { name: "job", title: t.columnJob, value: ({ job }) => job.name, cell: ({ job }) => <AssetLink asset={job} />, width: "34%" },
  { name: "fails", title: t.columnFails, value: ({ fails }) => (fails ? 1 : 0), cell: ({ fails }) => (fails ? t.yesWord : t.noWord) },
  { name: "owners", title: t.columnOwners, value: ({ owners }) => namesOf(owners), cell: ({ owners }) => namesOf(owners) || t.noOwner },
  { name: "reason", title: t.columnReason, value: ({ reason }) => reason, cell: ({ reason }) => reason, wide: true },
];
const CONSUMERS: Column<ReadingConsumer>[] = [
  { name: "name", width: "28%", title: t.columnConsumer, value: ({ name }) => name, cell: ({ key, name }) => <Link to={place("consumer", { key })}>{name}</Link> },
  { name: "type", wide: true, title: t.columnType, value: ({ type }) => type, cell: ({ type }) => type?.toLowerCase() ?? "–" },
  { name: "owners", width: "28%", title: t.columnOwners, value: ({ owners }) => namesOf(owners), cell: ({ owners }) => namesOf(owners) || t.noOwner },
  { name: "contact", width: "30%", title: t.columnContact, value: ({ on_call, contact }) => [on_call, contact].filter(Boolean).join(", "), cell: ({ on_call, contact }) => [on_call, contact].filter(Boolean).join(", ") || "–" },
  { name: "notice", title: t.columnNotice, number: true, wide: true, value: ({ notice_days }) => notice_days, cell: ({ notice_days }) => (notice_days === null ? "–" : t.days(notice_days)) },
];

/** Owners of everything that is hit: whom to tell, with how much of theirs is hit. */
function ownersHit(impact: Answered): { owner: string; datasets: number; worst: string }[] {
  const found = new Map<string, { owner: string; datasets: Set<string>; worst: string }>();
  for (const { owners, asset, severity } of impact.items) {
    for (const { name } of owners.length ? owners : [{ name: "" }]) {
      const known = found.get(name) ?? { owner: name, datasets: new Set(), worst: severity };
      known.datasets.add(`${asset.namespace}\n${asset.name}`);
      if (rank(severity) < rank(known.worst)) known.worst = severity;
      found.set(name, known);
    }
  }
  return [...found.values()].map(({ owner, datasets, worst }) => ({ owner, datasets: datasets.size, worst })).sort((a, b) => rank(a.worst) - rank(b.worst) || b.datasets - a.datasets);
}

export function ImpactTab({ place: at, details }: { place: Place<"dataset">; details: DatasetDetails }) {
  const asked = useImpact(at);
  const name = parted(details.dataset).last;
  return (
    <div class="impact-tab">
      <Section title={t.whatIf}><WhatIf at={at} details={details} column={at.query.changedcol || at.query.col} /></Section>
      {changeOf(at) === null ? <p class="note">{t.noChangeYet}</p> : (
        <Answer asked={asked}>{(impact) => {
          const { severity } = at.query;
          const items = impact.items.filter((item) => severity.length === 0 || severity.includes(item.severity));
          const owners = ownersHit(impact);
          const incomplete = impact.total > impact.items.length ? t.firstHits(impact.items.length, impact.total) : undefined;
          return (
            <>
              <Verdict at={at} impact={impact} name={name} />
              <Section title={t.whomToTell}>
                {impact.consumers.length > 0 && <Table rows={impact.consumers} columns={CONSUMERS} of={({ key }) => key} label={t.consumersHit} noun={t.nouns.consumer} />}
                <Table rows={owners} of={({ owner }) => owner} label={t.ownersHit} noun={t.nouns.owner} beyond={incomplete} columns={[
                  { name: "owner", width: "46%", title: t.columnOwner, value: ({ owner }) => owner, cell: ({ owner }) => owner || t.noOwner },
                  { name: "worst", width: "30%", title: t.columnWorst, value: ({ worst }) => worst, order: ({ worst }) => rank(worst), cell: ({ worst }) => <Tone severity={worst} /> },
                  { name: "datasets", title: t.columnDatasets, number: true, value: ({ datasets }) => datasets, cell: ({ datasets }) => number(datasets) },
                ]} />
              </Section>
              <Section title={t.hits}>
                <Table rows={items} columns={ITEMS} of={({ asset }) => asset.key} label={t.hits} noun={t.nouns.hit} beyond={incomplete}
                  actions={<button onClick={() => save(fileName(`${name}-impact`, "csv"), csv(items, ITEMS), "text/csv;charset=utf-8")}>{t.csv}</button>} />
              </Section>
              <Section title={t.jobsOf(impact.jobs_total)}>
                <Table rows={impact.jobs} columns={JOBS} of={({ job }) => job.key} label={t.columnJob} noun={t.nouns.job} beyond={impact.jobs_total > impact.jobs.length ? t.firstHits(impact.jobs.length, impact.jobs_total) : undefined} />
              </Section>
            </>
          );
        }}</Answer>
      )}
    </div>
  );
}
