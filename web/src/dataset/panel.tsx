// Panel beside the picture: what is selected, in tabs, with what can be done in sight.

import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import type { Asset, DatasetDetails, Drawing, DrawnColumn, DrawnEdge, Impact, JobDetails, JobUse, KnownColumn, RunDetails, Timeline } from "../app/answers";
import { place, type PanelTab } from "../app/address";
import { get, part } from "../app/api";
import { useAsked } from "../app/asked";
import { count, number, offsets, parted, spelling } from "../app/format";
import { go, placeOf, step, tweak } from "../app/navigation";
import { keep, kept, narrow } from "../app/state";
import { t } from "../app/texts";
import { Answer, AssetLink, Chip, Facts, Link, OfNow, State, Time, Tone } from "../parts/basics";
import { Marks } from "../parts/marks";
import { namesOf } from "../parts/people";
import { Table, type Column } from "../parts/table";
import type { Chosen } from "../stage/stage";
import type { Side } from "../stage/picture";
import { About } from "./about";
import { Verdict } from "./impact";
import { Neighbours } from "./neighbours";
import { addressOf } from "./picture";
import { nameOf, useColumnsThen, useDetails, type At } from "./questions";
import { startAt } from "./toolbar";
import { WhatIf } from "./what-if";

interface Given {
  at: At;
  chosen: Chosen;
  graph: Drawing | null;
  start: Asset;
  impact: Impact | null;
  severities: ReadonlyMap<string, string>;
  undrawn: number;
  drawn: (key: string) => boolean;
}

const LEAST = 300;
const MOST = 760;

