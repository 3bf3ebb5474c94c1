// View of one run: how it went, its micro-batches, what it read and wrote, and its plan.

import type { RunDetails, Use, UsePage } from "../app/answers";
import { RUN_TABS, place, type Place } from "../app/address";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { count, duration, number } from "../app/format";
import { t } from "../app/texts";
import { Answer, AssetLink, Facts, Link, Section, State, Tabs, Time } from "../parts/basics";
import { Facets } from "../parts/facet";
import { Folded, FoldedList } from "../parts/fold";
import { Head } from "../parts/head";
import { More, noneOf, usePages } from "../parts/pages";
import { Assertion, RunLink, RunState, took } from "../parts/runs";
import { Sql } from "../parts/sql";
import { UsePart } from "../parts/uses";
import { Batches } from "./batches";

export function RunView({ place: at }: { place: Place<"run"> }) {
  const id = part(at.path.id);
  const asked = useAsked<RunDetails>(id, () => get<RunDetails>(`runs/${id}`));
  const run = asked.value?.run;
  return (
    <div class="view run-view">
      <Head kind="RUN" word={t.runView.run} before={run?.run_id ?? at.path.id} title={<>{run?.job ? <><AssetLink asset={run.job} /> · </> : null}{t.runView.title((run?.run_id ?? at.path.id).slice(0, 8))}</>}>
        {asked.value && <Link class="button" to={blastOfRun(asked.value)}>{t.whereWent}</Link>}
      </Head>
      <Answer asked={asked}>{(details) => <Shown at={at} details={details} id={id} />}</Answer>
    </div>
  );
}

/** What came of it: of a streaming run, of its micro-batches. */
export const blastOfRun = (details: Pick<RunDetails, "run">): Place => place("blast", {}, { query: { run: details.run.run_id } });

function Shown({ at, details, id }: { at: Place<"run">; details: RunDetails; id: string }) {
  const counts: Partial<Record<(typeof RUN_TABS)[number], number>> = { batches: details.intervals, inputs: details.inputs_total, outputs: details.outputs_total };
  return (
    <>
      <Tabs label={t.runView.tabs} now={at.tab} to={(tab) => place("run", at.path, { tab })} tabs={RUN_TABS.map((tab) => ({ tab, title: t.runView[tab], count: counts[tab] }))} />
      {at.tab === "overview" && <Overview details={details} />}
      {at.tab === "batches" && <Batches id={id} total={details.intervals} />}
      {at.tab === "inputs" && <Uses id={id} side="inputs" details={details} />}
      {at.tab === "outputs" && <Uses id={id} side="outputs" details={details} />}
      {at.tab === "plan" && <Plan details={details} />}
    </>
  );
}

