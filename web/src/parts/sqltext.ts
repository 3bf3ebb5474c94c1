// SQL as lines of words: read into tokens, each clause on a line of its own. Pure functions, no dialect.

export type Kind = "keyword" | "name" | "string" | "number" | "comment" | "function" | "sign";
export interface Token {
  kind: Kind;
  text: string;
}
export interface Line {
  indent: number;
  tokens: Token[];
}

const WORDS = new Set(
  (
    "select distinct from where group by order having limit offset union all except intersect insert into overwrite values update set delete merge using when matched then not " +
    "join inner left right full outer cross semi anti lateral on and or in is null like ilike rlike between exists case else end as with recursive create replace table view temporary " +
    "if partition partitioned window over rows range unbounded preceding following current row asc desc nulls first last cast true false interval qualify tablesample pivot unpivot " +
    "drop alter add column truncate explode sort cluster distribute returning conflict do nothing escape any some materialized"
  ).split(" "),
);

// A string, a quoted name, a comment, a number, a word, or one sign. What is unfinished goes to the end of the text.
const PIECE =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>'(?:[^'\\]|''|\\[\s\S])*(?:'|$))|(?<quoted>"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$))|(?<number>\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?<word>[\p{L}_$@][\p{L}\p{N}_$@]*)|(?<sign><=>|<>|!=|<=|>=|\|\||::|->>?|=>|[^\s])/gu;

/** Tokens of a text, without its spaces. */
export function tokens(sql: string): Token[] {
  const found: Token[] = [];
  for (const match of sql.matchAll(PIECE)) {
    const { comment, string, quoted, number, word, sign } = match.groups ?? {};
    if (comment) found.push({ kind: "comment", text: comment.trimEnd() });
    else if (string) found.push({ kind: "string", text: string });
    else if (quoted) found.push({ kind: "name", text: quoted });
    else if (number) found.push({ kind: "number", text: number });
    else if (word) found.push(WORDS.has(word.toLowerCase()) && found[found.length - 1]?.text !== "." ? { kind: "keyword", text: word.toUpperCase() } : { kind: "name", text: word });
    else if (sign) found.push({ kind: "sign", text: sign });
  }
  return found.map((token, index) =>
    token.kind === "name" && found[index + 1]?.text === "(" && !/^["`]/.test(token.text) ? { ...token, kind: "function" as const } : token);
}

/** Begin a line at the level of the query. */
const CLAUSES = new Set(["SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "UNION", "EXCEPT", "INTERSECT", "INSERT", "VALUES", "UPDATE", "SET", "DELETE", "MERGE", "USING", "WITH", "WINDOW", "QUALIFY", "SORT", "CLUSTER", "DISTRIBUTE", "CREATE"]);
const JOINS = new Set(["JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "LATERAL"]);
/** Clauses whose list has one item a line. */
const LISTS = new Set(["SELECT", "SET"]);

interface Level {
  /** Indentation of clauses. */
  base: number;
  clause: string;
  /** A parenthesis without a query of its own: one line. */
  flat: boolean;
}

/** Lines of a statement. A text that is no SQL comes out as its words. */
export function lines(sql: string): Line[] {
  const all = tokens(sql);
  const result: Line[] = [];
  let line: Line = { indent: 0, tokens: [] };
  const levels: Level[] = [{ base: 0, clause: "", flat: false }];
  const level = (): Level => levels[levels.length - 1] as Level;
  const next = (indent: number): void => {
    if (line.tokens.length) result.push(line);
    line = { indent, tokens: [] };
  };
  all.forEach((token, index) => {
    const at = level();
    const before = all[index - 1];
    if (token.kind === "comment") {
      line.tokens.push(token);
      next(line.indent);
      return;
    }
    if (token.kind === "keyword" && !at.flat) {
      const joined = JOINS.has(token.text) && !(before && JOINS.has(before.text)) && before?.text !== "OUTER" && all[index + 1]?.text !== "(";
      if (CLAUSES.has(token.text) && !continues(token.text, before)) {
        next(at.base);
        at.clause = token.text;
      } else if (token.text === "SET") {
        at.clause = "SET";
      } else if (joined) {
        next(at.base);
        at.clause = "JOIN";
      } else if (token.text === "WHEN" && at.clause !== "SELECT" && !inCase(all, index)) {
        next(at.base);
      } else if ((token.text === "AND" || token.text === "OR") && ["WHERE", "HAVING", "JOIN", "USING", "QUALIFY"].includes(at.clause) && !inBetween(all, index) && !inCase(all, index)) {
        next(at.base + 1);
      }
    }
    line.tokens.push(token);
    if (token.text === "(") {
      const query = ["SELECT", "WITH"].includes(all[index + 1]?.text ?? "");
      levels.push({ base: query ? line.indent + 1 : at.base, clause: "", flat: !query });
      if (query) next(line.indent + 1);
    } else if (token.text === ")" && levels.length > 1) {
      const left = levels.pop() as Level;
      if (!left.flat) {
        line.tokens.pop();
        next(left.base - 1);
        line.tokens.push(token);
      }
    } else if (token.text === "," && !at.flat && LISTS.has(at.clause)) {
      next(at.base + 1);
    } else if (token.text === "," && !at.flat && at.clause === "WITH") {
      next(at.base);
    } else if (token.text === ";" && levels.length === 1) {
      next(0);
    }
  });
  next(0);
  return result;
}

/** `INSERT OVERWRITE`, `UNION ALL SELECT`: words within a clause. `WITHIN GROUP`, `IGNORE NULLS` are of functions. */
function continues(word: string, before: Token | undefined): boolean {
  const last = before?.text ?? "";
  if (word === "UPDATE" || word === "DELETE" || word === "INSERT") return last === "THEN";
  return (word === "SET" && last === "UPDATE") || (word === "FROM" && last === "DELETE") || (word === "FROM" && last === "DISTINCT");
}

function inBetween(all: Token[], index: number): boolean {
  if (all[index]?.text !== "AND") return false;
  for (let at = index - 1, depth = 0; at >= 0; at--) {
    const text = all[at]?.text;
    if (text === ")") depth++;
    else if (text === "(" && depth-- === 0) return false;
    else if (depth === 0 && text === "BETWEEN") return true;
    else if (depth === 0 && (text === "AND" || text === "OR" || CLAUSES.has(text ?? ""))) return false;
  }
  return false;
}

function inCase(all: Token[], index: number): boolean {
  let open = 0;
  for (let at = index - 1; at >= 0; at--) {
    if (all[at]?.text === "END") open--;
    else if (all[at]?.text === "CASE" && ++open > 0) return true;
  }
  return false;
}

/** Whether a space stands between two words. */
export function spaced(left: Token | undefined, right: Token): boolean {
  if (!left) return false;
  if ([",", ")", ".", ";", "]", "::"].includes(right.text) || ["(", ".", "[", "::", "@"].includes(left.text)) return false;
  if (right.text === "(" || right.text === "[") return left.kind !== "function" && left.kind !== "name" && left.text !== ")";
  return true;
}

/** The name that a token means: without its quotes. */
export const named = (token: Token): string => (/^["`]/.test(token.text) ? token.text.slice(1, -1).replace(/""/g, '"').replace(/``/g, "`") : token.text);

/** Names of columns by their last part, in small letters: SQL writes `value.amount` and `AMOUNT`. */
export function columnsByName(columns: readonly string[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const column of columns) {
    const last = column.slice(column.lastIndexOf(".") + 1).toLowerCase();
    if (!found.has(last)) found.set(last, column);
  }
  for (const column of columns) found.set(column.toLowerCase(), column);
  return found;
}
