// Home: what is broken now, what I looked at last, what is used most, and how far the graph is behind. On a first start: what to do next.

import type { BrokenChain, GraphState, GraphStatus, IncidentBrief, OpenRun, RunItem } from "../app/answers";
import { place, type Place } from "../app/address";
import type { Asked } from "../app/asked";
import { ago, count, number, offsets } from "../app/format";
import { kept } from "../app/state";
import { t } from "../app/texts";
import { Answer, AssetLink, Chip, Link, Section, Time } from "../parts/basics";
import { More, beyondOf, noneOf, usePages, type Page } from "../parts/pages";
import { RUNS, RunLink, RunState } from "../parts/runs";
import { Table, type Column } from "../parts/table";
import { First } from "./first";
import { INCIDENTS } from "./incidents";
import { MostUsed } from "./mostused";
import { useStatus } from "./status";

/** Rows of each section at first. */
const FEW = 5;

export function Home(_given: { place: Place<"home"> }) {
  const status = useStatus();
  // Null where Neo4j does not answer: on a first start, because it does not run yet.
  const empty = status.value !== null && !status.value.datasets;
  return (
    <div class="view home">
      <h1>{!empty ? t.homeView.title : status.value?.graph_reachable ? t.homeView.welcome : t.homeView.away}</h1>
      {empty && status.value ? <First status={status.value} /> : <Now status={status} />}
    </div>
  );
}

function Now({ status }: { status: Asked<GraphStatus> }) {
  return (
    <>
      {status.value && <Behind status={status.value} />}
      <div class="home-columns">
        <div>
          <Incidents />
          <Failed />
          <Broken />
          <Open />
          <Section title={t.checks}><p class="note">{t.homeView.checksNote} <Link to={place("checks", {})}>{t.homeView.toChecks}</Link></p></Section>
        </div>
        <div>
          <Seen />
          <MostUsed />
        </div>
      </div>
    </>
  );
}

function Behind({ status }: { status: GraphStatus }) {
  const { behind, last_event: last } = status;
  const words = behind === null ? t.homeView.behindUnknown : behind === 0 ? t.upToDate : t.behind(behind);
  return (
    <p class="home-behind" role="status">
      <span class={`state ${behind === 0 && status.consumer === "REPORTING" ? "good" : behind === null || status.consumer !== "REPORTING" ? "warn" : "info"}`}>{words}</span>
      {status.consumer && status.consumer !== "REPORTING" && <span>{t.homeView.consumers[status.consumer]}</span>}
      {last && <span class="muted">{t.lastEvent}: <Time at={last} /> ({ago(last)})</span>}
      <span class="muted">{count(status.datasets ?? 0, ...t.nouns.dataset)}, {count(status.jobs ?? 0, ...t.nouns.job)}</span>
    </p>
  );
}

/** A section of what is wrong: its exact total, and "none" only of an answer that says so. */
function Wrong<Row, P extends Page<Row> & { graph?: GraphState }>(given: { path: string; query?: Record<string, string[]>; title: string; note: string; none: string; columns: Column<Row>[]; of: (row: Row) => string; noun: [string, string] }) {
  const pages = usePages<Row, P>(given.path, given.query ?? {}, FEW);
  const answer = pages.asked.value;
  const behind = answer?.graph?.behind;
  return (
    <Section title={<>{given.title}{answer && <> <span class={`total ${answer.total ? "bad" : "none"}`}>{number(answer.total)}</span></>}</>}>
      <Answer asked={pages.asked}>{(found) => (
        found.total === 0 ? <p class="empty">{noneOf(found, given.none)}{behind ? ` ${t.behind(behind)}` : ""}</p> : (
          <>
            <p class="note">{given.note}</p>
            <Table rows={pages.rows} columns={given.columns} of={given.of} label={given.title} noun={given.noun} beyond={beyondOf(pages.rows.length, found.total)} actions={<More pages={pages} />} />
          </>
        )
      )}</Answer>
    </Section>
  );
}

const Incidents = () => <Wrong<IncidentBrief, Page<IncidentBrief>> path="incidents" title={t.homeView.incidents} note={t.homeView.incidentsNote} none={t.incidentView.noneOpen} columns={INCIDENTS} of={(row) => row.incident} noun={t.incidentView.noun} />;

