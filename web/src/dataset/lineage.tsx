// Lineage of a dataset: one answer as a picture or a table, a panel beside it, a timeline below.

import { useEffect, useMemo } from "preact/hooks";

import type { DatasetDetails, Drawing, Impact } from "../app/answers";
import { count, parted, time } from "../app/format";
import { useKey } from "../app/keys";
import { step, tweak } from "../app/navigation";
import { say } from "../app/state";
import { t } from "../app/texts";
import { Trouble, Waiting } from "../parts/basics";
import type { Change, Picture, Side } from "../stage/picture";
import { Stage } from "../stage/lazy";
import type { Chosen } from "../stage/stage";
import { Timeline } from "../timeline/timeline";
import { LineageTable } from "./lineage-table";
import { Panel } from "./panel";
import { PathTable } from "./path-table";
import { changesBetween, columnPath, passes, pictureOf, withRemoved, type Shown } from "./picture";
import { nameOf, useDrawing, useImpact, usePath, useWhole, type At } from "./questions";
import { datasetsOf, listsAllHits, severitiesOf } from "./severities";
import { Toolbar, hasPanel, showAs, startAt, viewOf } from "./toolbar";

const NOTHING: Picture = { boxes: [], arrows: [] };
const NO_CHANGES: ReadonlyMap<string, Change> = new Map();

/** What is selected, as the address has it. */
function chosenOf({ query }: At, start: string): Chosen {
  const key = query.sel || start;
  if (query.col) return { kind: "column", key, column: query.col };
  if (!query.sel) return null;
  return { kind: key.includes(">") ? "arrow" : /^(group|rest):/.test(key) ? "group" : "dataset", key };
}

