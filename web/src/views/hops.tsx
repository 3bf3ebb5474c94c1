// What the views of records share: fields of their forms, parts of datasets, and hops as a picture and a table.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";

import { place, type Place } from "../app/address";
import type { Asset, Certainty, Hop, Part, Step } from "../app/answers";
import { spelled } from "../app/api";
import { field, instant } from "../app/as-of";
import { offsets, parted, spelling, utc } from "../app/format";
import { useKey } from "../app/keys";
import { go, placeOf } from "../app/navigation";
import { narrow } from "../app/state";
import { t } from "../app/texts";
import { AssetLink, Link, Time } from "../parts/basics";
import { fileName, save } from "../parts/download";
import { csv, Table, type Column } from "../parts/table";
import { arrow, box, type Box, type Picture } from "../stage/picture";
import { exportPicture, Stage } from "../stage/lazy";
import type { Chosen } from "../stage/stage";

const r = t.traces;
const MOST_BOXES = 60;
const MOST_FILES = 3;
const MOST_LABELS = 2;

/** A field of a form with its label. */
export function Field({ label, value, onValue, help, mode = "text", wide = false }: {
  label: string; value: string; onValue: (value: string) => void; help?: string; mode?: "text" | "numeric"; wide?: boolean;
}) {
  return (
    <label class={`rec-field ${wide ? "rec-wide" : ""}`}>
      {label}
      <input type="text" value={value} placeholder={help} inputMode={mode} autocomplete="off" spellcheck={false} onInput={(event) => onValue(event.currentTarget.value)} />
    </label>
  );
}

/** A time in the viewer's zone, kept as the API has it. */
export function TimeField({ label, value, onValue }: { label: string; value: string; onValue: (iso: string) => void }) {
  return (
    <label class="rec-field">
      {label}
      <input type="datetime-local" step="1" value={value ? seconds(value) : ""} onChange={(event) => onValue(instant(event.currentTarget.value))} />
      <small>{value ? r.utc(utc(value)) : r.utc("–")}</small>
    </label>
  );
}

const seconds = (iso: string): string => `${field(iso)}:${String(new Date(iso).getSeconds()).padStart(2, "0")}`;

/** One of several, as a row of buttons. */
export function Choice<T extends string>({ label, options, value, onValue }: { label: string; options: Record<T, string>; value: T; onValue: (value: T) => void }) {
  return (
    <fieldset class="rec-choice">
      <legend>{label}</legend>
      {(Object.keys(options) as T[]).map((each) => (
        <label class={each === value ? "chosen" : ""}><input type="radio" name={label} checked={each === value} onChange={() => onValue(each)} />{options[each]}</label>
      ))}
    </fieldset>
  );
}

/** Text of a part of a dataset: its offsets, files or versions. */
export function partText(part: Part): string {
  const extra = part.partitions.length ? ` (${part.partitions.slice(0, MOST_FILES).join(", ")}${part.partitions.length > MOST_FILES ? " …" : ""})` : "";
  switch (part.kind) {
    case "OFFSETS": return offsets(part.offsets) + extra;
    case "FILES": return (part.file_count ?? part.files.length ? r.fileCount(part.file_count ?? part.files.length) : part.text || r.unknownPart) + extra;
    case "SNAPSHOT": return (part.version ? r.versionOf(part.format, part.version) : part.text || r.unknownPart) + extra;
    case "CHANGES": return (part.version ? (part.from_version ? r.versionsOf(part.format, part.from_version, part.version) : r.versionOf(part.format, part.version)) : part.text || r.unknownPart) + extra;
    case "OTHER": return (part.text || r.unknownPart) + extra;
    case "UNKNOWN": return part.text ? `${r.unknownPart}: ${part.text}` : r.unknownPart;
  }
}

/** Text of a part with its dataset and files, for files and tickets. */
export const partLine = (part: Part): string => `${spelling(part.dataset)} ${partText(part)}${part.files.length ? `: ${part.files.join(" ")}` : ""}${part.possible ? ` (${r.possible})` : ""}`;

