// Trace: where records, a version of a table or a file went, or where they are from.

import "./records.css";

import { useState } from "preact/hooks";

import { place, type Place } from "../app/address";
import type { Trace } from "../app/answers";
import { get } from "../app/api";
import { useAsked } from "../app/asked";
import { number, parted } from "../app/format";
import { go, tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, Link, Section } from "../parts/basics";
import { Choice, doubts, Field, Hops, Notes, PartCell, partText, Question, Sentence, TimeField } from "./hops";

const r = t.traces;
const w = r.trace;
type Query = Place<"trace">["query"];
type Kind = keyof typeof w.kinds;

const LIMIT = 1_000;

const kindOf = (query: Query): Kind => (query.path ? "file" : query.dataset || query.version ? "version" : query.time || query.until ? "time" : "offsets");

/** Whether an address says enough to be asked. */
export const canTrace = ({ path, dataset, topic, partition, offset, time }: Query): boolean => Boolean(path || dataset || (topic && ((partition && offset) || time)));

/** What the API is asked: only what belongs to the kind of start. */
export function traceQuery(query: Query): Record<string, string | number> {
  const { direction, path, dataset, version, topic, partition, offset, end, time, until } = query;
  const start: Record<string, string> = path ? { path } : dataset ? { dataset, version } : time ? { topic, time, until } : { topic, partition, offset, end };
  return { direction, limit: LIMIT, depth: "all", ...start };
}

/** The answer in a sentence; nothing is said to have come of it only where nothing is unknown. */
export function traceSentence({ start, hops, total, max_hops: farthest, truncated, direction, ends }: Trace): string {
  const { unknown, possible } = doubts(hops, ends);
  const of = start.map((part) => `${parted(part.dataset).last} ${partText(part)}`).join("; ");
  const main = total > 0 ? w.hops(total, farthest, direction) : unknown || truncated ? w.noHopUnknown : w.noHop(direction);
  const doubt = [possible && w.possible(possible), unknown && w.unknown(unknown), truncated && w.truncated].filter(Boolean);
  return `${w.asked(of, direction)} ${main}${doubt.length ? ` (${doubt.join("; ")})` : ""}.`;
}

function Form({ query }: { query: Query }) {
  const [draft, setDraft] = useState(query);
  const [kind, setKind] = useState<Kind>(kindOf(query));
  const set = (name: keyof Query) => (value: string): void => setDraft((now) => ({ ...now, [name]: value }));
  const { direction, view } = draft;
  const { topic, partition, offset, end, dataset, version, path, time, until } = draft;
  const asked: Partial<Query> = {
    direction, view,
    ...{ offsets: { topic, partition, offset, end }, time: { topic, time, until }, version: { dataset, version }, file: { path } }[kind],
  };
  const to = place("trace", {}, { query: asked });
  return (
    <form class="rec-form" onSubmit={(event) => {
      event.preventDefault();
      if (canTrace(to.query)) go(to);
    }}>
      <Choice label={w.from} options={w.kinds} value={kind} onValue={setKind} />
      <Choice label={w.direction} options={w.directions} value={direction} onValue={(value) => setDraft((now) => ({ ...now, direction: value }))} />
      <div class="rec-fields">
        {(kind === "offsets" || kind === "time") && <Field wide label={r.topic} help={r.topicHelp} value={topic} onValue={set("topic")} />}
        {kind === "offsets" && <><Field label={r.partition} mode="numeric" value={partition} onValue={set("partition")} /><Field label={r.offset} mode="numeric" value={offset} onValue={set("offset")} /><Field label={r.end} mode="numeric" value={end} onValue={set("end")} /></>}
        {kind === "time" && <><TimeField label={r.time} value={time} onValue={set("time")} /><TimeField label={r.until} value={until} onValue={set("until")} /></>}
        {kind === "version" && <><Field wide label={r.dataset} help={r.topicHelp} value={dataset} onValue={set("dataset")} /><Field label={r.version} value={version} onValue={set("version")} /></>}
        {kind === "file" && <Field wide label={r.path} value={path} onValue={set("path")} />}
      </div>
      <button class="primary" disabled={!canTrace(to.query)}>{w.ask}</button>
    </form>
  );
}

function Found({ answer, query }: { answer: Trace; query: Query }) {
  const { unknown, possible } = doubts(answer.hops, answer.ends);
  const { topic, partition, offset, end, time, until } = query;
  return (
    <>
      <Sentence doubtful={unknown + possible > 0 || answer.truncated}>{traceSentence(answer)}</Sentence>
      {topic && <p><Link to={place("blast", {}, { query: { topic, partition, offset, end, time, until } })}>{w.blast}</Link></p>}
      <Notes notes={answer.notes} />
      <Hops hops={answer.hops} start={answer.start} view={query.view} onView={(view) => tweak("trace", { view })} name={`trace-${query.topic || query.dataset || query.path}`} answer={answer} truncated={answer.truncated} />
      {answer.ends.length > 0 && (
        <Section title={<>{w.ends} <small>{number(answer.ends.length)}</small></>}>
          <p class="rec-note">{w.endsHelp[answer.direction]}</p>
          <ul class="rec-list">{answer.ends.map((part) => <li><PartCell part={part} /></li>)}</ul>
        </Section>
      )}
    </>
  );
}

export function TraceView({ place: { query } }: { place: Place<"trace"> }) {
  const asks = canTrace(query) ? traceQuery(query) : null;
  const asked = useAsked(asks && JSON.stringify(asks), () => get<Trace>("traces", asks ?? {}));
  const { view: _, ...start } = query;
  return (
    <div class="view rec">
      <h1>{w.title}</h1>
      <p class="rec-intro">{w.intro}</p>
      <Question answered={asks !== null}><Form key={JSON.stringify(start)} query={query} /></Question>
      {asks && <Answer asked={asked}>{(answer) => <Found answer={answer} query={query} />}</Answer>}
    </div>
  );
}
