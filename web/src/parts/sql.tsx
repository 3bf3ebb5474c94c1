// SQL, formatted and highlighted; names of known columns are links. All of it is text.

import { useMemo, useState } from "preact/hooks";

import type { Place } from "../app/address";
import { t } from "../app/texts";
import { Copy, Link } from "./basics";
import { columnsByName, lines, named, spaced, type Token } from "./sqltext";

/** Lines that are shown at first. */
const FOLDED = 24;
/** Longer texts are shown as they are: formatting them would keep the page busy. */
const LONGEST = 200_000;

interface Given {
  text: string;
  /** Names of columns of the dataset. */
  columns?: readonly string[];
  onColumn?: (column: string) => void;
  /** Where a column's link leads; without it and `onColumn`, names aren't linked. */
  to?: (column: string) => Place;
}

export function Sql({ text, columns = [], onColumn, to }: Given) {
  const [open, set] = useState(false);
  const [raw, setRaw] = useState(text.length > LONGEST);
  const all = useMemo(() => (raw ? [] : lines(text)), [text, raw]);
  const known = useMemo(() => columnsByName(columns), [columns]);
  const rawLines = useMemo(() => (raw ? text.split("\n") : []), [text, raw]);
  const many = raw ? rawLines.length : all.length;
  const long = many > FOLDED + 4;
  const last = long && !open ? FOLDED : many;
  const word = (token: Token) => {
    const column = token.kind === "name" ? known.get(named(token).toLowerCase()) : undefined;
    if (column !== undefined && to) return <Link class="sql-column" to={to(column)}>{token.text}</Link>;
    if (column !== undefined && onColumn) return <button class="sql-column link" onClick={() => onColumn(column)}>{token.text}</button>;
    return <span class={`sql-${token.kind}`}>{token.text}</span>;
  };
  return (
    <div class="sql">
      <pre class="sql-text" tabIndex={0} aria-label={t.sqlLabel}>
        {raw ? rawLines.slice(0, last).join("\n") : all.slice(0, last).map(({ indent, tokens }) => (
          <code class="sql-line">{"  ".repeat(indent)}{tokens.map((token, index) => <>{spaced(tokens[index - 1], token) ? " " : ""}{word(token)}</>)}{"\n"}</code>
        ))}
      </pre>
      <p class="row">
        {long && <button class="link" aria-expanded={open} onClick={() => set(!open)}>{open ? t.showLess : t.showAllLines(many)}</button>}
        {text.length <= LONGEST && <button class="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>{raw ? t.sqlFormatted : t.sqlRaw}</button>}
        <Copy class="link" text={text}>{t.copy}</Copy>
      </p>
    </div>
  );
}
