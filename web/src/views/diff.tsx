// Diff: how lineage and schemas differ between two times, two runs, or two code versions of a job.

import "./records.css";

import { useEffect, useState } from "preact/hooks";

import { place, type Place } from "../app/address";
import type { Asset, ColumnChange, DatasetChange, Diff, DiffChange, EdgeChange, FieldType, Side, Transformation } from "../app/answers";
import { get } from "../app/api";
import { presets } from "../app/as-of";
import { useAsked } from "../app/asked";
import { number, spelling, time, utc } from "../app/format";
import { go } from "../app/navigation";
import { report } from "../app/state";
import { t } from "../app/texts";
import { Answer, AssetLink, Section, Time } from "../parts/basics";
import { Table, type Column } from "../parts/table";
import { Choice, Downloads, Field, Question, Sentence, TimeField } from "./hops";

const r = t.traces;
const w = r.diff;
type Query = Place<"diff">["query"];
type Subject = keyof typeof w.subjects;
type By = keyof typeof w.bys;

const FIRST = 500;
const MORE = 1_000;

const subjectOf = ({ job, dataset }: Query): Subject => (dataset ? "dataset" : job ? "job" : "all");
const byOf = (query: Query): By => (query.before_run || query.after_run ? "run" : query.before_version || query.after_version ? "version" : "time");

export const canDiff = ({ before, before_run: run, after_run: other, before_version: version, after_version: later, job }: Query): boolean =>
  Boolean(before || (run && other) || (version && later && job));

/** What the API is asked; parameters have the names of the address. */
export const diffQuery = ({ job, dataset, before, after, ...sides }: Query): Record<string, string> => ({ job, dataset, before, after, ...sides });

const sideText = ({ time: at, run_id: run, code_version: version }: Side): string => w.side(at && `${time(at)} (${utc(at)})`, run, version);

/** The answer in a sentence; nothing is said to be the same where something is unknown. */
export function diffSentence(answer: Pick<Diff, "before" | "after" | "datasets_total" | "columns_total" | "edges_total" | "truncated" | "unknown_schemas" | "jobs">): string {
  const { before, after, truncated, unknown_schemas: unknown } = answer;
  const doubt = [before.incomplete && w.incompleteBefore, after.incomplete && w.incompleteAfter, unknown.length && w.unknownSchemas(unknown.length), truncated && w.truncated].filter(Boolean);
  const many = answer.datasets_total + answer.columns_total + answer.edges_total;
  const main = many ? w.counts(answer.datasets_total, answer.columns_total, answer.edges_total) : doubt.length ? w.sameUnknown : w.same;
  return `${w.between(sideText(before), sideText(after))}: ${[main, ...doubt].join("; ")}. ${w.jobs(answer.jobs.length)}.`;
}

const ChangeMark = ({ change }: { change: DiffChange }) => <span class={`rec-change ${change.toLowerCase()}`}>{{ ADDED: "+", REMOVED: "−", CHANGED: "~" }[change]} {w.changes[change]}</span>;
const changeColumn = <Row extends { change: DiffChange }>(): Column<Row> => ({ name: "change", title: w.change, width: "104px", cell: ({ change }) => <ChangeMark change={change} />, value: ({ change }) => w.changes[change] });
const whole = (asset: Asset | null): string => (asset ? spelling(asset) + (asset.column ? ` · ${asset.column}` : "") : w.noInput);
const fieldText = (field: FieldType | null): string => (field ? w.nullable(field.type ?? "–", field.nullable) : "");

/** How a value comes about, in words: `aggregate sum(amount)`. */
export const transformationText = ({ kind, type, subtype, masking, expression }: Transformation): string =>
  [(kind === "UNKNOWN" ? type : kind).toLowerCase().replaceAll("_", " "), subtype && subtype.toLowerCase() !== kind.toLowerCase() ? subtype.toLowerCase() : "", masking ? w.masked : "", expression ?? ""].filter(Boolean).join(" ");
const transformations = (all: readonly Transformation[]): string => all.map(transformationText).join("; ");

