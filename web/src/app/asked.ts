// Questions of components: what is asked, what is known of the answer, what went wrong.

import { useEffect, useRef, useState } from "preact/hooks";

import { Problem } from "./api";
import { t } from "./texts";

export interface Asked<T> {
  /** The latest answer; that of another question is never shown. */
  value: T | null;
  problem: Problem | null;
  waiting: boolean;
  again: () => void;
}

/**
 * Ask when `question` changes; null asks nothing. An answer that comes after another question was asked is dropped. With
 * `keep` the answer before is shown until the next one is there.
 */
export function useAsked<T>(question: string | null, ask: () => Promise<T>, { keep = false } = {}): Asked<T> {
  const [state, set] = useState<{ of: string | null; value: T | null; problem: Problem | null }>({ of: null, value: null, problem: null });
  const [tries, retry] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    if (question === null) return undefined;
    let current = true;
    asking.current().then(
      (value) => current && set({ of: question, value, problem: null }),
      (error: unknown) => current && set({ of: question, value: null, problem: asProblem(error) }),
    );
    return () => {
      current = false;
    };
  }, [question, tries]);
  const answered = state.of === question;
  return {
    value: answered || (keep && question !== null) ? state.value : null,
    problem: answered ? state.problem : null,
    waiting: question !== null && !answered,
    again: () => retry((many) => many + 1),
  };
}

export const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(t.pageFailed, error instanceof Error ? error.message : String(error));
