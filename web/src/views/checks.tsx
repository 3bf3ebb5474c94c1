// Checks: the rules of a lineage that can be trusted, which are broken, and by what.

import { useEffect, useState } from "preact/hooks";

import type { CheckedRule, Checks, Finding, UncheckedRule } from "../app/answers";
import { place, type Place } from "../app/address";
import { get } from "../app/api";
import { useAsked } from "../app/asked";
import { count, duration, number } from "../app/format";
import { step, tweak } from "../app/navigation";
import { report, say } from "../app/state";
import { t } from "../app/texts";
import { Link, Section, Time, Tone, Trouble } from "../parts/basics";
import { split } from "../parts/head";
import { Table, type Column } from "../parts/table";

const FIRST = 20;
const NEXT = 1000;
/** Seconds that all rules may take together. */
const PATIENCE = 120;

export function ChecksView({ place: at }: { place: Place<"checks"> }) {
  // All rules in one question, whichever are shown: choosing one asks nothing, and a late answer replaces nothing.
  const asked = useAsked<Checks>("checks", () => get<Checks>("checks", { limit: FIRST, timeout: PATIENCE }));
  const found = asked.value;
  return (
    <div class="view checks-view">
      <h1>{t.checks}</h1>
      <p class="note">{t.checksView.lead}</p>
      {asked.problem && <Trouble problem={asked.problem} again={asked.again} />}
      {asked.waiting && <Patience />}
      {found && <Shown at={at} found={found} />}
    </div>
  );
}

