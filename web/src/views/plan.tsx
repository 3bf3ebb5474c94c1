// Repair plan of an incident: steps in order, with the facts, statements and commands that each needs.

import type { IncidentPlan, KafkaRange, Overwrite, Part, QueryReplay, RepairStep } from "../app/answers";
import { get } from "../app/api";
import { useAsked } from "../app/asked";
import { count, visible } from "../app/format";
import { tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, AssetLink, Copy, Facts, Section, Time, Tone } from "../parts/basics";
import { FoldedList } from "../parts/fold";
import { RunLink } from "../parts/runs";
import { Table } from "../parts/table";
import { consumerColumns } from "./blast";
import { CertaintyMark, Notes, PartCell } from "./hops";

const w = t.incidentView.plan;

/** As many steps of bad data as the command line follows. */
const LIMIT = 1_000;

/** How much is left, and in the same line what isn't known; nothing is said to be left only where all is known. */
export function planText({ steps, clean_again: clean, nothing_left: nothing, complete, unknown, spreading }: Pick<IncidentPlan, "steps" | "clean_again" | "nothing_left" | "complete" | "unknown" | "spreading">): string {
  return [
    nothing ? w.nothing : steps.length ? count(steps.length, ...t.nouns.step) : w.nothingKnown,
    clean > 0 && w.clean(clean),
    unknown.length > 0 && w.unknown(unknown),
    !complete && unknown.length === 0 && w.incomplete,
    spreading.length > 0 && w.mayWrite(spreading.length),
  ].filter(Boolean).join("; ");
}

/** Asked for once it is open: it takes as long as a blast radius. */
export function Plan({ id, open }: { id: string; open: boolean }) {
  const asked = useAsked<IncidentPlan>(open ? id : null, () => get<IncidentPlan>(`incidents/${id}/plan`, { limit: LIMIT }));
  const found = asked.value;
  const doubtful = found !== null && (!found.complete || found.unknown.length > 0 || found.spreading.length > 0);
  return (
    <Section title={<>{w.title}{found && <small class={doubtful ? "warn" : "muted"}> {planText(found)}</small>}</>}
      actions={<button aria-expanded={open} onClick={() => tweak("incident", { plan: !open })}>{open ? w.hide : w.show}</button>}>
      {open && <Answer asked={asked}>{(plan) => <Steps of={plan} />}</Answer>}
    </Section>
  );
}

function Steps({ of: { steps, spreading, not_known: notKnown, notes } }: { of: IncidentPlan }) {
  return (
    <>
      {steps.length > 0 && <ol class="steps">{steps.map((step) => <li key={step.number}><Step of={step} /></li>)}</ol>}
      <Lines title={w.spreading} of={spreading} />
      <Lines title={w.notKnown} of={notKnown} />
      <Notes notes={notes} />
    </>
  );
}

const Lines = ({ title, of }: { title: string; of: readonly string[] }) =>
  of.length === 0 ? null : <><h3>{title}</h3><ul class="lines">{of.map((line) => <li>{line}</li>)}</ul></>;

function Step({ of: step }: { of: RepairStep }) {
  const { kind, title, certainty, after, query } = step;
  return (
    <>
      <h3 class="row">
        <Tone severity="NONE">{kind.toLowerCase()}</Tone><span class="anywhere">{title}</span>
        {certainty !== "EXACT" && <CertaintyMark of={certainty} />}{after.length > 0 && <small class="muted">{w.after(after)}</small>}
      </h3>
      {step.consumers.length > 0 && <Table rows={step.consumers} columns={consumerColumns(step.consumers)} of={({ key }) => key} label={title} noun={t.nouns.consumer} plain />}
      <Facts rows={[
        [w.job, step.job && <AssetLink asset={step.job} />],
        [w.runs, step.runs.length > 0 && <FoldedList items={step.runs.map(({ run_id: id, code_version: code }) => <><RunLink id={id} />{code && <> {t.incidentView.code(code.slice(0, 12))}</>}</>)} />],
        [w.goodCode, step.good_code_version && <span class="mono">{step.good_code_version}</span>],
        [w.reads, parts(step.inputs)],
        [w.leaveOut, parts(step.skip)],
        [w.bad, parts(step.outputs)],
        [w.writeAgain, step.overwrite.length > 0 && <FoldedList items={step.overwrite.map((each) => <Again of={each} />)} />],
        ...(query ? replayed(query) : []),
      ]} />
      {step.notes.length > 0 && <ul class="lines">{step.notes.map((note) => <li>{note}</li>)}</ul>}
      {pasted([...step.sql, ...step.commands, ...step.file_commands])}
    </>
  );
}

const parts = (of: readonly Part[]) => of.length > 0 && <FoldedList items={of.map((part) => <PartCell part={part} />)} />;

const Again = ({ of: { dataset, partitions, why } }: { of: Overwrite }) => (
  <><AssetLink asset={dataset} /> {partitions.length === 0 ? w.allOfIt : <FoldedList items={partitions.map((partition) => <code>{partition}</code>)} />} {why}</>
);

function replayed({ checkpoint, batches, earlier }: QueryReplay): Parameters<typeof Facts>[0]["rows"] {
  return [
    [w.checkpoint, checkpoint ? <span class="mono">{checkpoint}</span> : w.checkpointUnknown],
    [w.batches, batches.length > 0 && (
      <FoldedList items={batches.map(({ first_batch: first, last_batch: last, inputs, kafka }) => (
        <><b>{t.traces.batches(first, last)}</b>{inputs.map((part) => <PartCell part={part} />)}{kafka.map((range) => <Options of={range} />)}</>
      ))} />
    )],
    [w.earlier, earlier && <>{earlier.why}{earlier.event_time && <> {w.eventTime} <Time at={earlier.event_time} /></>}{earlier.kafka.map((range) => <Options of={range} />)}</>],
  ];
}

/** Options of Spark's Kafka source, by their names. */
const Options = ({ of: { assign, starting_offsets: starting, ending_offsets: ending } }: { of: KafkaRange }) => (
  <dl class="facts nested">
    {[["assign", assign], ["startingOffsets", starting], ["endingOffsets", ending]].map(([name, value]) => <><dt><code>{name}</code></dt><dd class="mono">{value}</dd></>)}
  </dl>
);

/** Texts to paste into a shell or a session. What is copied is what is shown: a terminal would act on a control character. */
const pasted = (texts: readonly string[]) =>
  texts.length > 0 && <FoldedList items={texts.map((text) => <p class="steps-command"><code>{text}</code><Copy text={visible(text)}>{t.copy}</Copy></p>)} />;