export function LineageTab({ place: at, details }: { place: At; details: DatasetDetails | null }) {
  const { query } = at;
  const view = viewOf(at);
  const onlyPath = query.only && query.col !== "";
  const drawing = useDrawing(at, view === "graph" && !query.since && !onlyPath);
  const whole = useWhole(at, (view === "table" && !onlyPath) || query.since !== "");
  const earlier = useWhole(at, query.since !== "", query.since);
  const impact = useImpact(at).value;
  const start = details?.dataset ?? (view === "graph" ? drawing.value : whole.value)?.start ?? null;
  const chosen = chosenOf(at, start?.key ?? "");
  const path = usePath(at, query.sel || nameOf(at), onlyPath ? query.col : null);

  const severities = useMemo(() => severitiesOf(impact, query.severity), [impact, query.severity.join()]);
  const changed = useMemo(
    () => (query.since && whole.value && earlier.value ? { map: changesBetween(earlier.value, whole.value), graph: withRemoved(earlier.value, whole.value) } : null),
    [query.since, whole.value, earlier.value],
  );
  const graph: Drawing | null = query.since ? mostChanged(changed) : view === "table" ? whole.value : drawing.value;
  const alone = useMemo(() => {
    const from = path.value?.[0]?.start ?? start;
    return onlyPath && path.value && from ? columnPath(from, path.value, !query.nojobs) : null;
  }, [path.value, onlyPath, query.nojobs, start?.key]);
  const shown: Shown | null = useMemo(() => {
    if (onlyPath) return alone && { picture: alone, hidden: alone.undrawn, drawn: new Set(alone.boxes.map(({ key }) => key)) };
    return graph && pictureOf(graph, {
      columns: query.columns, jobs: !query.nojobs, group: query.group, open: query.open, severities,
      filters: query, rest: query.to ? [] : query.direction === "BOTH" ? ["up", "down"] : query.direction === "UPSTREAM" ? ["up"] : ["down"], column: query.col ? { key: query.sel || graph.start.key, name: query.col } : null, changes: changed?.map ?? NO_CHANGES,
    });
  }, [graph, alone, onlyPath, severities, changed, query.columns, query.nojobs, query.group, query.open.join(), query.col, query.col && query.sel, query.to, query.direction, [query.namespace, query.owner, query.type, query.tag].join("|")]);

  const hit = datasetsOf(severities);
  const undrawn = shown ? hit.filter((address) => !shown.drawn.has(address)).length : 0;
  const boxes = shown?.picture.boxes.map(({ key }) => key).join() ?? "";
  useEffect(() => {
    if (shown && start) say(t.drawn(shown.picture.boxes.length, parted(start).last));
  }, [boxes]);

  const problem = (onlyPath ? path : query.since && earlier.problem ? earlier : view === "table" ? whole : drawing).problem;
  /** Key of the job that an arrow stands for, or that writes or reads a dataset. */
  const jobOf = (key: string | undefined): string | undefined => {
    const edges = graph?.edges ?? [];
    return (edges.find((each) => each.key === key) ?? edges.find(({ target }) => target === key) ?? edges.find(({ source }) => source === key))?.via[0]?.job.key;
  };
  const choose = (to: Chosen): void => {
    // Of another dataset the panel begins anew.
    const panel = to?.column ? (query.change ? "columns" : "") : (to?.key ?? start?.key) === (query.sel || start?.key) ? query.panel : "";
    // The path of a column is another picture than the one that follows.
    const left = onlyPath && !to?.column ? { zoom: null } : {};
    if (!to) tweak("dataset", { sel: "", col: "", only: false, panel, ...left });
    // The timeline follows the picture, at the same span of time.
    else tweak("dataset", { sel: to.key === start?.key ? "" : to.key, col: to.column ?? "", nopanel: false, panel, timeline: query.timeline && (jobOf(to.key) ?? query.timeline), ...left });
    const edge = to?.kind === "arrow" ? graph?.edges.find(({ key }) => key === to.key) : null;
    if (edge) say(t.arrowBy(edge.via.map(({ job }) => job.name).join(", ")));
  };
  const expand = (key: string, side: Side, more: boolean): void =>
    step("dataset", { open: more ? [...query.open, `${side}:${key}`] : query.open.filter((one) => one !== `${side}:${key}` && !one.startsWith(`${side}:${key}:`)) });
  const open = (key: string): void => {
    const found = shown?.picture.boxes.find((box) => box.key === key);
    if (found?.kind === "group") choose({ kind: "group", key });
    else if (found?.asset && !found.start) startAt({ namespace: found.asset.namespace, name: found.asset.name }, at);
  };
  const keys = (pressed: string): boolean => {
    if (pressed === "c") tweak("dataset", { columns: !query.columns });
    else if (pressed === "o" && query.col) step("dataset", { only: !query.only, zoom: null });
    else if (pressed === "t") openTimeline();
    else return false;
    return true;
  };
  useKey("v", () => showAs(view === "graph" ? "table" : "graph"));
  const openTimeline = (): void => {
    const job = jobOf(query.sel || start?.key) ?? details?.producers[0]?.job.key ?? details?.consumers[0]?.job.key;
    if (job) tweak("dataset", { timeline: job, from: "", until: "" });
  };
  const name = parted(start ?? { ...at.path, title: null, type: null }).last;
  const table = view === "table" && graph && !onlyPath;
  const panel = hasPanel(at, view);
  return (
    <div class="lineage">
      <Toolbar at={at} graph={graph} name={name} />
      <Notes at={at} graph={graph} shown={shown} undrawn={undrawn} changed={changed} hits={impact} path={alone && { columns: alone.total, undrawn: view === "graph" ? alone.undrawn : 0, complete: alone.complete }} />
      <div class="lineage-body">
        {problem ? <div class="trouble-place"><Trouble problem={problem} again={drawing.again} choose={query.to && details ? (to) => step("dataset", { to }) : undefined} /></div>
          : onlyPath && view === "table" ? <div class="table-place">{alone ? <PathTable path={alone} column={query.col} sort={query.sort} onSort={(sort) => tweak("dataset", { sort })} find={query.find} onFind={(find) => tweak("dataset", { find })} /> : <Waiting />}</div>
          : table ? (
            <div class="table-place">
              <LineageTable graph={graph} rows={graph.nodes.filter((node) => node.asset.key === start?.key || passes(node, query))} hidden={shown?.hidden ?? 0} changes={changed?.map ?? null}
                impact={impact} sort={query.sort} onSort={(sort) => tweak("dataset", { sort })} find={query.find} onFind={(find) => tweak("dataset", { find })}
                chosen={query.sel || null} onChoose={(key) => tweak("dataset", { sel: key === start?.key ? "" : key, nopanel: false, panel: key === start?.key ? "about" : "" })} />
            </div>
          ) : view === "graph" ? (
            <div class="stage-place">
              {/* There before the answer is: the drawing library takes a tenth of a second to start. */}
              <Stage picture={shown?.picture ?? NOTHING} label={t.stageLabel(name)} name={name} chosen={chosen && shown && onlyPath ? pathChosen(chosen, shown) : chosen} onChoose={choose} onExpand={expand} onOpen={open} onTable={() => showAs("table")} onKey={keys}
                view={query.zoom} onView={(zoom) => drawing.waiting || tweak("dataset", { zoom })} />
              {shown ? <Legend /> : <Waiting />}
            </div>
          ) : <div class="stage-place"><Waiting /></div>}
        {panel && start && <Panel at={at} chosen={chosen} graph={graph} start={start} impact={impact} severities={severities} undrawn={undrawn} drawn={(key) => !!graph?.nodes.some(({ asset }) => asset.key === key)} />}
      </div>
      {query.timeline && (
        <section class="drawer" id="drawer" aria-label={t.timelineWord}>
          <button class="icon drawer-close" aria-label={t.closeTimeline} title={t.closeTimeline} onClick={() => tweak("dataset", { timeline: "", from: "", until: "" })}>✕</button>
          <Timeline job={query.timeline} from={query.from} until={query.until} onSpan={(from, until) => tweak("dataset", { from, until })} />
        </section>
      )}
    </div>
  );
}