const DATASETS: Column<DatasetChange>[] = [
  changeColumn(),
  { name: "dataset", title: r.datasetName, cell: ({ dataset }) => <AssetLink asset={dataset} under />, value: ({ dataset }) => spelling(dataset) },
  { name: "role", title: w.role, cell: ({ role }) => w.roles[role], value: ({ role }) => w.roles[role] },
  { name: "job", title: r.job, cell: ({ job }) => <AssetLink asset={job} />, value: ({ job }) => spelling(job) },
];

const COLUMNS: Column<ColumnChange>[] = [
  changeColumn(),
  { name: "column", title: w.column, cell: ({ column }) => <AssetLink asset={column} under />, value: ({ column }) => whole(column) },
  { name: "before", title: w.before, cell: ({ before }) => <code>{fieldText(before)}</code>, value: ({ before }) => fieldText(before) },
  { name: "after", title: w.after, cell: ({ after }) => <code>{fieldText(after)}</code>, value: ({ after }) => fieldText(after) },
  { name: "when", title: w.when, wide: true, cell: ({ time: at }) => <Time at={at} />, value: ({ time: at }) => at },
];

const EDGES: Column<EdgeChange>[] = [
  changeColumn(),
  { name: "target", title: w.target, cell: ({ target }) => <AssetLink asset={target} under />, value: ({ target }) => whole(target) },
  { name: "source", title: w.source, cell: ({ source }) => (source ? <AssetLink asset={source} under /> : w.noInput), value: ({ source }) => whole(source) },
  { name: "job", title: r.job, wide: true, cell: ({ job }) => <AssetLink asset={job} />, value: ({ job }) => spelling(job) },
  { name: "before", title: w.before, cell: ({ before }) => <code class="rec-expression">{transformations(before)}</code>, value: ({ before }) => transformations(before) },
  { name: "after", title: w.after, cell: ({ after }) => <code class="rec-expression">{transformations(after)}</code>, value: ({ after }) => transformations(after) },
];

function Form({ query }: { query: Query }) {
  const [draft, setDraft] = useState(query);
  const [subject, setSubject] = useState<Subject>(subjectOf(query));
  const [by, setBy] = useState<By>(byOf(query));
  const set = (name: keyof Query) => (value: string): void => setDraft((now) => ({ ...now, [name]: value }));
  const { job, dataset, before, after, before_run, after_run, before_version, after_version } = draft;
  const of = (more: Partial<Query>): Place<"diff"> => place("diff", {}, { query: { ...{ all: {}, dataset: { dataset }, job: { job } }[subject], ...more } });
  const to = of({ time: { before, after }, run: { before_run, after_run }, version: { before_version, after_version } }[by]);
  const since = presets();
  return (
    <form class="rec-form" onSubmit={(event) => {
      event.preventDefault();
      if (canDiff(to.query)) go(to);
    }}>
      <Choice label={w.of} options={w.subjects} value={subject} onValue={setSubject} />
      <Choice label={w.by} options={w.bys} value={by} onValue={setBy} />
      <div class="rec-fields">
        {subject === "dataset" && <Field wide label={r.datasetField} help={r.topicHelp} value={dataset} onValue={set("dataset")} />}
        {subject === "job" && <Field wide label={r.job} help={r.topicHelp} value={job} onValue={set("job")} />}
        {by === "time" && <><TimeField label={w.before} value={before} onValue={set("before")} /><TimeField label={w.afterTime} value={after} onValue={set("after")} /></>}
        {by === "run" && <><Field wide label={w.beforeRun} value={before_run} onValue={set("before_run")} /><Field wide label={w.afterRun} value={after_run} onValue={set("after_run")} /></>}
        {by === "version" && <><Field wide label={w.beforeVersion} value={before_version} onValue={set("before_version")} /><Field wide label={w.afterVersion} value={after_version} onValue={set("after_version")} /></>}
      </div>
      {by === "version" && subject !== "job" && <p class="rec-note">{w.versionNeedsJob}</p>}
      <div class="rec-buttons">
        <button class="primary" disabled={!canDiff(to.query)}>{w.ask}</button>
        {by === "time" && (["yesterday", "monday"] as const).map((name) => <button type="button" title={time(since[name])} onClick={() => go(of({ before: since[name] }))}>{w.presets[name]}</button>)}
      </div>
    </form>
  );
}