export const CertaintyMark = ({ of, possible = false }: { of: Certainty; possible?: boolean }) => (
  <span class={`rec-certainty ${of === "EXACT" && !possible ? "exact" : of === "UNKNOWN" ? "unknown" : "loose"}`}>{possible && of !== "UNKNOWN" ? r.possible : r.certainties[of]}</span>
);

/** A part of a dataset, with its files one by one. */
export function PartCell({ part, named = true }: { part: Part; named?: boolean }) {
  const { files } = part;
  const beyond = Math.max(0, (part.file_count ?? files.length) - files.length);
  return (
    <div class="rec-part">
      {named && <AssetLink asset={part.dataset} />} <code>{partText(part)}</code>
      {(part.certainty !== "EXACT" || part.possible) && <> <CertaintyMark of={part.certainty} possible={part.possible} /></>}
      {files.length > 0 && (
        <ul class="rec-files">
          {files.slice(0, MOST_FILES).map((file) => <File file={file} />)}
          {files.length > MOST_FILES && <li><details><summary>{r.moreFiles(files.length - MOST_FILES)}</summary><ul>{files.slice(MOST_FILES).map((file) => <File file={file} />)}</ul></details></li>}
          {beyond > 0 && <li>{r.unlisted(beyond)}</li>}
        </ul>
      )}
    </div>
  );
}

const File = ({ file }: { file: string }) => <li><Link to={place("trace", {}, { query: { path: file, direction: "BACKWARD" } })} title={file}>{file}</Link></li>;

/** Batches or run of a step, as text. */
export function stepText(step: Step): string {
  if (step.first_batch !== null && step.last_batch !== null) return `${step.query_name ? `${step.query_name} ` : ""}${r.batches(step.first_batch, step.last_batch)}`;
  return step.runs[0] ? r.run(step.runs[0].run_id) : r.step[step.kind];
}

/** The same, short enough for an arrow: `enrich 1–3`. */
export function arrowText({ job, query_name: query, first_batch: first, last_batch: last }: Step): string {
  const name = query ?? (job ? (parted(job).last.split(".").pop() ?? job.name) : r.unknownJob);
  return first === null || last === null ? name : `${name} ${first === last ? first : `${first}–${last}`}`;
}

/** Batches or run of a step, linked to its run. */
export function StepLink({ step }: { step: Step }) {
  const run = step.runs[0];
  return run ? <Link to={place("run", { id: run.run_id })} title={run.run_id}>{stepText(step)}</Link> : <>{stepText(step)}</>;
}

/** All that came of a step, if it was bad. */
export function blastOf(step: Step): Place | null {
  if (step.query_id && step.first_batch !== null) {
    return place("blast", {}, { query: { query: step.query_id, first: String(step.first_batch), last: String(step.last_batch ?? step.first_batch) } });
  }
  const run = step.runs[0];
  return run ? place("blast", {}, { query: { run: run.run_id } }) : null;
}

/** Trace of a part of a topic, a version or a file; null where the part can't be asked for. */
export function traceOf(part: Part, direction: "FORWARD" | "BACKWARD"): Place | null {
  const range = part.offsets[0];
  if (range) return place("trace", {}, { query: { direction, topic: spelled(part.dataset), partition: String(range.partition), offset: String(range.start), end: String(range.end) } });
  if (part.version) return place("trace", {}, { query: { direction, dataset: spelled(part.dataset), version: part.version } });
  return part.files[0] ? place("trace", {}, { query: { direction, path: part.files[0] } }) : null;
}

/** Datasets of which a part is unknown, and hops that aren't certain. */
export function doubts(hops: readonly Hop[], parts: readonly Part[] = []): { unknown: number; possible: number } {
  const all = [...hops.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]), ...parts];
  return {
    unknown: new Set(all.filter(({ kind, certainty }) => kind === "UNKNOWN" || certainty === "UNKNOWN").map(({ dataset }) => dataset.key)).size,
    possible: hops.filter(isLoose).length,
  };
}

