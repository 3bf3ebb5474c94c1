// View of one column: what it is, what it is made from, and what is made from it, each in one step.

import type { ColumnDetails, Lineage, LineageItem, Transformation } from "../app/answers";
import { place, type Place } from "../app/address";
import { asOf, get, part, question, spelled, type Query } from "../app/api";
import { useAsked } from "../app/asked";
import { parted } from "../app/format";
import { t } from "../app/texts";
import { Answer, AssetLink, Facts, Link, Section, Time } from "../parts/basics";
import { Folded } from "../parts/fold";
import { Head, beforeOf } from "../parts/head";
import { More, beyondOf, noneOf, usePages } from "../parts/pages";
import { Owners, Tags, ownersOf, tagsOf } from "../parts/people";
import { Table, type Column } from "../parts/table";

export function ColumnView({ place: at }: { place: Place<"column"> }) {
  const { namespace, name, column } = at.path;
  const id = part(`${spelled({ namespace, name })}#${column}`);
  const details = useAsked<ColumnDetails>(id, () => get<ColumnDetails>(`columns/${id}`));
  const found = details.value;
  const dataset = place("dataset", { namespace, name });
  return (
    <div class="view column-view">
      <Head kind="COLUMN" before={found ? beforeOf(found.dataset) : namespace} title={<><Link to={dataset}>{found ? parted(found.dataset).last : name}</Link> · <span class="mono">{column}</span></>}>
        <Link class="button primary" to={place("dataset", { namespace, name }, { query: { columns: true, col: column, only: true } })}>{t.columnView.path}</Link>
        <Link class="button" to={place("dataset", { namespace, name }, { tab: "impact", query: { col: column, change: "REMOVED" } })}>{t.columnView.removal}</Link>
      </Head>
      <Answer asked={details}>{(answer) => <About found={answer} />}</Answer>
      {!details.problem && (
        <>
          <Side at={at} side="upstream" title={t.columnView.from} empty={t.columnView.fromNothing} />
          <Side at={at} side="downstream" title={t.columnView.into} empty={t.columnView.intoNothing} />
        </>
      )}
    </div>
  );
}

function About({ found }: { found: ColumnDetails }) {
  const { details, declared } = found;
  const values = declared as Record<string, unknown>;
  const text = (name: string): string | null => (typeof values[name] === "string" ? (values[name] as string) : null);
  const own = tagsOf({ tags: details.tags, declared: { sets: [], columns: {}, contradictions: [], values } });
  const description = details.description ?? text("description");
  return (
    <Section title={t.columnView.about}>
      {!details.current && <p class="note-bad">{t.columnView.left}</p>}
      {found.gone && <p class="note-bad">{t.columnView.gone}</p>}
      {description && <div class="about-text"><Folded text={description} most={600} /></div>}
      <Facts rows={[
        [t.columnsTab.type, <code>{details.type ?? t.unknown}</code>],
        [t.columnsTab.nullable, details.nullable === null ? t.unknown : details.nullable ? t.yes : t.no],
        [t.tags, own.length > 0 && <Tags tags={own} />],
        [t.columnView.datasetTags, found.tags.length > 0 && <Tags tags={found.tags} />],
        [t.owners, found.owners.length ? <Owners names={ownersOf({ declared: null, owners: found.owners })} /> : t.columnView.noOwners],
        [t.sensitivity, text("sensitivity")?.toLowerCase()],
        [t.classification, found.classification],
        [t.criticality, found.criticality],
        [t.firstSeen, details.first_seen && <Time at={details.first_seen} />],
        [t.lastSeen, !details.current && <Time at={details.last_seen} />],
        [t.columnView.types, found.types.length > 1 && <ul>{found.types.map((type) => <li><code>{type.type ?? t.unknown}</code> <small class="muted">{t.since} <Time at={type.first_seen} /></small></li>)}</ul>],
      ]} />
    </Section>
  );
}

/** How a column is made, in words: its kind, whether it is masked, and the expression. */
export function How({ of }: { of: Transformation }) {
  return (
    <span class="how">
      <span class={`kind ${of.type.toLowerCase()}`} title={of.type === "INDIRECT" ? t.columnView.indirect : t.columnView.direct}>{of.kind.replace("_DEPENDENCY", "").toLowerCase()}</span>
      {of.masking && <span class="kind masked">{t.columnView.masked}</span>}
      {of.whole && <span class="kind">{t.columnView.whole}</span>}
      {of.expression && <code class="clamp" title={of.expression}>{of.expression}</code>}
    </span>
  );
}

const COLUMNS: Column<LineageItem>[] = [
  { name: "asset", title: t.columnView.asset, cell: (row) => <span class={row.gone ? "gone" : ""}><AssetLink asset={row.asset} under />{row.gone && <small class="muted"> {t.dropped}</small>}</span>, value: (row) => `${row.asset.column ?? ""} ${row.asset.title ?? row.asset.name}` },
  { name: "type", title: t.columnsTab.type, cell: (row) => (row.asset.kind === "COLUMN" ? <code>{row.asset.type ?? "–"}</code> : t.columnView.wholeDataset), value: (row) => row.asset.type, wide: true },
  { name: "how", title: t.columnView.how, cell: (row) => row.via.flatMap((via) => via.transformations).map((each) => <How of={each} />), value: (row) => row.via.flatMap((via) => via.transformations.map(({ kind, expression }) => `${kind} ${expression ?? ""}`)).join(" ") || null },
  { name: "jobs", title: t.columnView.jobs, value: (row) => row.via.map(({ job }) => job.name).join(" ") || null, cell: (row) => (
    <ul class="lines">{row.via.map((via) => <li><AssetLink asset={via.job} />{via.possible && <small class="muted"> {t.columnView.possible}</small>}{!via.observed && via.declared && <small class="muted"> {t.columnView.declared}</small>}</li>)}
      {row.via_total > row.via.length && <li class="muted">{t.more(row.via_total - row.via.length)}</li>}</ul>
  ) },
  { name: "seen", title: t.lastSeen, cell: (row) => <Time at={row.via[0]?.last_seen} short />, value: (row) => row.via[0]?.last_seen ?? null, wide: true },
];

function Side({ at, side, title, empty }: { at: Place<"column">; side: "upstream" | "downstream"; title: string; empty: string }) {
  const path = `columns/${part(spelled(at.path))}/${part(at.path.column)}/${side}`;
  const query: Query = { depth: 1, as_of: asOf() };
  const pages = usePages<LineageItem, Lineage>(path, query);
  return (
    <Section title={title}>
      <Answer key={question(path, query)} asked={pages.asked}>{(answer) => {
        const notes = [...answer.notes, ...(answer.unknown_until ? [t.columnView.unknownUntil(answer.unknown_until)] : [])];
        return (
          <>
            <Table rows={pages.rows} columns={COLUMNS} of={(row) => `${row.asset.key} ${row.influence ?? ""}`} label={title} noun={t.columnView.noun}
              empty={answer.complete ? noneOf(answer, empty) : t.columnView.noneKnown} beyond={beyondOf(pages.rows.length, answer.total)} actions={<More pages={pages} />} />
            {!answer.complete && <p class="note">{t.columnView.incomplete}</p>}
            {notes.map((note) => <p class="note">{note}</p>)}
          </>
        );
      }}</Answer>
    </Section>
  );
}
