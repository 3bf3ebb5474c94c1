import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import ts from "typescript";
import { describe, expect, it } from "vitest";

const SOURCES = join(__dirname, "..", "src");
/** Attributes that people read or hear. */
const READ = new Set(["title", "label", "aria-label", "placeholder", "alt", "empty", "noun", "under", "word", "beyond"]);

/** `data(label)` is what Cytoscape takes from an element. */
const isText = (text: string): boolean => /\p{L}/u.test(text) && !text.startsWith("data(");

/** Texts that an expression may be, without those of the table. */
function textsOf(of: ts.Node | undefined): string[] {
  if (!of) return [];
  if (ts.isStringLiteralLike(of)) return [of.text];
  if (ts.isTemplateExpression(of)) return [of.head.text, ...of.templateSpans.flatMap(({ expression, literal }) => [...textsOf(expression), literal.text])];
  if (ts.isJsxExpression(of) || ts.isParenthesizedExpression(of) || ts.isSpreadElement(of)) return textsOf(of.expression);
  if (ts.isConditionalExpression(of)) return [...textsOf(of.whenTrue), ...textsOf(of.whenFalse)];
  if (ts.isArrayLiteralExpression(of)) return of.elements.flatMap(textsOf);
  if (!ts.isBinaryExpression(of)) return [];
  const sign = of.operatorToken.kind;
  if (sign === ts.SyntaxKind.AmpersandAmpersandToken) return textsOf(of.right);
  return [ts.SyntaxKind.PlusToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken].includes(sign) ? [...textsOf(of.left), ...textsOf(of.right)] : [];
}

/** Texts of a file that stand in it rather than in the table of texts, with their lines. */
function literals(name: string, source: string): string[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true, name.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const texts = ts.isJsxText(node) ? [node.text]
      : ts.isJsxExpression(node) && !ts.isJsxAttribute(node.parent) ? textsOf(node)
      : ts.isJsxAttribute(node) && READ.has(node.name.getText()) ? textsOf(node.initializer)
      : ts.isPropertyAssignment(node) && READ.has(node.name.getText()) ? textsOf(node.initializer)
      : ts.isCallExpression(node) && ["count", "say"].includes(node.expression.getText()) ? node.arguments.flatMap(textsOf)
      : [];
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    found.push(...texts.filter(isText).map((text) => `${name}:${line}: ${text.trim()}`));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

describe("texts of the page", () => {
  it("stand in one table, from which another language is made", () => {
    const names = readdirSync(SOURCES, { recursive: true }).map(String).filter((name) => /\.tsx?$/.test(name) && !name.startsWith("texts") && !name.endsWith("answers.ts"));
    expect(names.length).toBeGreaterThan(50);
    expect(names.flatMap((name) => literals(name, readFileSync(join(SOURCES, name), "utf8")))).toEqual([]);
  }, 60_000);

  it.each([
    "<p>Nothing</p>", '<p>{none && "Nothing"}</p>', '<p title="Nothing" />', "<p aria-label={`${many} rows`} />", '<Table noun={["row", "rows"]} />',
    'count(many, "row")', 'say(many ? "Some" : t.none)', '[{ name: "x", title: "Name" }]',
  ])("are found in %s", (source) => expect(literals("a.tsx", source)).not.toEqual([]));

  it.each(['<p class="note">{t.none}: {number(3)} ×</p>', '<p title={kind === "JOB" ? t.job : t.dataset} />', "count(many, ...t.nouns.row)", 'tweak("dataset", { sel: "" })'])(
    "are none in %s", (source) => expect(literals("a.tsx", source)).toEqual([]));
});