const FAILED: Column<RunItem>[] = RUNS.filter(({ name }) => ["run", "job", "state", "began", "error"].includes(name))
  .map((column) => (column.name === "began" ? { ...column, cell: (row) => <Time at={row.began} short /> } : column));

const Failed = () => <Wrong<RunItem, Page<RunItem>> path="runs" query={{ state: ["FAIL", "ABORT"] }} title={t.homeView.failed} note={t.homeView.failedNote} none={t.homeView.noneFailed} columns={FAILED} of={(row) => row.key} noun={t.runList.noun} />;

const CHAINS: Column<BrokenChain>[] = [
  { name: "job", title: t.runList.job, cell: (row) => (row.job ? <AssetLink asset={row.job} under /> : (row.query_name ?? row.query_id)), value: (row) => row.job?.name ?? row.query_name },
  { name: "between", title: t.homeView.between, cell: (row) => `${number(row.after_batch)} – ${number(row.before_batch)}`, value: (row) => row.after_batch },
  { name: "what", title: t.homeView.what, value: (row) => row.missing, cell: (row) => (
    <ul class="lines">
      {row.missing > 0 && <li>{t.batches.missing(row.missing)}</li>}
      {row.gaps.length > 0 && <li class="mono">{t.batches.skipped(offsets(row.gaps))}</li>}
      {row.overlaps.length > 0 && <li class="mono">{t.batches.twice(offsets(row.overlaps))}</li>}
    </ul>
  ) },
  { name: "at", title: t.batches.time, cell: (row) => <Time at={row.at} short />, value: (row) => row.at },
];
const Broken = () => <Wrong<BrokenChain, Page<BrokenChain>> path="gaps" title={t.homeView.chains} note={t.homeView.chainsNote} none={t.homeView.noChains} columns={CHAINS} of={(row) => `${row.query_id} ${row.before_batch}`} noun={t.homeView.chainNoun} />;

const OPEN: Column<OpenRun>[] = [
  { name: "run", title: t.runList.run, cell: ({ run }) => <RunLink id={run.run_id} />, value: ({ run }) => run.run_id },
  { name: "job", title: t.runList.job, cell: ({ run }) => (run.job ? <AssetLink asset={run.job} under /> : "–"), value: ({ run }) => run.job?.name ?? null },
  { name: "state", title: t.runList.state, cell: ({ run }) => <RunState run={run} />, value: ({ run }) => run.state },
  { name: "seen", title: t.lastSeen, value: (row) => row.last_seen, cell: (row) => <><Time at={row.last_seen} short />{late(row) && <small class="warn"> {t.homeView.silent}</small>}</> },
];

/** Whether a run that sends heartbeats has missed three. */
export function late({ last_seen, heartbeat_seconds }: Pick<OpenRun, "last_seen" | "heartbeat_seconds">, now = Date.now()): boolean {
  return heartbeat_seconds !== null && now - Date.parse(last_seen) > 3_000 * heartbeat_seconds;
}
const Open = () => <Wrong<OpenRun, Page<OpenRun>> path="open-runs" title={t.homeView.open} note={t.homeView.openNote} none={t.homeView.noneOpen} columns={OPEN} of={({ run }) => run.key} noun={t.runList.noun} />;

interface SeenDataset {
  namespace: string;
  name: string;
  type: string | null;
  title: string | null;
}

function Seen() {
  // Somebody else's page of this origin may have written it.
  const found = kept<SeenDataset[]>("seen", []);
  const seen = Array.isArray(found) ? found.filter((each) => typeof each?.namespace === "string" && typeof each?.name === "string") : [];
  return (
    <Section title={t.homeView.seen}>
      {seen.length === 0 ? <p class="empty">{t.homeView.noneSeen}</p> : (
        <ul class="home-seen">{seen.map((one) => (
          <li>
            <Chip kind={one.type} />
            <AssetLink under asset={{ kind: "DATASET", key: "", namespace: one.namespace, name: one.name, column: null, title: one.title, type: one.type, table: null }} />
          </li>
        ))}</ul>
      )}
    </Section>
  );
}
