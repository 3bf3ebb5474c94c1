// View of one job: what it reads and writes, its plan and quality; its runs; its timeline.

import type { Asset, DatasetDetails, JobDataset, JobDetails, KnownQuery, RunItem } from "../app/answers";
import { place, type Place } from "../app/address";
import { get, part, spelled } from "../app/api";
import { useAsked } from "../app/asked";
import { number, parted } from "../app/format";
import { go, step, tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, AssetLink, Facts, Section, State, Tabs, Time, Tone } from "../parts/basics";
import { Facets, Text } from "../parts/facet";
import { Folded } from "../parts/fold";
import { Head, beforeOf } from "../parts/head";
import { Paged, beyondOf, noneOf, usePages } from "../parts/pages";
import { Owners, Tags, declaredValue, ownersOf, tagsOf } from "../parts/people";
import { RUNS_OF_JOB, RunLink, Turns } from "../parts/runs";
import { Table, type Column } from "../parts/table";
import { Timeline } from "../timeline/timeline";

const TABS = ["overview", "runs", "timeline"] as const;

export function JobView({ place: at }: { place: Place<"job"> }) {
  const id = part(spelled(at.path));
  const asked = useAsked<JobDetails>(id, () => get<JobDetails>(`jobs/${id}`));
  const job = asked.value?.job;
  return (
    <div class="view job-view">
      <Head kind="JOB" word={(job?.type ?? t.jobView.job).toLowerCase()} before={job ? beforeOf(job) : at.path.namespace} title={job ? parted(job).last : at.path.name} />
      <Answer asked={asked}>{(details) => <Shown at={at} details={details} id={id} />}</Answer>
    </div>
  );
}

function Shown({ at, details, id }: { at: Place<"job">; details: JobDetails; id: string }) {
  const { job } = details;
  return (
    <>
      <Tabs label={t.jobView.tabs} now={at.tab} to={(tab) => place("job", at.path, { tab })}
        tabs={TABS.map((tab) => ({ tab, title: t.jobView[tab] }))} />
      {at.tab === "overview" && <Overview details={details} />}
      {at.tab === "runs" && <Runs at={at} id={id} />}
      {at.tab === "timeline" && (
        <Timeline job={job.key} from={at.query.from} until={at.query.until} onSpan={(from, until) => tweak("job", { from, until })} onRun={(run) => go(place("run", { id: run }))} />
      )}
    </>
  );
}

const USES: Column<JobDataset>[] = [
  { name: "dataset", title: t.dataset, cell: (row) => <span class={row.gone ? "gone" : ""}><AssetLink asset={row.dataset} under />{row.gone && <small class="muted"> {t.dropped}</small>}</span>, value: (row) => row.dataset.title ?? row.dataset.name },
  { name: "type", title: t.type, cell: (row) => row.dataset.type?.toLowerCase() ?? "–", value: (row) => row.dataset.type, wide: true },
  { name: "known", title: t.jobView.known, cell: (row) => knownBy(row), value: knownBy },
  { name: "first", title: t.firstSeen, cell: (row) => <Time at={row.first_seen} short />, value: (row) => row.first_seen, wide: true },
  { name: "last", title: t.lastSeen, cell: (row) => <Time at={row.last_seen} short />, value: (row) => row.last_seen },
];

export function knownBy({ observed, declared }: Pick<JobDataset, "observed" | "declared">): string {
  return observed && declared ? t.jobView.both : observed ? t.jobView.observed : declared ? t.jobView.declaredOnly : t.unknown;
}

const QUERIES: Column<KnownQuery>[] = [
  { name: "name", title: t.jobView.query, cell: (row) => <>{row.name ?? "–"} <small class="mono muted" title={row.query_id}>{row.query_id.slice(0, 8)}</small></>, value: (row) => row.name ?? row.query_id },
  { name: "batches", title: t.runList.batches, cell: (row) => (row.first_batch === null ? "–" : `${number(row.first_batch)}–${number(row.last_batch)}`), value: (row) => row.last_batch },
  { name: "checkpoint", title: t.jobView.checkpoint, cell: (row) => <span class="mono anywhere">{row.checkpoint_location ?? "–"}</span>, value: (row) => row.checkpoint_location },
  { name: "last", title: t.lastSeen, cell: (row) => <Time at={row.last_seen} short />, value: (row) => row.last_seen, wide: true },
];

