// Tab of a dataset: all its columns, and what changed in its schema.

import type { DatasetDetails, DrawnColumn, KnownColumn, KnownSchema } from "../app/answers";
import { place, type Place } from "../app/address";
import { count } from "../app/format";
import { tweak } from "../app/navigation";
import { t } from "../app/texts";
import { Answer, Link, Section, Time } from "../parts/basics";
import { FoldedList } from "../parts/fold";
import { Tags, tagsOf, tagText } from "../parts/people";
import { Table, type Column } from "../parts/table";
import { useColumnsThen } from "./questions";

interface Given {
  place: Place<"dataset">;
  details: DatasetDetails;
}

interface Row {
  column: KnownColumn;
  ordinal: number;
  tags: { key: string; value: string }[];
  description: string | null;
  sensitivity: string | null;
}

/** A column with what is declared of it. */
export function rowsOf(details: Pick<DatasetDetails, "columns" | "declared">): Row[] {
  return details.columns.map((column, index) => {
    const declared = (details.declared?.columns?.[column.name] ?? {}) as Record<string, unknown>;
    const text = (name: string): string | null => (typeof declared[name] === "string" ? (declared[name] as string) : null);
    const tags = tagsOf({ tags: column.tags, declared: { sets: [], columns: {}, contradictions: [], values: declared } });
    return { column, ordinal: index + 1, tags, description: column.description ?? text("description"), sensitivity: text("sensitivity") };
  });
}

export function Columns({ place: at, details }: Given) {
  const schemas = at.asOf ? details.schemas.filter(({ first_seen: first }) => first === null || Date.parse(first) <= Date.parse(at.asOf)) : details.schemas;
  return (
    <div class="tab-body">
      <Section title={t.columnsTab.title}>{at.asOf ? <ColumnsThen place={at} /> : <ColumnsNow place={at} details={details} />}</Section>
      <Section title={t.schemaTab.title}>
        <p class="note">{details.schemas_total > details.schemas.length ? t.schemaTab.someOf(details.schemas.length, details.schemas_total) : count(schemas.length, ...t.nouns.schema)}</p>
        <ol class="schemas">{schemas.map((schema, index) => <li><Schema schema={schema} latest={index === 0} /></li>)}</ol>
      </Section>
    </div>
  );
}

/** Columns of the schema at the time that the page shows. */
function ColumnsThen({ place: at }: { place: Place<"dataset"> }) {
  const asked = useColumnsThen(at);
  const { namespace, name } = at.path;
  const columns: Column<DrawnColumn & { ordinal: number }>[] = [
    { name: "ordinal", title: t.columnsTab.ordinal, cell: ({ ordinal }) => ordinal, value: ({ ordinal }) => ordinal, number: true, wide: true },
    { name: "name", title: t.columnsTab.name, value: (row) => row.name, cell: (row) => <Link class="mono" to={place("column", { namespace, name, column: row.name }, { asOf: at.asOf })}>{row.name}</Link> },
    { name: "type", title: t.columnsTab.type, cell: ({ type }) => <span class="mono clamp" title={type ?? ""}>{type ?? "–"}</span>, value: ({ type }) => type },
  ];
  return (
    <Answer asked={asked}>{({ nodes }) => {
      const start = nodes.find(({ hops }) => hops === 0);
      const rows = (start?.columns ?? []).map((column, index) => ({ ...column, ordinal: index + 1 }));
      const total = start?.columns_total ?? rows.length;
      return (
        <>
          <p class="note">{t.columnsTab.then}</p>
          <Table rows={rows} columns={columns} of={({ key }) => key} label={t.columnsTab.title} noun={t.columnsTab.noun} empty={t.columnsTab.noneThen}
            sort={at.query.sort} onSort={(sort) => tweak("dataset", { sort })} find={at.query.find} onFind={(find) => tweak("dataset", { find })}
            beyond={total > rows.length ? t.columnsTab.first(total) : undefined} />
        </>
      );
    }}</Answer>
  );
}

