// How the canvas looks, in the colours of app.css.

import type { StylesheetJson } from "cytoscape";

import { FONT, NAME, SMALL, WIDTH } from "./elements";
import { CHANGE_COLOURS } from "./picture";
import { css } from "../app/palette";

export function style(): StylesheetJson {
  const surface = css("surface");
  const text = css("text");
  const line = css("line");
  const accent = css("accent");
  const tones = ["bad", "restricted", "warn", "info", "none"].flatMap((tone) => [
    {
      selector: `.box.tone-${tone}`,
      style: {
        "border-color": css(`tone-${tone}`),
        "border-width": 2.5,
        "background-gradient-stop-colors": `${css(`tone-${tone}`)} ${css(`tone-${tone}`)} ${css(`tone-${tone}-soft`)} ${css(`tone-${tone}-soft`)}`,
      },
    },
    { selector: `.column.tone-${tone}`, style: { "background-color": css(`tone-${tone}`), "background-opacity": 0.28 } },
  ]);
  return [
    { selector: "node", style: { "font-family": FONT, color: text, "overlay-opacity": 0 } },
    {
      selector: ".box",
      style: {
        shape: "round-rectangle",
        "corner-radius": "8px",
        width: WIDTH,
        height: "data(height)",
        "background-fill": "linear-gradient",
        "background-gradient-direction": "to-right",
        "background-gradient-stop-colors": (node: cytoscape.NodeSingular) =>
          `${node.data("accent")} ${node.data("accent")} ${surface} ${surface}`,
        "background-gradient-stop-positions": "0 2.6 2.6 100",
        "border-width": 1,
        "border-color": css("border"),
        "z-index": 1,
      },
    },
    { selector: ".start", style: { "border-color": accent, "border-width": 2 } },
    {
      selector: ".group",
      style: { "background-fill": "solid", "background-color": css("hover"), "border-style": "dashed", "border-color": css("muted") },
    },
    { selector: ".gone", style: { "border-style": "dashed", opacity: 0.6 } },
    {
      selector: ".name, .sub, .column, .rest",
      style: {
        shape: "rectangle",
        width: WIDTH - 8,
        height: 16,
        "background-opacity": 0,
        label: "data(label)",
        "text-valign": "center",
        "text-halign": "center",
        "text-margin-x": "data(margin)",
        "min-zoomed-font-size": 5,
        "z-index": 2,
      },
    },
    { selector: ".name", style: { "font-size": NAME, "font-weight": 600, events: "no" } },
    { selector: ".sub", style: { "font-size": SMALL, color: css("muted"), events: "no" } },
    { selector: ".rest", style: { "font-size": SMALL, color: css("muted") } },
    { selector: ".column", style: { height: 21, "font-size": SMALL, color: css("text-2"), "z-index": 3 } },
    {
      selector: ".more",
      style: {
        shape: "round-rectangle",
        "corner-radius": "12px",
        width: "data(wide)",
        height: 24,
        label: "data(label)",
        "font-size": SMALL,
        "font-weight": 600,
        "text-valign": "center",
        "text-halign": "center",
        color: accent,
        "background-color": surface,
        "border-width": 1.5,
        "border-color": accent,
        "z-index": 4,
      },
    },
    {
      selector: ".dot",
      style: {
        shape: "ellipse", width: 16, height: 16, label: "data(label)", "font-size": SMALL, "font-weight": 700, "text-valign": "center",
        "text-halign": "center", color: css("on-accent"), "background-color": css("muted"), events: "no", "z-index": 4,
      },
    },
    { selector: ".dot.good", style: { "background-color": css("good") } },
    { selector: ".dot.bad, .dot.alarm", style: { "background-color": css("tone-bad") } },
    ...tones,
    { selector: ".box.change-added", style: { "border-color": css(CHANGE_COLOURS.ADDED), "border-width": 3 } },
    { selector: ".box.change-removed", style: { "border-color": css(CHANGE_COLOURS.REMOVED), "border-width": 3, "border-style": "dashed" } },
    { selector: ".box.change-changed", style: { "border-color": css(CHANGE_COLOURS.CHANGED), "border-width": 3 } },
    {
      selector: "edge",
      style: {
        width: 1.6,
        "line-color": line,
        "target-arrow-color": line,
        "target-arrow-shape": "triangle",
        "arrow-scale": 0.9,
        "overlay-opacity": 0,
        "overlay-padding": 6,
        "curve-style": "straight",
      },
    },
    {
      selector: ".flow",
      style: {
        "font-family": FONT,
        "font-size": SMALL,
        color: css("muted"),
        "text-background-color": css("canvas"),
        "text-background-opacity": 0.92,
        "text-background-padding": "3px",
        "text-background-shape": "roundrectangle",
        "min-zoomed-font-size": 7,
      },
    },
    { selector: ".middle", style: { label: "data(label)" } },
    { selector: ".at-target", style: { "target-label": "data(label)", "target-text-offset": "data(along)" } },
    { selector: ".at-source", style: { "source-label": "data(label)", "source-text-offset": "data(along)" } },
    { selector: ".straight, .routed", style: { "source-endpoint": "data(out)", "target-endpoint": "data(into)" } },
    {
      selector: ".routed",
      style: {
        "curve-style": "round-segments",
        "segment-weights": "data(weights)",
        "segment-distances": "data(distances)",
        "segment-radii": 10,
        "edge-distances": "endpoints",
      },
    },
    {
      selector: ".loop",
      style: { "curve-style": "bezier", "loop-direction": "180deg", "loop-sweep": "-70deg", "control-point-step-size": "data(reach)" },
    },
    { selector: ".declared", style: { "line-style": "dashed" } },
    { selector: ".possible", style: { "line-style": "dotted" } },
    { selector: ".flow.change-added", style: { "line-color": css(CHANGE_COLOURS.ADDED), "target-arrow-color": css(CHANGE_COLOURS.ADDED), width: 2.6 } },
    { selector: ".flow.change-removed", style: { "line-color": css(CHANGE_COLOURS.REMOVED), "target-arrow-color": css(CHANGE_COLOURS.REMOVED), "line-style": "dashed", width: 2.6 } },
    { selector: ".flow.change-changed", style: { "line-color": css(CHANGE_COLOURS.CHANGED), "target-arrow-color": css(CHANGE_COLOURS.CHANGED), width: 2.6 } },
    { selector: ".faded", style: { opacity: 0.3 } },
    {
      selector: ".mapping",
      style: {
        width: 1.2,
        "arrow-scale": 0.6,
        "curve-style": "unbundled-bezier",
        "control-point-weights": "data(weights)",
        "control-point-distances": "data(distances)",
        "edge-distances": "endpoints",
        "source-endpoint": "90deg",
        "target-endpoint": "270deg",
        "line-color": css("mapping"),
        "target-arrow-color": css("mapping"),
        "z-index": 3,
      },
    },
    { selector: ".indirect", style: { "line-style": "dashed", "line-color": line, "target-arrow-color": line, opacity: 0.7 } },
    { selector: ".dim", style: { opacity: 0.18 } },
    { selector: ".flow.lit", style: { opacity: 1, width: 2.4, "line-color": accent, "target-arrow-color": accent, color: text, "z-index": 6 } },
    { selector: ".mapping.lit", style: { opacity: 1, width: 2, "line-color": accent, "target-arrow-color": accent, "z-index": 6 } },
    { selector: ".box.chosen", style: { "border-color": accent, "border-width": 3 } },
    { selector: ".column.chosen", style: { "background-color": accent, "background-opacity": 0.25 } },
    { selector: ".column.lit", style: { "background-color": accent, "background-opacity": 0.14 } },
  ] as unknown as StylesheetJson;
}
