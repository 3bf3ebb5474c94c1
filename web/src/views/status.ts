// How the server, Kafka, the graph and its consumer are: asked again while nothing is in the graph.

import { useEffect } from "preact/hooks";

import type { GraphStatus } from "../app/answers";
import { forget, get } from "../app/api";
import { useAsked, type Asked } from "../app/asked";

const AGAIN_MS = 3_000;

/** The status; asked every 3 s until a dataset is known, and while there is no answer. */
export function useStatus(): Asked<GraphStatus> {
  const asked = useAsked<GraphStatus>("status", () => get<GraphStatus>("status"));
  const unanswered = asked.problem !== null && asked.problem.status !== 404;
  const waits = (asked.value !== null && !asked.value.datasets) || unanswered;
  useEffect(() => {
    if (!waits) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "hidden") return;
      // Answers are kept for a minute: those of an empty graph are worth nothing.
      forget();
      asked.again();
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, [waits]);
  return asked;
}
