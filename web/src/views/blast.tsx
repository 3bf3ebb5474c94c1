// Blast radius: all that came of a bad run, bad micro-batches or bad records, and whom to notify.

import "./records.css";

import { useMemo, useState } from "preact/hooks";

import { place, type Place } from "../app/address";
import type { Blast, DatasetOwners, ReadingConsumer, Tainted as TaintedDataset } from "../app/answers";
import { get } from "../app/api";
import { useAsked } from "../app/asked";
import { number, spelling, visible } from "../app/format";
import { go, tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, AssetLink, Copy, Facts, Link, Section, Tone } from "../parts/basics";
import { namesOf } from "../parts/people";
import { Table, type Column } from "../parts/table";
import { ownersColumn } from "./fault";
import { CertaintyMark, Choice, Downloads, doubts, Field, Hops, Notes, PartCell, partLine, partText, Question, Sentence, stepText, TimeField } from "./hops";

const r = t.traces;
const w = r.blast;
type Query = Place<"blast">["query"];
type Kind = keyof typeof w.kinds;

const LIMIT = 1_000;

const kindOf = (query: Query): Kind => (query.query || query.first ? "query" : query.time || query.until ? "time" : query.topic || query.offset ? "offsets" : "run");

export const canBlast = ({ run, query, first, topic, partition, offset, time }: Query): boolean => Boolean(run || (query && first) || (topic && ((partition && offset) || time)));

/** What the API is asked: only what belongs to the kind of origin. */
export function blastQuery(query: Query): Record<string, string | number> {
  const { run, query: name, first, last, topic, partition, offset, end, time, until } = query;
  const origin: Record<string, string> = run ? { run } : name ? { query: name, first_batch: first, last_batch: last } : time ? { topic, time, until } : { topic, partition, offset, end };
  return { limit: LIMIT, depth: "all", ...origin };
}

/** What is bad, in words. */
export function originText({ run, query, first, last, topic, partition, offset, end, time, until }: Query): string {
  if (run) return t.runOf(run);
  if (query) return `${query} ${r.batches(Number(first), Number(last || first))}`;
  return time ? `${topic} ${[time, until].filter(Boolean).join(" – ")}` : `${topic} ${partition}:${end ? `${offset}..${end}` : offset}`;
}

/** Datasets with an unknown part, hops that aren't certain, and whether nothing may be said to be untouched. */
export function openOf({ totals, hops, truncated, tainted }: Pick<Blast, "totals" | "hops" | "truncated" | "tainted">): { unknown: number; possible: number; open: boolean } {
  const { possible, unknown } = doubts(hops, tainted.flatMap(({ parts }) => parts));
  const most = Math.max(unknown, totals.unknown);
  return { unknown: most, possible, open: truncated || most > 0 };
}

/** The answer in a sentence; nothing is said to be tainted only where nothing is unknown. */
export function blastSentence(answer: Pick<Blast, "totals" | "hops" | "truncated" | "tainted">): string {
  const { totals, truncated } = answer;
  const { unknown, possible, open } = openOf(answer);
  const main = totals.datasets > 0 ? w.totals(totals.datasets, totals.steps) : open ? w.noneUnknown : w.none;
  const amounts = [totals.offsets && w.offsets(totals.offsets), totals.files && w.files(totals.files), totals.versions && w.versions(totals.versions), totals.clean_again && w.clean(totals.clean_again)].filter(Boolean);
  const doubt = [unknown && w.unknown(unknown), possible && r.trace.possible(possible), truncated && w.truncated].filter(Boolean);
  return `${main}${amounts.length ? `: ${amounts.join(", ")}` : ""}${doubt.length ? ` (${doubt.join("; ")})` : ""}.`;
}

/** The answer as plain text. */
export function ticket(answer: Blast, title: string, address: string): string {
  const consumers = answer.consumers.map((one) => `- ${[one.name, namesOf(one.owners), one.on_call, one.contact].filter(Boolean).join(" · ")}`);
  const { open } = openOf(answer);
  const tainted = answer.tainted.filter(({ parts }) => parts.length).map((one) => `- ${spelling(one.dataset)}: ${one.parts.map(partText).join("; ")} (${r.certainties[one.certainty]})`);
  const clean = answer.tainted.filter(({ parts }) => !parts.length).map((one) => `- ${spelling(one.dataset)}: ${w.cleanAgain}`);
  return [
    w.ticketTitle(title), blastSentence(answer), ...answer.notes, "",
    `${w.tainted}:`, ...(tainted.length + clean.length ? [...tainted, ...clean] : [`- ${open ? w.noneUnknown : w.none}`]), "",
    `${w.consumers}:`, ...(consumers.length ? consumers : [`- ${open ? w.consumersTruncated : w.consumersNone}`]), "",
    `${w.ticketLink}: ${address}`,
  ].map((line) => visible(line)).join("\n");
}

