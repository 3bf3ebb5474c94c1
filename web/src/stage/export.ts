// A whole picture as a file: SVG, PNG of the same, and Mermaid. Nothing is cropped to what is in sight.

import { visible } from "../app/format";
import { accent, css, tone } from "../app/palette";
import { t } from "../app/texts";
import { FONT, HEAD, NAME, ROW, SMALL, WIDTH, fitted, heightOf, markAt, marksOf } from "./elements";
import { pulls } from "./geometry";
import type { Placed, Point } from "./layout";
import { CHANGE_COLOURS, type Arrow, type Box, type Picture } from "./picture";

const MARGIN = 30;
/** Chromium and Safari draw no canvas of more pixels on a side. */
const MOST_PIXELS = 8_192;

const xml = (text: string): string => visible(text).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** The picture as SVG, in the colours that the page has; each arrow is one path with its key. */
export function svg(picture: Picture, placed: Placed, caption: string): string {
  const boxes = new Map(picture.boxes.map((one) => [one.key, one]));
  const corners = [...placed.places].flatMap(([key, { x, y }]) => {
    const one = boxes.get(key);
    return one ? [{ x, y }, { x: x + WIDTH, y: y + heightOf(one) }] : [];
  });
  for (const route of placed.routes.values()) corners.push(...route);
  const [x1, y1] = [Math.min(...corners.map(({ x }) => x)) - MARGIN, Math.min(...corners.map(({ y }) => y)) - MARGIN];
  const [x2, y2] = [Math.max(...corners.map(({ x }) => x)) + MARGIN, Math.max(...corners.map(({ y }) => y)) + MARGIN + 24];
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(x2 - x1)}" height="${Math.ceil(y2 - y1)}" viewBox="${x1} ${y1} ${x2 - x1} ${y2 - y1}" font-family="${xml(FONT)}">`,
    `<title>${xml(caption)}</title>`,
    `<rect x="${x1}" y="${y1}" width="${x2 - x1}" height="${y2 - y1}" fill="${css("canvas")}"/>`,
    `<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0 8 4 0 8z" fill="${css("line")}"/></marker></defs>`,
    ...picture.arrows.map((one) => arrowPath(one, boxes, placed)),
    ...picture.boxes.map((one) => boxShape(one, placed.places.get(one.key))),
    `<text x="${x1 + 12}" y="${y2 - 10}" font-size="${SMALL}" fill="${css("muted")}">${xml(caption)}</text>`,
    "</svg>",
  ];
  return parts.join("\n");
}

function arrowPath(one: Arrow, boxes: Map<string, Box>, placed: Placed): string {
  const [source, target] = [boxes.get(one.source), boxes.get(one.target)];
  const [from, to] = [placed.places.get(one.source), placed.places.get(one.target)];
  if (!source || !target || !from || !to) return "";
  const route: Point[] = placed.routes.get(one.key) ?? (one.source === one.target
    ? [{ x: from.x + 60, y: from.y }, { x: from.x + 60, y: from.y - 24 }, { x: from.x + 150, y: from.y - 24 }, { x: from.x + 150, y: from.y }]
    : [{ x: from.x + WIDTH, y: from.y + HEAD / 2 }, { x: to.x, y: to.y + HEAD / 2 }]);
  const dash = one.line === "observed" && one.change !== "REMOVED" ? "" : ` stroke-dasharray="${one.line === "possible" ? "2 4" : "6 4"}"`;
  const colour = css(one.change ? CHANGE_COLOURS[one.change] : "line");
  const along = labelled(route);
  const label = one.label && placed.labels?.get(one.key) !== null && `<text x="${along.x}" y="${along.y - 5}" font-size="${SMALL}" text-anchor="middle" fill="${css("muted")}" stroke="${css("canvas")}" stroke-width="3" paint-order="stroke">${xml(fitted(one.label, `${SMALL}px ${FONT}`, 130))}</text>`;
  const columns = one.mappings.flatMap(({ source: input, target: output, direct }) => {
    const [i, o] = [source.rows.findIndex(({ name }) => name === input), target.rows.findIndex(({ name }) => name === output)];
    if (i < 0 || o < 0) return [];
    const [begin, end] = [{ x: from.x + WIDTH, y: from.y + HEAD + (i + 0.5) * ROW }, { x: to.x, y: to.y + HEAD + (o + 0.5) * ROW }];
    const [a, b] = pulls(begin, end) as [Point, Point];
    return [`<path class="mapping" d="M${begin.x} ${begin.y}C${a.x} ${a.y} ${b.x} ${b.y} ${end.x} ${end.y}" fill="none" stroke="${css("mapping")}"${direct ? "" : ' stroke-dasharray="4 3"'}/>`];
  });
  return [
    `<path class="arrow" data-arrow="${xml(one.key)}" d="M${route.map(({ x, y }) => `${x} ${y}`).join("L")}" fill="none" stroke="${colour}" stroke-width="${one.change ? 2.6 : 1.6}"${dash} marker-end="url(#head)"/>`,
    label || "",
    ...columns,
  ].join("");
}