const isLoose = ({ certainty, outputs, inputs }: Hop): boolean => certainty !== "EXACT" || [...inputs, ...outputs].some(({ possible }) => possible);

/** Hops as boxes of datasets and arrows of steps; what isn't drawn is counted. */
export function pictureOf(hops: readonly Hop[], start: readonly Part[], tainted: ReadonlyMap<string, boolean> = new Map()): { picture: Picture; beyond: number; undrawn: number } {
  const boxes = new Map<string, Box>();
  const beyond = new Set<string>();
  const starts = new Set(start.map(({ dataset }) => dataset.key));
  const add = (asset: Asset): boolean => {
    if (boxes.has(asset.key)) return true;
    if (boxes.size >= MOST_BOXES) {
      beyond.add(asset.key);
      return false;
    }
    const { last, before } = parted(asset);
    boxes.set(asset.key, box({
      key: asset.key, asset, title: last, under: [asset.namespace, before].filter(Boolean).join(" · "), whole: spelling(asset),
      start: starts.has(asset.key), severity: tainted.get(asset.key) ? "TAINTED" : null,
    }));
    return true;
  };
  for (const { dataset } of start) add(dataset);
  const lines = new Map<string, { source: string; target: string; labels: string[]; loose: boolean }>();
  let undrawn = 0;
  for (const hop of hops) {
    if (hop.inputs.length === 0 || hop.outputs.length === 0) undrawn += 1;
    for (const { dataset } of [...hop.inputs, ...hop.outputs]) add(dataset);
    for (const input of hop.inputs) {
      for (const output of hop.outputs) {
        if (!boxes.has(input.dataset.key) || !boxes.has(output.dataset.key)) continue;
        const key = `${input.dataset.key}>${output.dataset.key}`;
        const line = lines.get(key) ?? { source: input.dataset.key, target: output.dataset.key, labels: [], loose: false };
        const label = arrowText(hop.step);
        if (!line.labels.includes(label)) line.labels.push(label);
        line.loose ||= hop.certainty !== "EXACT" || input.possible || output.possible;
        lines.set(key, line);
      }
    }
  }
  const arrows = [...lines.values()].map(({ source, target, labels, loose }) => arrow({
    source, target, line: loose ? "possible" : "observed",
    label: labels.slice(0, MOST_LABELS).join(", ") + (labels.length > MOST_LABELS ? ` +${labels.length - MOST_LABELS}` : ""),
  }));
  return { picture: { boxes: [...boxes.values()], arrows }, beyond: beyond.size, undrawn };
}

const linesOf = (parts: readonly Part[]): string => parts.map(partLine).join("; ");

export const HOP_COLUMNS: Column<Hop>[] = [
  { name: "number", title: r.number, number: true, width: "56px", cell: ({ number }) => number, value: ({ number }) => number },
  {
    name: "job", title: r.job, cell: ({ step }) => (step.job ? <AssetLink asset={step.job} /> : r.unknownJob),
    value: ({ step }) => (step.job ? spelling(step.job) : ""),
  },
  {
    name: "via", title: r.via, value: ({ step }) => stepText(step),
    cell: ({ step }) => {
      const bad = blastOf(step);
      return (
        <>
          <StepLink step={step} />
          {step.keeps_state && step.spread_first_batch !== null && step.spread_last_batch !== null && <div class="rec-note">{r.spread(step.spread_first_batch, step.spread_last_batch)}</div>}
          {step.started_at && <div class="rec-note"><Time at={step.started_at} /></div>}
          {bad && <div><Link to={bad}>{r.bad}</Link></div>}
        </>
      );
    },
  },
  { name: "inputs", title: r.inputs, cell: ({ inputs }) => inputs.map((part) => <PartCell part={part} />), value: ({ inputs }) => linesOf(inputs) },
  { name: "outputs", title: r.outputs, cell: ({ outputs }) => outputs.map((part) => <PartCell part={part} />), value: ({ outputs }) => linesOf(outputs) },
  { name: "certainty", title: r.certainty, cell: ({ overall }) => <CertaintyMark of={overall} />, value: ({ overall }) => r.certainties[overall] },
  { name: "why", title: r.why, wide: true, cell: ({ why }) => <span class="rec-why">{why}</span>, value: ({ why }) => why },
];