/** Of a picture of changes, first what changed. */
function mostChanged(changed: { map: Map<string, Change>; graph: Drawing } | null): Drawing | null {
  if (!changed) return null;
  const { map, graph } = changed;
  const touched = new Set(graph.edges.filter(({ key }) => map.has(key)).flatMap(({ source, target }) => [source, target]));
  const rank = ({ asset, hops }: Drawing["nodes"][number]): number => (hops === 0 && asset.key === graph.start.key ? 0 : map.has(asset.key) ? 1 : touched.has(asset.key) ? 2 : 3);
  return { ...graph, nodes: [...graph.nodes].sort((a, b) => rank(a) - rank(b)) };
}

/** Boxes of a column's path have other keys: by address. */
function pathChosen(chosen: Chosen, { picture }: Shown): Chosen {
  const start = picture.boxes.find((box) => box.start);
  return chosen?.kind === "column" && start ? { ...chosen, key: start.key } : null;
}

interface NotesGiven {
  at: At;
  graph: Drawing | null;
  shown: Shown | null;
  undrawn: number;
  changed: { map: Map<string, Change>; graph: Drawing } | null;
  hits: Impact | null;
  /** Columns on the path of one, and their datasets that aren't drawn. */
  path: { columns: number; undrawn: number; complete: boolean } | null;
}

/** In one line: what isn't drawn, and why. */
function Notes({ at, graph, shown, undrawn, changed, hits, path }: NotesGiven) {
  const { query } = at;
  const notes: string[] = [];
  if (path !== null) {
    notes.push(t.pathOf(query.col, count(path.columns, ...t.nouns.column)));
    if (path.undrawn > 0) notes.push(t.pathUndrawn(path.undrawn));
    if (!path.complete) notes.push(t.pathIncomplete);
  } else if (graph && shown) {
    const missing = graph.metadata.nodes_total - graph.nodes.length;
    if (viewOf(at) === "graph") {
      const boxes = shown.picture.boxes.filter(({ kind }) => kind === "dataset").length;
      const beyond = graph.nodes.length - shown.hidden - shown.drawn.size + missing;
      const drawnOf = query.since ? t.drawnOfChanges : t.drawnOf;
      notes.push(beyond > 0 ? drawnOf(shown.drawn.size, graph.metadata.nodes_total - shown.hidden) : t.drawnAll(shown.drawn.size || boxes));
      if (shown.hidden > 0) notes.push(t.hiddenByFilter(shown.hidden));
      if (graph.metadata.truncated && beyond <= 0) notes.push(t.moreBeyondDepth);
    }
    if (query.to && graph.nodes.length === 1) notes.push(t.noPath(query.to));
    if (at.asOf && viewOf(at) === "table") notes.push(t.factsOfNow(time(at.asOf)));
    if (at.asOf && !query.to && graph.metadata.nodes_total === 1) notes.push(t.nothingBy(time(at.asOf)));
  }
  if (query.since) {
    if (changed) {
      const some = (kind: Change): [number, number] => {
        const keys = [...changed.map].flatMap(([key, each]) => (each === kind ? [key] : []));
        const arrows = keys.filter((key) => key.includes(">")).length;
        return [keys.length - arrows, arrows];
      };
      const incomplete = changed.graph.nodes.length >= 1_000;
      notes.push(t.changesSince(time(query.since), some("ADDED"), some("REMOVED"), some("CHANGED"), incomplete));
    } else notes.push(t.comparing);
  }
  if (undrawn > 0 && viewOf(at) === "graph") notes.push(t.hitsNotDrawn(undrawn, hits !== null && !listsAllHits(hits)));
  return <p class="stage-notes note" role="status">{notes.join(" · ")}</p>;
}

function Legend() {
  return (
    <ul class="legend" aria-label={t.legend}>
      {(["topic", "table", "file", "other"] as const).map((kind) => <li><i class={`swatch ${kind}`} />{t.kinds[kind]}</li>)}
      <li><i class="line" />{t.lines.observed}</li>
      <li><i class="line declared" />{t.lines.declared}</li>
      <li><i class="line possible" />{t.lines.possible}</li>
    </ul>
  );
}

