// Builds the page into the Python package: `npm run build`. A test compares the hash of the sources that is left there.

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = join(here, "..", "server", "headwater_server", "page");

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

await build({
  absWorkingDir: here,
  entryPoints: { page: "src/main.tsx", docs: "src/docs.ts" },
  jsx: "automatic",
  jsxImportSource: "preact",
  bundle: true,
  minify: true,
  format: "esm",
  splitting: true,
  chunkNames: "[name]-[hash]",
  target: ["chrome109", "firefox115", "safari16.4"],
  legalComments: "none",
  charset: "utf8",
  outdir: out,
});
const copy = (to, ...from) => copyFileSync(join(here, ...from), join(out, to));
copy("index.html", "src", "page.html");
copy("docs.html", "src", "docs.html");
copy("icon.svg", "src", "icon.svg");
copy("elk-worker.min.js", "node_modules", "elkjs", "lib", "elk-worker.min.js");
copy("swagger-ui-bundle.js", "node_modules", "swagger-ui-dist", "swagger-ui-bundle.js");
copy("swagger-ui.css", "node_modules", "swagger-ui-dist", "swagger-ui.css");

const version = (name) => JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8")).version;
const license = (name, file) => readFileSync(join(here, "node_modules", name, file), "utf8").trim();
writeFileSync(
  join(out, "NOTICES.txt"),
  [
    "Built into page.js and elk-worker.min.js are:",
    "",
    `Cytoscape.js ${version("cytoscape")}, https://js.cytoscape.org`,
    "",
    license("cytoscape", "LICENSE"),
    "",
    `elkjs ${version("elkjs")}, unchanged; its source is at https://github.com/kieler/elkjs`,
    "",
    license("elkjs", "LICENSE.md"),
    "",
    `Preact ${version("preact")}, https://preactjs.com`,
    "",
    license("preact", "LICENSE"),
    "",
    `@preact/signals ${version("@preact/signals")}, with @preact/signals-core ${version("@preact/signals-core")}, https://github.com/preactjs/signals`,
    "",
    license("@preact/signals", "LICENSE"),
    "",
    `swagger-ui-bundle.js and swagger-ui.css are of Swagger UI ${version("swagger-ui-dist")}, https://swagger.io/tools/swagger-ui,`,
    "unchanged.",
    "",
    license("swagger-ui-dist", "NOTICE"),
    "",
    license("swagger-ui-dist", "LICENSE"),
    "",
    "swagger-ui-bundle.js contains:",
    "",
    license("swagger-ui-dist", "swagger-ui-bundle.js.LICENSE.txt"),
    "",
  ].join("\n"),
);

// Sorted paths and contents of all that the build is made of.
const inputs = [
  ...readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(here, join(entry.parentPath ?? entry.path, entry.name)).replaceAll("\\", "/")),
  "build.mjs",
  "package.json",
  "package-lock.json",
].sort();
const hash = createHash("sha256");
for (const name of inputs) hash.update(`${name}\0`).update(readFileSync(join(here, name))).update("\0");
writeFileSync(join(out, "sources.sha256"), hash.digest("hex") + "\n");