function Overview({ details }: { details: JobDetails }) {
  const { declared, source, plan } = details;
  const description = details.description ?? declaredValue(declared, "description");
  const owners = ownersOf(details);
  const tags = tagsOf(details);
  const [run] = details.runs;
  const table = (title: string, uses: JobDataset[], total: number, empty: string) => (
    <Section title={title}>
      <Table rows={uses} columns={USES} of={(row) => row.dataset.key} label={title} noun={t.jobView.datasets} empty={noneOf(details, empty)} beyond={beyondOf(uses.length, total)} />
    </Section>
  );
  return (
    <>
      <Section title={t.jobView.about}>
        {description && <div class="about-text"><Folded text={description} most={600} /></div>}
        <Facts rows={[
          [t.owners, owners.length ? <Owners names={owners} /> : <span class="muted">{t.people.nobody}</span>],
          [t.people.contact, declaredValue(declared, "contact")],
          [t.people.onCall, declaredValue(declared, "on_call")],
          [t.tags, tags.length > 0 && <Tags tags={tags} />],
          [t.criticality, details.criticality ?? declaredValue(declared, "criticality")],
          [t.type, [details.job.type, details.job_type].filter(Boolean).join(", ").toLowerCase()],
          [t.jobView.integration, details.integration?.toLowerCase()],
          [t.aboutTab.lastRun, run ? <><State state={run.state} /> <RunLink id={run.run_id} /> <Time at={run.began} /></> : t.jobView.noRun],
          [t.jobView.code, source?.url && <Text text={source.url} />],
          [t.jobView.repository, source?.repo && <Text text={source.repo} />],
          [t.jobView.path, source?.path && <Text text={source.path} />],
          [t.jobView.branch, [source?.branch, source?.version].filter(Boolean).join(" · ")],
          [t.firstSeen, details.first_seen && <Time at={details.first_seen} />],
          [t.lastSeen, details.last_seen && <Time at={details.last_seen} />],
          [t.jobView.summarized, details.retention?.summarized_before && <Time at={details.retention.summarized_before} />],
          [t.jobView.droppedBefore, details.retention?.dropped_before && <Time at={details.retention.dropped_before} />],
          [t.aboutTab.declaredIn, declared?.sets.join(", ")],
        ]} />
      </Section>
      {table(t.jobView.inputs, details.inputs, details.inputs_total, t.jobView.noInputs)}
      {table(t.jobView.outputs, details.outputs, details.outputs_total, t.jobView.noOutputs)}
      <Section title={t.jobView.plan}>
        {plan === null ? <p class="empty">{t.jobView.noPlan}</p> : (
          <Facts rows={[
            [t.jobView.complete, plan.complete === null ? t.unknown : plan.complete ? <Tone severity="NONE">{t.jobView.isComplete}</Tone> : <><Tone severity="WARNING">{t.jobView.incomplete}</Tone> {plan.incomplete_reason}</>],
            [t.jobView.edges, plan.edges !== null && number(plan.edges)],
            [t.jobView.digest, <span class="mono">{plan.digest}</span>],
            [t.firstSeen, <Time at={plan.first_seen} />],
            [t.lastSeen, <Time at={plan.last_seen} />],
          ]} />
        )}
      </Section>
      {details.queries.length > 0 && <Section title={t.jobView.queries}><Table rows={details.queries} columns={QUERIES} of={(row) => row.query_id} label={t.jobView.queries} noun={t.jobView.queryNoun} beyond={details.queries.length >= 100 ? t.jobView.atMost : undefined} /></Section>}
      {details.quality.length > 0 && <Section title={t.checked.turns}><Turns turns={details.quality} /></Section>}
      {details.facets.some(({ json }) => json) && <Section title={t.facets}><OwnFacets details={details} /></Section>}
    </>
  );
}

/** Facets; columns that its SQL names are links where it writes one dataset. */
function OwnFacets({ details }: { details: JobDetails }) {
  const output = details.outputs_total === 1 && details.facets.some(({ name }) => name === "sql") ? details.outputs[0]?.dataset : undefined;
  const asked = useAsked<DatasetDetails>(output?.key ?? null, () => get<DatasetDetails>(`assets/${part(spelled(output as Asset))}`));
  const to = (column: string): Place => place("column", { namespace: output?.namespace ?? "", name: output?.name ?? "", column });
  return <Facets facets={details.facets} columns={asked.value?.columns.map(({ name }) => name)} to={to} />;
}

const STATES = ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"];

function Runs({ at, id }: { at: Place<"job">; id: string }) {
  const { state } = at.query;
  const pages = usePages<RunItem>(`jobs/${id}/runs`, { state });
  return (
    <Section title={t.jobView.runs} actions={<StateFilter chosen={state} choose={(states) => step("job", { state: states })} />}>
      <Paged pages={pages} columns={RUNS_OF_JOB} of={(row) => row.key} label={t.jobView.runs} noun={t.runList.noun} empty={state.length ? t.runList.noneOfState : t.jobView.noRun} />
    </Section>
  );
}

/** States of runs as buttons; none chosen is all. */
function StateFilter({ chosen, choose }: { chosen: string[]; choose: (states: string[]) => void }) {
  return (
    <div class="row" role="group" aria-label={t.runList.states}>
      {STATES.map((state) => {
        const on = chosen.includes(state);
        return <button aria-pressed={on} onClick={() => choose(on ? chosen.filter((each) => each !== state) : [...chosen, state])}>{state.toLowerCase()}</button>;
      })}
    </div>
  );
}
