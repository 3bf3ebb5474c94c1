// The page: its frame, and the view of the place that the address names.

import "./app/app.css";
import "./parts/parts.css";
import "./stage/stage.css";
import "./timeline/timeline.css";
import "./views/views.css";

import { effect } from "@preact/signals";
import { render } from "preact";

import { escapeTexts } from "./app/escapes";
import { follow, here } from "./app/navigation";
import { Shell } from "./app/shell";
import { applyTheme, askWho } from "./app/state";
import { askAhead } from "./dataset/questions";
import { viewOf } from "./dataset/toolbar";

// What a dataset needs is asked for before anything is drawn of it.
effect(() => {
  const at = here.value;
  if (at?.route === "dataset") askAhead(at, viewOf(at) === "graph");
});
escapeTexts();
applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyTheme());
follow();
askWho();
render(<Shell />, document.body);