const replaced = (one: TaintedDataset): string => one.superseded.map(({ part, why, by }) => w.supersededBy(partText(part), [why, by && stepText(by)].filter(Boolean).join(" "))).join("; ");

const TAINTED: Column<TaintedDataset>[] = [
  { name: "dataset", title: r.datasetName, cell: ({ dataset }) => <AssetLink asset={dataset} under />, value: ({ dataset }) => spelling(dataset) },
  { name: "depth", title: r.depth, number: true, width: "64px", cell: ({ depth }) => depth, value: ({ depth }) => depth },
  {
    name: "parts", title: w.parts, value: ({ parts }) => parts.map(partLine).join("; "),
    cell: ({ parts }) => (parts.length ? parts.map((part) => <PartCell part={part} named={false} />) : <Tone severity="NONE">{w.cleanAgain}</Tone>),
  },
  { name: "certainty", title: r.certainty, cell: ({ certainty }) => <CertaintyMark of={certainty} />, value: ({ certainty }) => r.certainties[certainty] },
  {
    name: "superseded", title: w.superseded, value: replaced,
    cell: ({ superseded }) => superseded.map(({ part, why, by }) => {
      const run = by?.runs[0];
      return <div class="rec-part"><code>{partText(part)}</code> {why} {by && (run ? <Link to={place("run", { id: run.run_id })}>{stepText(by)}</Link> : stepText(by))}</div>;
    }),
  },
];

const criticality = ({ criticality: found }: ReadingConsumer): string | null => found;

const CONSUMERS: Column<ReadingConsumer>[] = [
  { name: "name", title: w.consumer, cell: ({ key, name }) => <span class="asset"><Link to={place("consumer", { key })}>{name}</Link></span>, value: ({ name }) => name },
  { name: "criticality", title: t.criticality, cell: (one) => criticality(one) ?? "–", value: criticality },
  { name: "owners", title: w.owners, cell: ({ owners }) => <span class="rec-cell">{namesOf(owners) || "–"}</span>, value: ({ owners }) => namesOf(owners) },
  { name: "onCall", title: w.onCall, cell: ({ on_call: onCall }) => onCall ?? "–", value: ({ on_call: onCall }) => onCall },
  { name: "contact", title: w.contact, cell: ({ contact }) => <span class="rec-cell">{contact ?? "–"}</span>, value: ({ contact }) => contact },
  { name: "notice", title: w.notice, cell: ({ notice_days: days }) => (days === null ? "–" : w.noticeDays(days)), value: ({ notice_days: days }) => days },
  {
    name: "reads", title: w.reads, wide: true, value: ({ reads }) => reads.map(spelling).join("; "),
    cell: ({ reads, reads_total: total }) => <>{reads.map((asset, index) => <>{index > 0 && ", "}<AssetLink asset={asset} /></>)}{total > reads.length && ` ${w.readsMore(total - reads.length)}`}</>,
  },
];

/** Columns of consumers. Answers list the most critical consumer first, so criticalities, which are free words, sort by the order of the rows. */
export function consumerColumns(rows: readonly ReadingConsumer[]): Column<ReadingConsumer>[] {
  const at = new Map(rows.map(({ key }, index) => [key, index]));
  const order = (one: ReadingConsumer): number | null => (criticality(one) === null ? null : (at.get(one.key) ?? null));
  return CONSUMERS.map((column) => (column.value === criticality ? { ...column, order } : column));
}

