// Who asks, and the log-in and log-out of people, where the server has these.

import { me, Problem } from "./api";
import { h } from "./dom";
import { shortened } from "./format";

/** Show who is logged in; nothing where the server knows nobody by name. */
export async function showWho(place: HTMLElement, report: (error: unknown) => void): Promise<void> {
  const { source, subject } = await me();
  if (source === "anonymous") return;
  place.replaceChildren(
    h("span", { title: `Logged in as ${subject}` }, shortened(subject, 24)),
    source === "session" ? h("button", { id: "logout", onclick: () => void logOut().catch(report) }, "Log out") : "",
  );
  place.hidden = false;
}

/** End the session here, and go where it ends at the provider. */
async function logOut(): Promise<void> {
  const answer = await fetch("logout", { method: "POST" });
  if (!answer.ok) throw new Problem("You are still logged in.", `The server answered ${answer.status}.`);
  location.assign(((await answer.json()) as { location: string }).location);
}
