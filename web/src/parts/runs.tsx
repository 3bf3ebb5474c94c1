// Runs, micro-batches and checks, as every list of the page shows them.

import type { Check, IntervalItem, Quality, QualityTurn, RunItem } from "../app/answers";
import { place } from "../app/address";
import { count, duration, number } from "../app/format";
import { t } from "../app/texts";
import { AssetLink, Facts, Link, State, Time, Tone } from "./basics";
import { Folded, FoldedList } from "./fold";
import type { Column } from "./table";

export const RunLink = ({ id, children }: { id: string; children?: string }) => (
  <Link class="mono run-id" to={place("run", { id })} title={id}>{children ?? id.slice(0, 8)}</Link>
);

/** How long a run took: milliseconds, or null. */
export function took({ began, ended_at }: Pick<RunItem, "began" | "ended_at">): number | null {
  if (!began || !ended_at) return null;
  const between = Date.parse(ended_at) - Date.parse(began);
  return Number.isNaN(between) || between < 0 ? null : between;
}

const codeOf = (version: string | null): string => version?.slice(0, 12) ?? "–";

/** State of a run; that its end is only inferred is said beside it. */
export const RunState = ({ run }: { run: RunItem }) => (
  <><State state={run.state} />{run.inferred_because && <small class="muted" title={t.runList.inferred[run.inferred_because]}> {t.runList.inferredShort}</small>}</>
);

const run: Column<RunItem> = { name: "run", title: t.runList.run, cell: (row) => <RunLink id={row.run_id} />, value: (row) => row.run_id };
const job: Column<RunItem> = { name: "job", title: t.runList.job, cell: (row) => (row.job ? <AssetLink asset={row.job} under /> : "–"), value: (row) => row.job?.name ?? null };
const rest: Column<RunItem>[] = [
  { name: "state", title: t.runList.state, cell: (row) => <RunState run={row} />, value: (row) => row.state },
  { name: "began", title: t.runList.began, cell: (row) => <Time at={row.began} />, value: (row) => row.began },
  { name: "took", title: t.runList.took, cell: (row) => duration(took(row)), value: took, number: true, wide: true },
  { name: "batches", title: t.runList.batches, cell: (row) => (row.first_batch === null ? "" : `${row.first_batch}–${row.last_batch ?? "?"}`), value: (row) => row.first_batch, wide: true },
  { name: "code", title: t.runList.code, cell: (row) => <span class="mono" title={row.code_version ?? ""}>{codeOf(row.code_version)}</span>, value: (row) => row.code_version, wide: true },
  { name: "error", title: t.runList.error, cell: (row) => row.error_message && <span class="clamp" title={row.error_message}>{row.error_message}</span>, value: (row) => row.error_message },
];

export const RUNS: Column<RunItem>[] = [run, job, ...rest];
export const RUNS_OF_JOB: Column<RunItem>[] = [run, ...rest];

/** A failed assertion: `not_null of id (error)`. */
export const assertion = ({ assertion: name, column, severity }: Quality): string => name + (column ? t.checked.ofColumn(column) : "") + (severity ? ` (${severity.toLowerCase()})` : "");

const SEVERITIES: Record<string, string> = { ERROR: "BREAKING", WARN: "WARNING", WARNING: "WARNING" };

export const Assertion = ({ of: one }: { of: Quality }) => (
  <div class="assertion">
    <p><b>{one.assertion}</b>{one.column && <> {t.checked.on} <code>{one.column}</code></>} {one.severity && <Tone severity={SEVERITIES[one.severity.toUpperCase()] ?? "INFO"}>{one.severity.toLowerCase()}</Tone>}</p>
    <Facts rows={[[t.checked.value, one.value && <Folded text={one.value} most={200} />], [t.checked.rule, one.rule && <Folded text={one.rule} most={200} />], [t.checked.suite, one.suite && [one.suite, one.suite_version].filter(Boolean).join(" ")]]} />
  </div>
);

/** Latest checks of a dataset: what passed is counted, what failed is listed. */
export function Checked({ checks }: { checks: Check[] }) {
  return (
    <FoldedList most={8} items={checks.map((check) => (
      <div class="checked">
        <p>
          <State state={check.failed.length ? "FAILED" : check.passed ? "PASSED" : null} />{" "}
          {t.checked.counts(check.failed.length, check.passed)}{" "}
          <small class="muted">
            {check.job && <AssetLink asset={check.job} />} {check.batch_id !== null && t.batch(check.batch_id)} {check.run_id && <RunLink id={check.run_id} />} <Time at={check.at} />
          </small>
        </p>
        {check.failed.length > 0 && <FoldedList most={5} items={check.failed.map((one) => <Assertion of={one} />)} />}
      </div>
    ))} />
  );
}

const Batch = ({ of: batch }: { of: IntervalItem }) => (
  <>{t.batch(batch.batch_id)}{batch.run_id && <> {t.checked.inRun} <RunLink id={batch.run_id} /></>} <small class="muted"><Time at={batch.processing_time} /></small></>
);
const Run = ({ of: one }: { of: RunItem }) => <><RunLink id={one.run_id} /> <small class="muted"><Time at={one.began} /></small></>;

/** Last good and first bad, of each streaming query or of the batch runs. */
export const Turns = ({ turns }: { turns: QualityTurn[] }) => (
  <ul class="turns">
    {turns.map((turn) => {
      const [good, bad] = [turn.last_good ?? turn.last_good_run, turn.first_bad ?? turn.first_bad_run];
      return (
        <li>
          <Facts rows={[
            [t.checked.of, turn.query_id ? <span class="mono">{turn.query_id}</span> : t.checked.batchRuns],
            [t.checked.lastGood, turn.last_good ? <Batch of={turn.last_good} /> : turn.last_good_run ? <Run of={turn.last_good_run} /> : t.checked.noGood(turn.looked_back)],
            [t.checked.firstBad, turn.first_bad ? <Batch of={turn.first_bad} /> : turn.first_bad_run ? <Run of={turn.first_bad_run} /> : good ? t.checked.noBad : null],
            [t.checked.span, turn.looked_back !== null && t.checked.lookedBack(count(turn.looked_back, ...t.nouns.lookedBack))],
          ]} />
          {bad && turn.failed.length > 0 && <FoldedList most={5} items={turn.failed.map((one) => <Assertion of={one} />)} />}
          {bad && <p><Blast turn={turn} /></p>}
        </li>
      );
    })}
  </ul>
);

/** Where did the first bad data go? */
function Blast({ turn }: { turn: QualityTurn }) {
  if (turn.first_bad) return <Link to={blastOfBatch(turn.first_bad.query_id, turn.first_bad.batch_id)}>{t.whereWent}</Link>;
  return turn.first_bad_run ? <Link to={place("blast", {}, { query: { run: turn.first_bad_run.run_id } })}>{t.whereWent}</Link> : null;
}

export const blastOfBatch = (query: string, first: number, last = first) => place("blast", {}, { query: { query, first: String(first), last: String(last) } });

export const rows = (of: number | null | undefined): string => (of === null || of === undefined ? "–" : number(of));
