// The stage, loaded beside the first questions: the page asks before a library that draws is compiled.

import { useEffect, useState } from "preact/hooks";

import { report } from "../app/state";
import { Waiting } from "../parts/basics";
import type { Given, exportPicture as exporting } from "./stage";

type Module = typeof import("./stage");

let loaded: Module | null = null;
const loading: Promise<Module | null> = import("./stage").then((module) => (loaded = module), (error: unknown) => (report(error), null));

export function Stage(given: Given) {
  const [module, set] = useState(loaded);
  useEffect(() => {
    if (!module) void loading.then(set);
  }, [module]);
  return module ? <module.Stage {...given} /> : <div class="stage"><Waiting /></div>;
}

export const exportPicture: typeof exporting = (...given) => loaded?.exportPicture(...given);