/** Files of an answer: rows of its table, and all of it. */
export function Downloads<Row>({ name, rows, columns, answer }: { name: string; rows: readonly Row[]; columns: readonly Column<Row>[]; answer?: unknown }) {
  return (
    <>
      <button onClick={() => save(fileName(name, "csv"), csv(rows, columns), "text/csv;charset=utf-8")}>{r.csv}</button>
      {answer !== undefined && <button onClick={() => save(fileName(name, "json"), JSON.stringify(answer, null, 2), "application/json")}>{r.json}</button>}
    </>
  );
}

/** Hops as a picture or a table; the address keeps which. */
export function Hops({ hops, start, tainted, view, onView, name, answer, truncated }: {
  hops: readonly Hop[]; start: readonly Part[]; tainted?: ReadonlyMap<string, boolean>; view: "" | "graph" | "table"; onView: (view: "graph" | "table") => void;
  name: string; answer: unknown; truncated: boolean;
}) {
  const shown = view || (narrow.value ? "table" : "graph");
  const drawn = useMemo(() => pictureOf(hops, start, tainted), [hops, start, tainted]);
  const { boxes, arrows } = drawn.picture;
  const datasets = new Map(boxes.map((each) => [each.key, each.asset]));
  const [chosen, choose] = useState<Chosen>(null);
  const drawable = hops.length > 0;
  useKey("v", drawable ? () => onView(shown === "graph" ? "table" : "graph") : null);
  return (
    <section class="rec-hops">
      <div class="part-head rec-head">
        <h2>{r.hops}</h2>
        <span class="rec-switch" role="group" aria-label={r.view}>
          {(["graph", "table"] as const).map((each) => <button aria-pressed={shown === each} title={each === "table" ? t.tableKey : undefined} onClick={() => onView(each)}>{r[each]}</button>)}
        </span>
        {shown === "graph" && drawable && (["png", "svg", "mermaid"] as const).map((kind) => <button title={t.exportAs[kind]} onClick={() => exportPicture(kind, name)}>{r.pictures[kind]}</button>)}
        <Downloads name={name} rows={hops} columns={HOP_COLUMNS} answer={answer} />
      </div>
      {shown === "table" || !drawable
        ? <Table rows={hops} columns={HOP_COLUMNS} of={({ number }) => String(number)} label={r.hops} noun={r.hop} empty={truncated ? t.traces.diff.noneListed : r.noHops} beyond={truncated ? t.traces.trace.truncated : undefined} />
        : (
          <>
            <div class="rec-stage">
              <Stage picture={drawn.picture} label={r.pictureOf(boxes.length, arrows.length)} name={name} chosen={chosen} onChoose={choose} onTable={() => onView("table")} onOpen={(key) => {
                const asset = datasets.get(key);
                if (asset) go(placeOf(asset));
              }} />
            </div>
            <p class="rec-note">
              {[drawn.beyond && r.beyond(drawn.beyond), drawn.undrawn && r.undrawn(drawn.undrawn), arrows.some(({ line }) => line === "possible") && r.certain].filter(Boolean).join(" ")}
            </p>
          </>
        )}
    </section>
  );
}

/** The form of a question: folded away once there is an answer. */
export const Question = ({ answered, children }: { answered: boolean; children: ComponentChildren }) =>
  answered ? <details class="rec-question"><summary>{r.question}</summary>{children}</details> : <>{children}</>;

/** A sentence that answers, with all that makes it uncertain in the same line. */
export const Sentence = ({ children, doubtful }: { children: ComponentChildren; doubtful: boolean }) => <p class={`rec-sentence ${doubtful ? "doubtful" : ""}`}>{children}</p>;

export const Notes = ({ notes }: { notes: readonly string[] }) => (notes.length ? <ul class="rec-notes" aria-label={t.traces.trace.notes}>{notes.map((note) => <li>{note}</li>)}</ul> : null);