function Overview({ details }: { details: RunDetails }) {
  const { run } = details;
  const above = (one: RunDetails["parent"]) => one && <><Link to={place("job", { namespace: one.job_namespace, name: one.job_name })}>{one.job_name}</Link> <RunLink id={one.run_id} /></>;
  return (
    <>
      <Section title={t.runView.overview}>
        <Facts rows={[
          [t.runList.state, <RunState run={run} />],
          [t.runView.inferred, run.inferred_because && <>{t.runList.inferred[run.inferred_because]}{run.inferred_by && <> <RunLink id={run.inferred_by} /></>}</>],
          [t.runList.began, <Time at={run.began} />],
          [t.runView.ended, run.ended_at ? <Time at={run.ended_at} /> : t.runView.noEnd],
          [t.runList.took, took(run) !== null && duration(took(run))],
          [t.runView.period, details.nominal_start && <><Time at={details.nominal_start} /> – <Time at={details.nominal_end} /></>],
          [t.runList.code, run.code_version && <span class="mono">{run.code_version}</span>],
          [t.runView.config, run.config_version && <span class="mono">{run.config_version}</span>],
          [t.runView.parent, above(details.parent)],
          [t.runView.root, details.root?.run_id !== details.parent?.run_id && above(details.root)],
          [t.runView.children, details.children > 0 && number(details.children)],
          [t.runView.query, run.query_id && <span class="mono">{run.query_id}</span>],
          [t.jobView.checkpoint, details.checkpoint_location && <span class="mono">{details.checkpoint_location}</span>],
          [t.runView.batches, run.first_batch !== null && `${number(run.first_batch)}–${number(run.last_batch)}`],
          [t.runView.engine, [details.engine, details.engine_version].filter(Boolean).join(" ")],
          [t.runView.capture, details.capture_version],
          [t.runView.provenance, details.provenance && t.runView.reconciled],
          [t.runView.publication, details.publication?.toLowerCase()],
          [t.runView.rejected, details.rows_rejected !== null && number(details.rows_rejected)],
          [t.runView.campaign, details.campaign],
          [t.runView.script, details.script && <span class="mono">{details.script}</span>],
          [t.jobView.repository, [details.repository, details.branch].filter(Boolean).join(" · ")],
          [t.runView.packaged, [details.package, details.image].filter(Boolean).join(" · ")],
          [t.runView.user, [details.user, details.service].filter(Boolean).join(" · ")],
          [t.firstSeen, details.first_seen && <Time at={details.first_seen} />],
          [t.lastSeen, details.last_seen && <Time at={details.last_seen} />],
        ]} />
      </Section>
      {(run.error_message || run.error_type || details.error_stack) && (
        <Section title={t.runList.error}>
          {run.error_type && <p class="mono anywhere">{run.error_type}</p>}
          {run.error_message && <Folded text={run.error_message} most={1200} pre />}
          {details.error_stack && <details class="stack"><summary>{t.runView.stack}</summary><pre class="fold-pre" tabIndex={0}>{details.error_stack}</pre></details>}
        </Section>
      )}
      {details.notes.length > 0 && <Section title={t.runView.notes}><FoldedList most={20} items={details.notes.map((note) => <Folded text={note} />)} /></Section>}
      {details.quality.length > 0 && (
        <Section title={t.runView.quality}>
          <p class="note">{t.checked.counts(details.quality.filter(({ passed }) => !passed).length, details.quality.filter(({ passed }) => passed).length)}</p>
          <FoldedList items={[...details.quality].sort((one, other) => Number(one.passed) - Number(other.passed)).map((one) => <div class="checked"><State state={one.passed ? "PASSED" : "FAILED"} /><Assertion of={one} /></div>)} />
        </Section>
      )}
      {details.business_versions.length > 0 && <Section title={t.versionsTab.business}>{details.business_versions.map(({ reference }) => <UsePart use={reference} wrote={false} />)}</Section>}
      {details.facets.some(({ json }) => json) && <Section title={t.facets}><Facets facets={details.facets} /></Section>}
    </>
  );
}

function Uses({ id, side, details }: { id: string; side: "inputs" | "outputs"; details: RunDetails }) {
  const pages = usePages<Use, UsePage>(`runs/${id}/${side}`, {}, 50);
  const blast = blastOfRun(details);
  return (
    <Section title={t.runView[side]} actions={<More pages={pages} />}>
      {details.intervals > 1 && <p class="note">{t.runView.ofAllBatches(count(details.intervals, ...t.nouns.microBatch))}</p>}
      <Answer asked={pages.asked}>{(answer) => (
        <>
          {pages.rows.length === 0 && <p class="empty">{noneOf(answer, side === "inputs" ? t.runView.noInputs : t.runView.noOutputs)}</p>}
          {pages.rows.map((use) => <UsePart key={`${use.dataset.key} ${use.ordinal}`} use={use} wrote={side === "outputs"} blast={blast} />)}
          {answer.total > pages.rows.length && <p class="note">{t.paging.some(pages.rows.length, answer.total)}</p>}
        </>
      )}</Answer>
    </Section>
  );
}

function Plan({ details }: { details: RunDetails }) {
  const { run, statement } = details;
  return (
    <>
      {statement && <Section title={t.runView.statement}><Sql text={statement} /></Section>}
      <Section title={t.runView.plan}>
        {run.plan_digest ? <Facts rows={[[t.jobView.digest, <span class="mono">{run.plan_digest}</span>]]} /> : <p class="empty">{t.runView.noPlan}</p>}
        {run.job && <p class="note"><Link to={place("job", { namespace: run.job.namespace, name: run.job.name })}>{t.runView.planOfJob}</Link></p>}
      </Section>
    </>
  );
}

