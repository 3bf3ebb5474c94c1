// One incident: what is wrong, what it reached now, what may still come, how to repair it, and what was done.

import "./records.css";

import { useMemo } from "preact/hooks";

import { place, type Place } from "../app/address";
import type { ActionTaken, Incident, IncidentReach, Part, ReachChange, ResolvedPart } from "../app/answers";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { count } from "../app/format";
import { tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, Facts, Link, Section, Time, Tone } from "../parts/basics";
import { Folded } from "../parts/fold";
import { Table, type Column } from "../parts/table";
import { Tainted } from "./blast";
import { Columns, Jobs, ownersColumn, Since, Versions } from "./fault";
import { CertaintyMark, PartCell, StepLink } from "./hops";
import { reachedText, Severity } from "./incidents";
import { Plan } from "./plan";

const w = t.incidentView;

export function IncidentView({ place: at }: { place: Place<"incident"> }) {
  const id = part(at.path.id);
  // What is stated is there at once; what it reached takes as long as a blast radius.
  const stated = useAsked<Incident>(`stated ${id}`, () => get<Incident>(`incidents/${id}`, { reach: "false" }));
  const asked = useAsked<Incident>(id, () => get<Incident>(`incidents/${id}`));
  return (
    <div class="view rec">
      <Answer asked={stated}>{(found) => <Stated of={found} />}</Answer>
      {stated.value && <Plan id={id} open={at.query.plan} />}
      <Answer asked={asked}>{({ reach, recorded, brief }) => reach && <Reached of={reach} at={at} changed={recorded?.changes ?? null} name={brief.incident} />}</Answer>
      {stated.value && <History of={stated.value} />}
    </div>
  );
}

function Stated({ of: { brief, description, repaired } }: { of: Incident }) {
  return (
    <>
      <h1>{brief.title ?? brief.incident}</h1>
      <p class="row"><Severity of={brief.severity} /> <b>{brief.status ?? w.notOpened}</b> <span class="muted">{brief.incident}</span></p>
      {description && <div class="about-text"><Folded text={description} most={600} /></div>}
      <Facts rows={[
        [w.type, brief.type?.toLowerCase().replaceAll("_", " ")],
        [w.cause, brief.cause],
        [w.opened, brief.opened_at && <Time at={brief.opened_at} />],
        [w.acknowledged, brief.acknowledged_at && <Time at={brief.acknowledged_at} />],
        [w.assignee, brief.assignee],
        [w.resolved, brief.resolved_at && <><Time at={brief.resolved_at} /> {brief.resolution?.toLowerCase().replaceAll("_", " ")}</>],
        [w.continued, brief.continued_in && <Link to={place("incident", { id: brief.continued_in })}>{brief.continued_in}</Link>],
        [w.recorded, brief.reached_as_of && <>{w.recordedAt(reachedText(brief), brief.reached_datasets === 1)} (<Time at={brief.reached_as_of} />)</>],
        [w.repaired, repaired.length > 0 && <ul class="lines">{repaired.map(({ text }) => <li>{text}</li>)}</ul>],
      ]} />
    </>
  );
}

const SCOPE: Column<ResolvedPart>[] = [
  { name: "part", title: w.part, cell: ({ part: one }) => <span class="anywhere">{one.text}</span>, value: ({ part: one }) => one.text },
  { name: "found", title: w.found, value: ({ parts, hops }) => parts.length + hops.length, cell: ({ parts, hops }) => (
    <>{parts.map((one) => <PartCell part={one} />)}{hops.length > 0 && w.steps(hops.length)}{parts.length + hops.length === 0 && "–"}</>
  ) },
  { name: "certainty", title: t.traces.certainty, cell: ({ certainty }) => <CertaintyMark of={certainty} />, value: ({ certainty }) => certainty },
  { name: "why", title: w.why, cell: ({ why }) => <span class="anywhere">{why}</span>, value: ({ why }) => why, wide: true },
];

function Reached({ of: reach, at, changed, name }: { of: IncidentReach; at: Place<"incident">; changed: ReachChange[] | null; name: string }) {
  const scope = useMemo(() => [...SCOPE.slice(0, 2), ownersColumn<ResolvedPart>(reach.owners, ({ parts }) => parts.map(({ dataset }) => dataset)), ...SCOPE.slice(2)], [reach]);
  const open = reach.spreading.filter(({ is_over: over }) => !over);
  return (
    <>
      {!reach.complete && <p class="note-warn">{w.incomplete}</p>}
      {open.length > 0 && <Section title={w.spreading}><ul class="lines">{open.map(({ text }) => <li>{text}</li>)}</ul></Section>}
      <Tainted answer={reach.blast} owners={reach.owners} name={name} title={name} view={at.query.view} onView={(view) => tweak("incident", { view })} />
      <Jobs of={reach} />
      <Since of={reach.since} />
      <Versions of={reach.business_versions} />
      <Columns of={reach} />
      <Section title={w.scope}>
        <Table rows={reach.scope} columns={scope} of={({ part: one }) => one.text} label={w.scope} noun={w.parts} empty={w.noScope} />
      </Section>
      <Unknown title={w.notReached} of={reach.not_known_to_be_reached} />
      <Unknown title={w.cannotBeKnown} of={reach.cannot_be_known} />
      {changed !== null && (
        <Section title={w.changed}>
          {changed.length === 0 ? <p class="empty">{w.unchanged}</p> : <ul class="lines">{changed.map((change) => <Change of={change} />)}</ul>}
        </Section>
      )}
    </>
  );
}

const Unknown = ({ title, of: lines }: { title: string; of: readonly string[] }) =>
  lines.length === 0 ? null : <Section title={title}><ul class="lines">{lines.map((line) => <li class="anywhere">{line}</li>)}</ul></Section>;

const Change = ({ of }: { of: ReachChange }) => (
  <li>
    {of.dataset}: {w.changes[of.change]}
    <Parts title={w.newParts} of={of.new} />
    {of.by.length > 0 && <div>{w.writtenBy} {of.by.map((step, index) => <>{index > 0 && ", "}{step.job?.name} <StepLink step={step} /></>)}</div>}
    <Parts title={w.goneParts} of={of.gone} />
    {of.change === "CHANGED" && changeNote(of) && <div class="muted">{changeNote(of)}</div>}
  </li>
);

const Parts = ({ title, of }: { title: string; of: Part[] }) => (of.length > 0 ? <div>{title} {of.map((one) => <PartCell part={one} named={false} />)}</div> : null);

/** Text about a changed dataset beside its new parts and those that are gone. */
function changeNote({ new: added, gone, exact }: ReachChange): string | null {
  if (!exact) return w.changeNotExact;
  return added.length + gone.length > 0 ? null : w.certaintyChanged;
}

const HISTORY: Column<ActionTaken>[] = [
  { name: "at", title: w.at, cell: ({ at }) => <Time at={at} />, value: ({ at }) => at },
  { name: "action", title: w.action, cell: ({ action }) => <Tone severity="NONE">{action.toLowerCase().replaceAll("_", " ")}</Tone>, value: ({ action }) => action },
  { name: "by", title: w.by, cell: ({ by }) => by, value: ({ by }) => by },
  { name: "text", title: w.states, cell: ({ text }) => <span class="anywhere">{text}</span>, value: ({ text }) => text },
];

const History = ({ of: { history } }: { of: Incident }) => (
  <Section title={<>{w.history} <small class="muted">{count(history.length, ...t.nouns.action)}</small></>}>
    <Table rows={history} columns={HISTORY} of={({ at, action, text }) => `${at} ${action} ${text}`} label={w.history} noun={t.nouns.action} />
  </Section>
);