function Form({ query }: { query: Query }) {
  const [draft, setDraft] = useState(query);
  const [kind, setKind] = useState<Kind>(kindOf(query));
  const set = (name: keyof Query) => (value: string): void => setDraft((now) => ({ ...now, [name]: value }));
  const { run, query: name, first, last, topic, partition, offset, end, time, until, view } = draft;
  const to = place("blast", {}, { query: { view, ...{ run: { run }, query: { query: name, first, last }, offsets: { topic, partition, offset, end }, time: { topic, time, until } }[kind] } });
  return (
    <form class="rec-form" onSubmit={(event) => {
      event.preventDefault();
      if (canBlast(to.query)) go(to);
    }}>
      <Choice label={w.from} options={w.kinds} value={kind} onValue={setKind} />
      <div class="rec-fields">
        {kind === "run" && <Field wide label={r.runId} value={run} onValue={set("run")} />}
        {kind === "query" && <><Field wide label={r.query} value={name} onValue={set("query")} /><Field label={r.first} mode="numeric" value={first} onValue={set("first")} /><Field label={r.last} mode="numeric" value={last} onValue={set("last")} /></>}
        {(kind === "offsets" || kind === "time") && <Field wide label={r.topic} help={r.topicHelp} value={topic} onValue={set("topic")} />}
        {kind === "offsets" && <><Field label={r.partition} mode="numeric" value={partition} onValue={set("partition")} /><Field label={r.offset} mode="numeric" value={offset} onValue={set("offset")} /><Field label={r.end} mode="numeric" value={end} onValue={set("end")} /></>}
        {kind === "time" && <><TimeField label={r.time} value={time} onValue={set("time")} /><TimeField label={r.until} value={until} onValue={set("until")} /></>}
      </div>
      <button class="primary" disabled={!canBlast(to.query)}>{w.ask}</button>
    </form>
  );
}

/** Everything that bad data reached, and whom to notify. */
export function Tainted({ answer, owners, name, title, view, onView }: { answer: Blast; owners?: readonly DatasetOwners[]; name: string; title: string; view: Query["view"]; onView: (view: Query["view"]) => void }) {
  const { truncated } = answer;
  const { open, possible } = openOf(answer);
  const bad = useMemo(() => new Map(answer.tainted.map((one) => [one.dataset.key, one.parts.length > 0])), [answer]);
  const columns = useMemo(() => (owners ? [...TAINTED.slice(0, 2), ownersColumn<TaintedDataset>(owners, ({ dataset }) => [dataset]), ...TAINTED.slice(2)] : TAINTED), [owners]);
  const consumers = useMemo(() => consumerColumns(answer.consumers), [answer]);
  const checked = answer.quality.filter(({ checks }) => checks.length);
  return (
    <>
      <div class="rec-answer">
        <Sentence doubtful={open || possible > 0}>{blastSentence(answer)}</Sentence>
        <Copy text={() => ticket(answer, title, location.href)}>{w.ticket}</Copy>
      </div>
      <Notes notes={answer.notes} />
      <Section title={w.consumers}>
        <Table rows={answer.consumers} columns={consumers} of={({ key }) => key} label={w.consumers} noun={t.nouns.consumer} empty={open ? w.consumersTruncated : w.consumersNone}
          actions={answer.consumers.length > 0 && <Downloads name={`${name}-consumers`} rows={answer.consumers} columns={consumers} />} />
      </Section>
      <Section title={w.tainted}>
        <Table rows={answer.tainted} columns={columns} of={({ dataset }) => dataset.key} label={w.tainted} noun={t.nouns.dataset} beyond={truncated ? w.truncated : undefined}
          empty={open ? w.taintedUnknown : w.taintedNone} actions={answer.tainted.length > 0 && <Downloads name={name} rows={answer.tainted} columns={columns} answer={answer} />} />
      </Section>
      <Hops hops={answer.hops} start={answer.start} tainted={bad} view={view} onView={onView} name={`${name}-hops`} answer={answer} truncated={truncated} />
      {checked.length > 0 && (
        <Section title={w.checks}>
          {checked.map(({ dataset, checks }) => (
            <div class="rec-check">
              <AssetLink asset={dataset} />
              <Facts rows={[
                [w.passed, number(checks.reduce((sum, { passed }) => sum + passed, 0))],
                [w.failed, checks.some(({ failed }) => failed.length) && checks.flatMap(({ failed }) => failed.map(({ assertion, column }) => [assertion, column].filter(Boolean).join(" "))).join(", ")],
              ]} />
            </div>
          ))}
        </Section>
      )}
    </>
  );
}

export function BlastView({ place: { query } }: { place: Place<"blast"> }) {
  const asks = canBlast(query) ? blastQuery(query) : null;
  const asked = useAsked(asks && JSON.stringify(asks), () => get<Blast>("blast", asks ?? {}));
  const { view: _, ...origin } = query;
  return (
    <div class="view rec">
      <h1>{w.title}</h1>
      <p class="rec-intro">{w.intro}</p>
      <Question answered={asks !== null}><Form key={JSON.stringify(origin)} query={query} /></Question>
      {asks && <Answer asked={asked}>{(answer) => <Tainted answer={answer} name={`bad-${originText(query)}`} title={originText(query)} view={query.view} onView={(view) => tweak("blast", { view })} />}</Answer>}
    </div>
  );
}