/** Pages of edges: the first is of the answer. */
function useEdges(answer: Diff, asks: Record<string, string>): { edges: EdgeChange[]; next: string | null; more: () => void; waiting: boolean } {
  const [pages, setPages] = useState<{ of: Diff; edges: EdgeChange[]; next: string | null }>({ of: answer, edges: answer.edges, next: answer.next_cursor });
  const [waiting, setWaiting] = useState(false);
  useEffect(() => {
    setPages({ of: answer, edges: answer.edges, next: answer.next_cursor });
    setWaiting(false);
  }, [answer]);
  const more = (): void => {
    if (!pages.next) return;
    setWaiting(true);
    get<Diff>("diff", { ...asks, limit: MORE, cursor: pages.next }).then(
      (page) => setPages((now) => (now.of === answer ? { of: answer, edges: [...now.edges, ...page.edges], next: page.next_cursor } : now)),
      report,
    ).finally(() => setWaiting(false));
  };
  return { edges: pages.edges, next: pages.next, more, waiting };
}

function Found({ answer, asks }: { answer: Diff; asks: Record<string, string> }) {
  const { datasets, columns, unknown_schemas: unknown, truncated } = answer;
  const { edges, next, more, waiting } = useEdges(answer, asks);
  const open = truncated || answer.before.incomplete || answer.after.incomplete;
  const beyond = (shown: number, total: number) => (total > shown ? t.more(total - shown) : open ? w.truncated : undefined);
  return (
    <>
      <Sentence doubtful={open || unknown.length > 0}>{diffSentence(answer)}</Sentence>
      <Section title={<>{w.datasets} <small>{number(answer.datasets_total)}</small></>}>
        <Table rows={datasets} columns={DATASETS} of={({ change, job, role, dataset }) => `${change} ${job.key} ${role} ${dataset.key}`} label={w.datasets} noun={t.nouns.dataset} beyond={beyond(datasets.length, answer.datasets_total)}
          empty={open ? w.noneListed : w.noDatasets} actions={datasets.length > 0 && <Downloads name="changed-datasets" rows={datasets} columns={DATASETS} answer={answer} />} />
      </Section>
      <Section title={<>{w.columns} <small>{number(answer.columns_total)}</small></>}>
        <Table rows={columns} columns={COLUMNS} of={({ change, column, roles }) => `${change} ${column.key} ${roles.join()}`} label={w.columns} noun={t.nouns.column} beyond={beyond(columns.length, answer.columns_total)}
          empty={open || unknown.length ? w.noneListed : w.noColumns} actions={columns.length > 0 && <Downloads name="changed-columns" rows={columns} columns={COLUMNS} />} />
      </Section>
      <Section title={<>{w.edges} <small>{number(answer.edges_total)}</small></>}>
        <Table rows={edges} columns={EDGES} of={({ change, job, source, target }) => `${change} ${job.key} ${source?.key} ${target.key}`} label={w.edges} noun={t.nouns.edge} beyond={beyond(edges.length, answer.edges_total)}
          empty={open ? w.noneListed : w.noEdges}
          actions={<>
            {next && <button disabled={waiting} onClick={more}>{r.loadMore(Math.min(MORE, answer.edges_total - edges.length))}</button>}
            {edges.length > 0 && <Downloads name="changed-edges" rows={edges} columns={EDGES} />}
          </>} />
      </Section>
      {unknown.length > 0 && (
        <Section title={<>{w.unknown} <small>{number(unknown.length)}</small></>}>
          <p class="rec-note">{w.unknownHelp}</p>
          <ul class="rec-list">{unknown.map((asset) => <li><AssetLink asset={asset} under /></li>)}</ul>
        </Section>
      )}
    </>
  );
}

export function DiffView({ place: { query } }: { place: Place<"diff"> }) {
  const asks = canDiff(query) ? diffQuery(query) : null;
  const asked = useAsked(asks && JSON.stringify(asks), () => get<Diff>("diff", { ...asks, limit: FIRST }));
  return (
    <div class="view rec">
      <h1>{w.title}</h1>
      <p class="rec-intro">{w.intro}</p>
      <Question answered={asks !== null}><Form key={JSON.stringify(query)} query={query} /></Question>
      {asks && <Answer asked={asked}>{(answer) => <Found answer={answer} asks={asks} />}</Answer>}
    </div>
  );
}