function ColumnsNow({ place: at, details }: Given) {
  const { namespace, name } = details.dataset;
  const rows = rowsOf(details);
  const beyond = details.columns_total - details.columns.length;
  const columns: Column<Row>[] = [
    { name: "ordinal", title: t.columnsTab.ordinal, cell: (row) => row.ordinal, value: (row) => row.ordinal, number: true, wide: true },
    { name: "name", title: t.columnsTab.name, value: (row) => row.column.name, cell: ({ column }) => (
      <span class={column.current ? "" : "gone"}><Link class="mono" to={place("column", { namespace, name, column: column.name })}>{column.name}</Link>{!column.current && <small class="muted"> {t.columnsTab.left}</small>}</span>
    ) },
    { name: "type", title: t.columnsTab.type, cell: ({ column }) => <span class="mono clamp" title={column.type ?? ""}>{column.type ?? "–"}</span>, value: ({ column }) => column.type },
    { name: "nullable", title: t.columnsTab.nullable, cell: ({ column }) => (column.nullable === null ? "–" : column.nullable ? t.yes : t.no), value: ({ column }) => (column.nullable === null ? null : column.nullable ? t.yes : t.no), wide: true },
    { name: "description", title: t.description, cell: ({ description }) => description && <span class="clamp" title={description}>{description}</span>, value: ({ description }) => description },
    { name: "tags", title: t.tags, cell: ({ tags }) => <Tags tags={tags} />, value: ({ tags }) => tags.map(tagText).join(" ") || null },
    { name: "sensitivity", title: t.sensitivity, cell: ({ sensitivity }) => sensitivity?.toLowerCase(), value: ({ sensitivity }) => sensitivity, wide: true },
    { name: "first", title: t.firstSeen, cell: ({ column }) => <Time at={column.first_seen} short />, value: ({ column }) => column.first_seen, wide: true },
    { name: "last", title: t.lastSeen, cell: ({ column }) => (column.current ? t.columnsTab.stillThere : <Time at={column.last_seen} short />), value: ({ column }) => column.last_seen, wide: true },
  ];
  return (
    <Table rows={rows} columns={columns} of={({ column }) => column.key} label={t.columnsTab.title} noun={t.columnsTab.noun} empty={t.columnsTab.none}
      sort={at.query.sort} onSort={(sort) => tweak("dataset", { sort })} find={at.query.find} onFind={(find) => tweak("dataset", { find })}
      beyond={beyond > 0 ? <>{t.columnsTab.first(details.columns_total)} <Link to={place("search", {}, { query: { q: details.dataset.title ?? name, kind: ["COLUMN"] } })}>{t.columnsTab.searchRest}</Link></> : undefined} />
  );
}

/** One change of a schema: `+ tax`, `- id`, `~ id int → bigint`. */
export function changeText({ change, column, before, after }: NonNullable<KnownSchema["changes"]>[number]): string {
  if (change === "ADDED") return `+ ${column}${after?.type ? ` ${after.type}` : ""}`;
  if (change === "REMOVED") return `- ${column}`;
  const types = before?.type !== after?.type ? ` ${before?.type ?? "?"} → ${after?.type ?? "?"}` : "";
  const nulls = before?.nullable !== after?.nullable ? ` ${t.schemaTab.nullable(before?.nullable ?? null)} → ${t.schemaTab.nullable(after?.nullable ?? null)}` : "";
  return `~ ${column}${types}${nulls}`;
}

const TONES: Record<string, string> = { ADDED: "added", REMOVED: "removed", CHANGED: "changed" };

function Schema({ schema, latest }: { schema: KnownSchema; latest: boolean }) {
  const beyond = schema.changes_total - (schema.changes?.length ?? 0);
  return (
    <>
      <h3>{latest ? t.schemaTab.latest : t.schemaTab.former} <small class="muted">{t.since} <Time at={schema.first_seen} /> · {count(schema.columns_total, ...t.nouns.column)} · <span class="mono" title={schema.digest}>{schema.digest.slice(0, 8)}</span></small></h3>
      {schema.changes === null ? <p class="muted">{t.schemaTab.first}</p> : schema.changes.length === 0 && beyond <= 0 ? <p class="muted">{t.schemaTab.same}</p> : (
        <FoldedList most={12} items={schema.changes.map((change) => <code class={`change ${TONES[change.change] ?? ""}`}>{changeText(change)}</code>)} noun={(many) => count(many, ...t.nouns.change)} />
      )}
      {beyond > 0 && <p class="note">{t.schemaTab.unlisted(beyond)}</p>}
    </>
  );
}