/** How long the rules are being checked by now. */
function Patience() {
  const [seconds, set] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => set((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <div class="checking"><p role="status">{t.checksView.checking}</p><p class="muted" aria-hidden="true">{duration(seconds * 1_000)}</p></div>;
}

/** One sentence of all rules: "nothing is found" only where all was checked and nothing is unknown. */
export function verdict({ rules, unchecked, total }: Pick<Checks, "rules" | "unchecked" | "total">): string {
  if (total) return count(total, ...t.nouns.finding);
  if (unchecked.length) return t.checksView.notAllChecked;
  return rules.some(({ unknown }) => unknown !== null) ? t.checksView.notAllKnown : t.checksView.nothing;
}

/** Rules by what they need: broken ones with the most findings first, then those of which not all is known, then those that hold. */
export function ordered(rules: CheckedRule[]): CheckedRule[] {
  const rank = (rule: CheckedRule): number => (rule.total ? 0 : rule.unknown !== null ? 1 : 2);
  return [...rules].sort((one, other) => rank(one) - rank(other) || other.total - one.total);
}

function Shown({ at, found }: { at: Place<"checks">; found: Checks }) {
  const { rule: chosen } = at.query;
  const holding = found.rules.filter(({ total, unknown }) => !total && unknown === null);
  const many = found.rules.length + found.unchecked.length;
  const shows = (rule: string): boolean => chosen.length === 0 || chosen.includes(rule);
  const toggle = (rule: string): void => step("checks", { rule: chosen.includes(rule) ? chosen.filter((each) => each !== rule) : [...chosen, rule] });
  const pill = (rule: string, title: string, word: string, tone: string) => (
    <button aria-pressed={chosen.includes(rule)} title={title} onClick={() => toggle(rule)}>{rule} <small class={tone}>{word}</small></button>
  );
  return (
    <>
      <p class="checks-verdict"><strong>{verdict(found)}</strong> <span class="muted">{t.checksView.holding(holding.length, many)}{found.exempted > 0 && `, ${t.checksView.exempted(found.exempted)}`}{found.filtered && ` ${t.filtered}`}</span></p>
      <div class="checks-rules" role="group" aria-label={t.checksView.rules}>
        {found.unchecked.map(({ rule, title }) => pill(rule, title, t.checksView.unchecked, "warn"))}
        {ordered(found.rules).map(({ rule, title, total, unknown }) => pill(rule, title, total ? number(total) : unknown !== null ? t.checksView.unknown : t.checksView.holds, total ? "bad" : unknown !== null ? "warn" : "muted"))}
        {chosen.length > 0 && <button class="link" onClick={() => step("checks", { rule: [] })}>{t.checksView.all}</button>}
      </div>
      {found.unchecked.filter(({ rule }) => shows(rule)).map((rule) => <Unchecked key={rule.rule} rule={rule} />)}
      {ordered(found.rules).filter((rule) => shows(rule.rule) && (rule.total > 0 || rule.unknown !== null || chosen.includes(rule.rule))).map((rule) => <Rule key={rule.rule} at={at} rule={rule} />)}
      {found.unused.length > 0 && (
        <Section title={t.checksView.unused}><ul class="lines">{found.unused.map(({ rule, subject, line, reason }) => <li><b>{rule}</b> {subject} <span class="muted">{t.checksView.line(line)}: {reason}</span></li>)}</ul></Section>
      )}
    </>
  );
}

const Unchecked = ({ rule }: { rule: UncheckedRule }) => (
  <Section title={<>{rule.rule} <Tone severity="UNKNOWN">{t.checksView.unchecked}</Tone></>}><p>{rule.title}</p><p class="note">{rule.reason}</p></Section>
);

/** Text in which commands stand between backticks. */
const Commands = ({ text }: { text: string }) => <>{text.split(/`([^`]+)`/).map((each, index) => (index % 2 ? <code>{each}</code> : each))}</>;

const COLUMNS: Column<Finding>[] = [
  { name: "subject", title: t.checksView.subject, cell: ({ subject }) => <Subject of={subject} />, value: ({ subject }) => subject.name },
  { name: "message", title: t.checksView.finding, cell: (row) => <Message of={row} />, value: (row) => row.message },
  { name: "owners", title: t.owners, cell: ({ subject }) => subject.owners.join(", ") || <span class="muted">–</span>, value: ({ subject }) => subject.owners.join(" ") || null, wide: true },
  { name: "since", title: t.checksView.since, cell: (row) => <Time at={row.since} />, value: (row) => row.since, wide: true },
];

/** The finding's sentence, in which the id of its incident is a link. */
export function Message({ of: { message, incident } }: { of: Finding }) {
  if (incident === null) return <span class="anywhere">{message}</span>;
  // With the word before it, as the API writes it: an id may be a single letter.
  const at = message.indexOf(`incident ${incident}`);
  const [before, after] = at < 0 ? [`${message} `, ""] : [message.slice(0, at + 9), message.slice(at + 9 + incident.length)];
  return <span class="anywhere">{before}<Link to={place("incident", { id: incident })}>{incident}</Link>{after}</span>;
}

function Subject({ of: subject }: { of: Finding["subject"] }) {
  const name = subject.table ? `${subject.name} (${subject.table})` : subject.name;
  const last = name.split("/").filter(Boolean).pop() ?? name;
  const to = subject.kind === "CONSUMER" ? place("consumer", { key: subject.key }) : subject.kind === "JOB" ? place("job", split(subject.name)) : place("dataset", split(subject.name));
  return <span class="asset"><Link to={to} title={name}>{last}</Link>{last !== name && <small>{name.slice(0, name.length - last.length).replace(/\/$/, "")}</small>}</span>;
}

function Rule({ at, rule }: { at: Place<"checks">; rule: CheckedRule }) {
  const [later, set] = useState<{ findings: Finding[]; cursor: string | null; loading: boolean }>({ findings: [], cursor: rule.next_cursor, loading: false });
  const findings = [...rule.findings, ...later.findings];
  const more = (): void => {
    set({ ...later, loading: true });
    get<Checks>("checks", { rule: [rule.rule], limit: NEXT, cursor: later.cursor, timeout: PATIENCE }).then(
      ({ rules: [next] }) => {
        set({ findings: [...later.findings, ...(next?.findings ?? [])], cursor: next?.next_cursor ?? null, loading: false });
        say(t.paging.added(next?.findings.length ?? 0));
      },
      (error: unknown) => {
        set({ ...later, loading: false });
        report(error);
      },
    );
  };
  return (
    <Section id={`rule-${rule.rule}`} title={<>{rule.rule} <span class={`total ${rule.total ? "bad" : "none"}`}>{number(rule.total)}</span></>}>
      <p>{t.checksView.rule} {rule.title}</p>
      {rule.unknown !== null && <p class="note-warn">{t.checksView.notKnown(rule.unknown)}</p>}
      {(rule.total > 0 || rule.unknown !== null) && <p class="note">{t.checksView.fix} <Commands text={rule.fix} /></p>}
      {rule.exempted > 0 && <p class="note">{t.checksView.exempted(rule.exempted)}</p>}
      {rule.total === 0 ? <p class="empty">{rule.unknown === null ? t.checksView.holds : t.checksView.notAllKnown}</p> : (
        <Table rows={findings} columns={COLUMNS} of={(row) => row.id} label={rule.rule} noun={t.checksView.noun} find={at.query.find} onFind={(find) => tweak("checks", { find })}
          beyond={rule.total > findings.length ? t.paging.beyond(rule.total) : undefined}
          actions={later.cursor !== null && <button onClick={more} disabled={later.loading}>{later.loading ? t.waiting : t.paging.more(rule.total - findings.length)}</button>} />
      )}
    </Section>
  );
}
