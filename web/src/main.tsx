// The page: its frame, and the view of the place that the address names.

import "./app/app.css";
import "./parts/parts.css";
import "./stage/stage.css";
import "./timeline/timeline.css";
import "./views/views.css";

import { render } from "preact";

import { escapeTexts } from "./app/escapes";
import { follow } from "./app/navigation";
import { Shell } from "./app/shell";
import { applyTheme, askWho } from "./app/state";

escapeTexts();
applyTheme();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => applyTheme());
follow();
askWho();
render(<Shell />, document.body);
