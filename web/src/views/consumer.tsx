// View of one declared consumer: who to reach, what it reads, and who writes that.

import type { ConsumedDataset, ConsumerDetails } from "../app/answers";
import { place, type Place } from "../app/address";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { count } from "../app/format";
import { t } from "../app/texts";
import { Answer, AssetLink, Facts, Link, Section, State, Time } from "../parts/basics";
import { Text } from "../parts/facet";
import { Folded, FoldedList } from "../parts/fold";
import { Head } from "../parts/head";
import { beyondOf, noneOf } from "../parts/pages";
import { Contact, Owners, Tags, namesOf } from "../parts/people";
import { Assertion } from "../parts/runs";
import { Table, type Column } from "../parts/table";

export function ConsumerView({ place: at }: { place: Place<"consumer"> }) {
  const id = part(at.path.key);
  const asked = useAsked<ConsumerDetails>(id, () => get<ConsumerDetails>(`consumers/${id}`));
  const consumer = asked.value?.consumer;
  return (
    <div class="view consumer-view">
      <Head kind="CONSUMER" word={(consumer?.type ?? t.consumerView.consumer).toLowerCase()} title={consumer?.name ?? t.consumerView.title} />
      <Answer asked={asked}>{(details) => <Shown details={details} />}</Answer>
    </div>
  );
}

function Shown({ details }: { details: ConsumerDetails }) {
  return (
    <>
      <Section title={t.consumerView.reach}>
        {details.withdrawn && <p class="note-bad">{t.consumerView.withdrawn}</p>}
        {details.description && <div class="about-text"><Folded text={details.description} most={600} /></div>}
        <Facts rows={[
          [t.owners, details.owners.length ? <Owners names={details.owners.map(({ name }) => name)} /> : <span class="muted">{t.people.nobody}</span>],
          [t.people.onCall, details.on_call],
          [t.people.contact, details.contact && <Contact text={details.contact} />],
          [t.people.notice, details.notice_days !== null && t.people.noticeDays(count(details.notice_days, ...t.nouns.day))],
          [t.people.deadline, details.deadline],
          [t.people.freshness, details.freshness_seconds !== null && t.people.freshFor(details.freshness_seconds)],
          [t.criticality, details.criticality],
          [t.tags, details.tags.length > 0 && <Tags tags={details.tags} />],
          [t.consumerView.url, details.url && <Text text={details.url} />],
          [t.aboutTab.declaredIn, details.declared?.sets.join(", ")],
          [t.aboutTab.contradictions, details.declared !== null && details.declared.contradictions.length > 0 && details.declared.contradictions.map(({ property }) => property).join(", ")],
        ]} />
      </Section>
      <Section title={t.consumerView.reads}>
        <Table rows={details.reads} columns={columnsOf(details)} of={(row) => row.dataset.key} label={t.consumerView.reads} noun={t.jobView.datasets} empty={noneOf(details, t.consumerView.readsNothing)} beyond={beyondOf(details.reads.length, details.reads_total)} />
      </Section>
    </>
  );
}

/** Whether the data is older than the consumer can use; null where one of both isn't known. */
export function stale(lastWritten: string | null, freshness: number | null, now = Date.now()): boolean | null {
  if (lastWritten === null || freshness === null) return null;
  return now - Date.parse(lastWritten) > freshness * 1_000;
}

const columnsOf = ({ freshness_seconds: freshness }: ConsumerDetails): Column<ConsumedDataset>[] => [
  { name: "dataset", title: t.dataset, cell: (row) => <span class={row.gone ? "gone" : ""}><AssetLink asset={row.dataset} under />{row.gone && <small class="muted"> {t.dropped}</small>}</span>, value: (row) => row.dataset.title ?? row.dataset.name },
  { name: "columns", title: t.columnsTab.title, value: (row) => row.columns.join(" ") || null, cell: ({ dataset: { namespace, name }, columns, columns_total: total }) => (
    columns.length === 0 ? <span class="muted">{t.consumerView.allColumns}</span> : (
      <><FoldedList most={5} items={columns.map((column) => <Link class="mono" to={place("column", { namespace, name, column })}>{column}</Link>)} />{total > columns.length && <small class="muted">{t.more(total - columns.length)}</small>}</>
    )
  ) },
  { name: "owners", title: t.owners, cell: (row) => namesOf(row.owners) || <span class="muted">–</span>, value: (row) => row.owners.map(({ name }) => name).join(" ") || null, wide: true },
  { name: "writers", title: t.versionsTab.by, value: (row) => row.writers.map(({ job }) => job.name).join(" ") || null, cell: (row) => (
    <ul class="lines">{row.writers.map((one) => <li><AssetLink asset={one.job} />{!one.observed && one.declared && <small class="muted"> {t.jobView.declaredOnly}</small>}</li>)}{row.writers_total > row.writers.length && <li class="muted">{t.more(row.writers_total - row.writers.length)}</li>}</ul>
  ) },
  { name: "written", title: t.consumerView.written, value: (row) => row.last_written, cell: (row) => (
    <>{row.last_written ? <Time at={row.last_written} /> : <span class="muted">{t.consumerView.neverWritten}</span>}{stale(row.last_written, freshness) && <small class="warn"> {t.consumerView.tooOld}</small>}</>
  ) },
  { name: "checks", title: t.checks, value: (row) => row.checks.reduce((sum, check) => sum + check.failed.length, 0), cell: (row) => {
    const failed = row.checks.flatMap((check) => check.failed);
    const passed = row.checks.reduce((sum, check) => sum + check.passed, 0);
    if (row.checks.length === 0) return <span class="muted">{t.consumerView.noChecks}</span>;
    return <><State state={failed.length ? "FAILED" : passed ? "PASSED" : null} /> {t.checked.counts(failed.length, passed)}{failed.length > 0 && <FoldedList most={3} items={failed.map((one) => <Assertion of={one} />)} />}</>;
  } },
];