/** Middle of an arrow's longest level part, or of its longest part: the label stands there. */
function labelled(route: Point[]): Point {
  const parts = route.slice(1).map((to, index) => [route[index] as Point, to] as const);
  const level = parts.filter(([from, to]) => from.y === to.y);
  const length = ([from, to]: readonly [Point, Point]): number => Math.hypot(to.x - from.x, to.y - from.y);
  const [from, to] = (level.length ? level : parts).reduce((longest, part) => (length(part) > length(longest) ? part : longest));
  return { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
}

function boxShape(one: Box, corner: Point | undefined): string {
  if (!corner) return "";
  const { x, y } = corner;
  const height = heightOf(one);
  const colour = one.severity ? css(`tone-${tone(one.severity)}`) : css(one.change ? CHANGE_COLOURS[one.change] : one.start ? "accent" : "border");
  const room = WIDTH - 26 - marksOf(one).length * 18;
  const text = (label: string, size: number, top: number, fill: string, weight = 400, wide = WIDTH - 26): string =>
    `<text x="${x + 16}" y="${y + top}" font-size="${size}" font-weight="${weight}" fill="${fill}">${xml(fitted(label, `${weight} ${size}px ${FONT}`, wide))}</text>`;
  return [
    `<g class="box" data-box="${xml(one.key)}"><title>${xml(one.whole)}</title>`,
    `<rect x="${x}" y="${y}" width="${WIDTH}" height="${height}" rx="8" fill="${css("surface")}" stroke="${colour}" stroke-width="${one.severity || one.change || one.start ? 2.5 : 1}"${one.kind === "group" || one.gone ? ' stroke-dasharray="5 4"' : ""}/>`,
    one.kind === "dataset" ? `<rect x="${x}" y="${y + 6}" width="6" height="${HEAD - 12}" rx="3" fill="${accent(one.asset?.type ?? null)}"/>` : "",
    text(one.title, NAME, 21, css("text"), 600, room),
    text(one.under, SMALL, 37, css("muted")),
    ...marksOf(one).map(({ state, sign }, index) => markShape(x + markAt(index).x, y + markAt(index).y, state, sign)),
    ...one.rows.map((row, index) => text(row.name, SMALL, HEAD + index * ROW + 15, css("text-2"))),
    one.rowsBeyond ? text(t.rowsMore(one.rowsBeyond), SMALL, HEAD + one.rows.length * ROW + 15, css("muted")) : "",
    ...([["up", one.up, x], ["down", one.down, x + WIDTH]] as const).map(([, many, at]) =>
      many ? `<text x="${at}" y="${y + height + 13}" font-size="${SMALL}" text-anchor="middle" fill="${css("accent")}">+${many}</text>` : ""),
    "</g>",
  ].join("");
}

function markShape(x: number, y: number, state: string, sign: string): string {
  const fill = css(state === "good" ? "good" : state === "bad" || state === "alarm" ? "tone-bad" : "muted");
  return `<circle class="mark ${state}" cx="${x}" cy="${y}" r="8" fill="${fill}"/><text x="${x}" y="${y + 4}" font-size="${SMALL}" font-weight="700" text-anchor="middle" fill="${css("on-accent")}">${xml(sign)}</text>`;
}

/** The SVG as PNG, two pixels for one where a canvas can be that large. */
export async function png(picture: Picture, placed: Placed, caption: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg(picture, placed, caption))}`;
  await image.decode();
  const scale = Math.min(2, MOST_PIXELS / image.width, MOST_PIXELS / image.height);
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(image.width * scale);
  canvas.height = Math.round(image.height * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) => canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("PNG"))), "image/png"));
}

/** The picture as a Mermaid flowchart, for documents (https://mermaid.js.org/syntax/flowchart.html). */
export function mermaid(picture: Picture): string {
  const ids = new Map(picture.boxes.map(({ key }, index) => [key, `n${index}`]));
  const label = (text: string): string => `"${visible(text).replace(/["#<>&`|{}[\]()\\]/g, (sign) => `#${sign.charCodeAt(0)};`)}"`;
  return [
    "flowchart LR",
    ...picture.boxes.map((one) => `  ${ids.get(one.key)}[${label(one.title)}]`),
    ...picture.arrows.map((one) => `  ${ids.get(one.source)} ${one.line === "observed" ? "-->" : "-.->"}${one.label ? `|${label(one.label)}|` : ""} ${ids.get(one.target)}`),
    "",
  ].join("\n");
}