export function Panel(given: Given) {
  const { at, chosen, graph, start } = given;
  const [width, setWidth] = useState(kept("panel", 390));
  const from = useRef<{ x: number; width: number } | null>(null);
  const resize = (to: number): void => {
    const next = Math.max(LEAST, Math.min(MOST, to));
    setWidth(next);
    keep("panel", next);
  };
  const edge = chosen?.kind === "arrow" ? graph?.edges.find(({ key }) => key === chosen.key) : undefined;
  const rest = chosen?.kind === "group" && chosen.key.startsWith("rest:") ? (chosen.key.split(":")[1] as Side) : null;
  const key = chosen?.kind === "dataset" || chosen?.kind === "column" ? chosen.key : start.key;
  return (
    <aside id="panel" aria-label={t.details} style={narrow.value ? undefined : { width: `${width}px` }}>
      <div class="panel-edge" role="separator" aria-orientation="vertical" aria-label={t.resizePanel} tabIndex={0} aria-valuenow={width} aria-valuemin={LEAST} aria-valuemax={MOST}
        onKeyDown={(event) => (event.key === "ArrowLeft" ? resize(width + 40) : event.key === "ArrowRight" && resize(width - 40))}
        onPointerDown={(event) => {
          from.current = { x: event.clientX, width };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerMove={(event) => from.current && resize(from.current.width + from.current.x - event.clientX)}
        onPointerUp={() => (from.current = null)} />
      {edge ? <ArrowPanel at={at} edge={edge} graph={graph as Drawing} />
        : rest ? <RestPanel {...given} side={rest} key={rest} />
        : chosen?.kind === "group" ? <GroupPanel at={at} group={chosen.key} graph={graph} />
        : <DatasetPanel {...given} dataset={key} column={chosen?.column ?? ""} key={key} />}
    </aside>
  );
}

function Head({ chip, title, under, children }: { chip: string | null; title: ComponentChildren; under: string; children?: ComponentChildren }) {
  return (
    <header class="panel-head">
      <div class="panel-title">
        <div><Chip kind={chip} /><h2>{title}</h2><p class="under" title={under}>{under}</p></div>
        <button class="icon" aria-label={t.closePanel} title={t.closePanel} onClick={() => tweak("dataset", { nopanel: true, sel: "", col: "", panel: "" })}>✕</button>
      </div>
      {children}
    </header>
  );
}

function DatasetPanel({ at, dataset, column, start, graph, impact, severities, undrawn }: Given & { dataset: string; column: string }) {
  const isStart = dataset === start.key;
  const asked = useDetails(isStart ? nameOf(at) : dataset);
  const details = asked.value;
  const tab: PanelTab = at.query.panel || (at.query.change ? "impact" : column ? "columns" : "about");
  const node = graph?.nodes.find(({ asset }) => asset.key === dataset);
  const asset = details?.dataset ?? node?.asset;
  if (!asset) return <Answer asked={asked}>{() => null}</Answer>;
  const expand = (side: Side): void => step("dataset", { open: [...at.query.open, `${side}:${dataset}`] });
  const tabs: [PanelTab, string, number | null][] = [["about", t.tabAbout, null], ["columns", t.tabColumns, at.asOf ? null : (details?.columns_total ?? null)], ["jobs", t.tabJobs, details ? details.producers_total + details.consumers_total : null], ["impact", t.whatIf, null]];
  return (
    <>
      <Head chip={asset.type} title={<Link to={placeOf(asset)} title={spelling(asset)}>{parted(asset).last}</Link>} under={spelling(asset)}>
        {!isStart && <Marks of={details?.incidents} dataset={dataset} />}
        <p class="row actions">
          {node && node.more_upstream > 0 && <button onClick={() => expand("up")}>← {t.upstreamMore(node.more_upstream)}</button>}
          {node && node.more_downstream > 0 && <button onClick={() => expand("down")}>{t.downstreamMore(node.more_downstream)} →</button>}
          {!isStart && <button onClick={() => startAt({ namespace: asset.namespace, name: asset.name }, at)}>{t.startHere}</button>}
          {column && <button aria-pressed={at.query.only} onClick={() => step("dataset", { only: !at.query.only, zoom: null })}>{t.onlyThisPath}</button>}
        </p>
        <div class="panel-tabs" role="tablist">
          {tabs.map(([name, title, many]) => (
            <button role="tab" id={`tab-${name}`} aria-selected={tab === name} aria-controls="panel-body" onClick={() => tweak("dataset", { panel: name })}>{title}{many !== null && <small> {number(many)}</small>}</button>
          ))}
        </div>
      </Head>
      <div id="panel-body" class="panel-body" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {!details ? <Answer asked={asked}>{() => null}</Answer>
          : tab === "about" ? <><OfNow asOf={at.asOf} /><About place={at} details={details} /></>
          : tab === "columns" ? <>{severities.size > 0 && <OfNow asOf={at.asOf} />}<Columns at={at} details={details} column={column} severities={severities} /></>
          : tab === "jobs" ? <><OfNow asOf={at.asOf} /><Jobs at={at} details={details} /></>
          : (
            <>
              {!impact && <OfNow asOf={at.asOf} />}
              <WhatIf at={at} details={details} column={column} key={`${dataset} ${column} ${at.query.change}`} />
              {impact && <Verdict at={at} impact={impact} name={parted(impact.start).last} undrawn={undrawn} />}
              {impact && <ImpactHits at={at} impact={impact} />}
            </>
          )}
      </div>
    </>
  );
}

const MOST_HITS = 30;

function ImpactHits({ at, impact }: { at: At; impact: Impact }) {
  const { severity } = at.query;
  const items = impact.items.filter((item) => severity.length === 0 || severity.includes(item.severity));
  return (
    <>
      <ul class="hits">
        {impact.hit_consumers.map((one) => <li><Tone severity={one.severity} /><span><b>{one.name}</b> <small>{one.type?.toLowerCase() ?? t.consumer}</small><small>{one.reason}</small></span></li>)}
        {items.slice(0, MOST_HITS).map((item) => <li title={item.reason}><Tone severity={item.severity} /><AssetLink asset={item.asset} /></li>)}
      </ul>
      <p><Link to={{ ...at, tab: "impact" }}>{t.allHitsOf(impact.total)}</Link></p>
    </>
  );
}

interface ColumnsGiven {
  at: At;
  details: DatasetDetails;
  /** The one that is chosen. */
  column: string;
  severities: ReadonlyMap<string, string>;
}

/** Columns of the schema at the time that the picture is of. */
function Columns(given: ColumnsGiven) {
  const { at, details } = given;
  const then = useColumnsThen(at, details.dataset.key);
  if (!at.asOf) return <ColumnList {...given} rows={details.columns.filter(({ current }) => current)} total={details.columns_total} listed={details.columns.length} />;
  return (
    <Answer asked={then}>{({ nodes }) => {
      const found = nodes.find(({ hops }) => hops === 0);
      const rows = found?.columns ?? [];
      return <><p class="note">{t.columnsTab.then}</p><ColumnList {...given} rows={rows} total={found?.columns_total ?? rows.length} listed={rows.length} /></>;
    }}</Answer>
  );
}

function ColumnList({ at, details, column, severities, rows, total, listed }: ColumnsGiven & { rows: readonly (KnownColumn | DrawnColumn)[]; total: number; listed: number }) {
  const severity = (name: string): string | null => severities.get(addressOf({ ...details.dataset, column: name })) ?? null;
  const columns: Column<KnownColumn | DrawnColumn>[] = [
    { name: "name", title: t.columnColumn, value: ({ name }) => name, width: "56%", cell: ({ name }) => (
      <button class="plain" aria-pressed={name === column} onClick={() => tweak("dataset", { sel: details.dataset.key, col: name === column ? "" : name, panel: "columns" })}>{name}</button>) },
    { name: "type", title: t.columnType, value: ({ type }) => type, cell: ({ type, name }) => <>{type ?? "–"} {severity(name) && <Tone severity={severity(name) ?? ""} />}</> },
  ];
  return (
    <Table rows={rows} columns={columns} of={({ name }) => name} label={t.tabColumns} noun={t.nouns.column} chosen={column} empty={at.asOf ? t.columnsTab.noneThen : undefined}
      beyond={total > listed ? <Link to={{ ...at, tab: "columns" }}>{t.allOf(total)}</Link> : undefined} />
  );
}

function Jobs({ at, details }: { at: At; details: DatasetDetails }) {
  const list = (title: string, uses: readonly JobUse[], total: number) => (
    <section class="part">
      <h3>{title} <small>{number(total)}</small></h3>
      <Table rows={uses} of={({ job }) => job.key} label={title} noun={t.nouns.job} beyond={total > uses.length ? t.moreNotListed(total - uses.length) : undefined} columns={[
        { name: "job", title: t.columnJob, value: ({ job }) => job.name, width: "62%", cell: ({ job, declared, observed }) => <><AssetLink asset={job} />{declared && !observed && <small> {t.declaredOnly}</small>}</> },
        { name: "last", title: t.lastSeen, value: ({ last_seen }) => last_seen, cell: ({ last_seen, job }) => <><Time at={last_seen} short /> <button class="link" onClick={() => tweak("dataset", { timeline: job.key, from: "", until: "" })}>{t.timelineWord}</button></> },
      ]} />
    </section>
  );
  return <>{list(t.writtenBy, details.producers, details.producers_total)}{list(t.readByTitle, details.consumers, details.consumers_total)}{at.query.timeline === "" && null}</>;
}

function RestPanel({ at, side, start, drawn }: Given & { side: Side }) {
  return (
    <>
      <Head chip={null} title={side === "up" ? t.allInputs : t.allReaders} under={t.neighboursOf(parted(start).last)} />
      <div class="panel-body"><Neighbours at={at} dataset={start.key} side={side} drawn={drawn} /></div>
    </>
  );
}

function GroupPanel({ at, group, graph }: { at: At; group: string; graph: Drawing | null }) {
  const [, side, ...rest] = group.split(":");
  const value = rest.join(":");
  const nodes = (graph?.nodes ?? []).filter((node) => (side === "up" ? node.hops < 0 : node.hops > 0) && groupValue(at, node) === value);
  return (
    <>
      <Head chip={null} title={value || t.noValue} under={count(nodes.length, ...t.nouns.dataset)}>
        <p class="row actions"><button onClick={() => step("dataset", { open: [...at.query.open, group], sel: "" })}>{t.openGroup}</button></p>
      </Head>
      <div class="panel-body">
        <Table rows={nodes} of={({ asset }) => asset.key} label={value} noun={t.nouns.dataset} columns={[{ name: "name", title: t.columnDataset, value: ({ asset }) => asset.name, cell: ({ asset }) => <AssetLink asset={asset} under /> }]} />
      </div>
    </>
  );
}

function groupValue(at: At, node: Drawing["nodes"][number]): string {
  const { group } = at.query;
  if (group === "namespace") return node.asset.namespace;
  if (group === "type") return node.asset.type ?? "";
  const values = group === "owner" ? (node.owners.length ? node.owners : node.owners_of_jobs) : node.tags;
  return values[0] ?? "";
}

function ArrowPanel({ at, edge, graph }: { at: At; edge: DrawnEdge; graph: Drawing }) {
  const ends = [edge.source, edge.target].map((key) => graph.nodes.find(({ asset }) => asset.key === key)?.asset) as [Asset, Asset];
  // With columns on the picture they are there; else they are asked for.
  const query = { asset: edge.source, direction: "DOWNSTREAM", open: [`DOWNSTREAM:${edge.source}:${edge.target}`], width: 1, limit: 3, columns: "ALL", as_of: at.asOf };
  const asked = useAsked(edge.columns_total === null ? JSON.stringify(query) : null, () => get<Drawing>("graph", query));
  const columns = edge.columns_total !== null ? edge : (asked.value?.edges.find(({ key }) => key === edge.key) ?? null);
  return (
    <>
      <Head chip="flow" title={`${parted(ends[0]).last} → ${parted(ends[1]).last}`} under={count(edge.via_total, ...t.nouns.job)} />
      <div class="panel-body">
        <OfNow asOf={at.asOf} />
        {edge.via.map((via) => <ArrowJob via={via} columns={columns} waiting={asked.waiting} key={via.job.key} />)}
        {edge.via_total > edge.via.length && <p class="note">{t.moreJobs(edge.via_total - edge.via.length)}</p>}
      </div>
    </>
  );
}

function ArrowJob({ via, columns, waiting }: { via: DrawnEdge["via"][number]; columns: DrawnEdge | null; waiting: boolean }) {
  const id = part(via.job.key);
  const latest = useAsked(via.job.key, () => get<Timeline>(`jobs/${id}/timeline`, { limit: 1 }));
  const job = useAsked(via.job.key, () => get<JobDetails>(`jobs/${id}`));
  const interval = latest.value?.intervals.at(-1);
  const runId = interval?.run_id ?? latest.value?.runs.at(-1)?.run_id ?? null;
  const run = useAsked(runId, () => get<RunDetails>(`runs/${part(runId ?? "")}`));
  const mappings = (columns?.columns ?? []).filter((mapping) => mapping.job === via.job.key);
  return (
    <section class="part arrow-job">
      <h3><AssetLink asset={via.job} /> <small>{(via.job.type ?? t.job).toLowerCase()}</small></h3>
      <Facts rows={[
        [t.seen, via.observed || via.possible ? <><Time at={via.first_seen} /> – <Time at={via.last_seen} /></> : t.neverObserved],
        [t.possible, via.possible && t.possibleOnly],
        [t.declaredWord, via.declared && (via.observed || via.possible) && t.yesWord],
        [t.incomplete, via.incomplete],
        [t.lastBatch, interval && <>{interval.batch_id}, <Time at={interval.processing_time} short />, {t.rowsInOut(number(interval.rows_in), number(interval.rows_out))}</>],
        ...(interval?.consumed.filter((use) => use.ranges.length) ?? []).map((use): [string, ComponentChildren] => [parted(use.dataset).last, offsets(use.ranges)]),
        [t.lastRun, runId && <><Link to={place("run", { id: runId })}>{runId.slice(0, 8)}</Link> {run.value && <State state={run.value.run.state} />}</>],
        ...(run.value?.notes ?? []).map((note): [string, ComponentChildren] => [t.note, note]),
        ...(run.value?.outputs ?? []).flatMap((use): [string, ComponentChildren][] => {
          const written = [use.uncommitted && t.notCommitted, use.branch && t.branch(use.branch), use.partition_columns.length && t.partitionedBy(use.partition_columns.join(", ")), use.partitions.slice(0, 5).join(", "), use.partitions.length > 5 && t.more(use.partitions.length - 5)].filter(Boolean).join(", ");
          return written ? [[t.wrote(parted(use.dataset).last), written]] : [];
        }),
        ...(job.value?.owners.length ? [[t.columnOwners, namesOf(job.value.owners)] as [string, ComponentChildren]] : []),
      ]} />
      <p class="row"><button onClick={() => tweak("dataset", { timeline: via.job.key, from: "", until: "" })}>{t.timelineOfJob}</button> <button class="link" onClick={() => go(placeOf(via.job))}>{t.allOfJob}</button></p>
      {waiting || columns === null ? <p class="note">{waiting ? t.waiting : t.columnsUnknown}</p> : mappings.length === 0 ? <p class="note">{t.columnsUnknown}</p> : (
        <Table rows={mappings} of={({ source, target, transformation }) => `${source}>${target}>${transformation.kind}`} label={t.mappings} noun={t.nouns.mapping}
          beyond={(columns.columns_total ?? 0) > columns.columns.length ? t.moreNotListed((columns.columns_total ?? 0) - columns.columns.length) : undefined} columns={[
            { name: "from", title: t.from, value: ({ source }) => source, cell: ({ source }) => source ?? t.allRows },
            { name: "to", title: t.to, value: ({ target }) => target, cell: ({ target }) => target ?? t.everyColumn },
            { name: "how", title: t.how, value: ({ transformation: { kind } }) => kind, cell: ({ transformation: { kind, masking, expression } }) => (
              <><span class="kind">{kind.replace("_DEPENDENCY", "").toLowerCase()}</span>{masking && <span class="kind masked">{t.masked}</span>}{expression && <code>{expression}</code>}</>) },
          ]} />
      )}
    </section>
  );
}
