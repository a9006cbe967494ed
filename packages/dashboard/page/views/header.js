import { h } from "preact";
import { countPhases } from "../fleet.js";
import { duration } from "../format.js";

/** @import { App } from "../app.js" */

/**
 * Whether what is shown is current, and how old it is otherwise.
 *
 * @param {App} app
 * @returns {{ readonly tone: string, readonly text: string }}
 */
export function badgeOf({ connection, fleet, lastEventMs, nowMs }) {
  if (connection.state === "token") return { tone: "warn", text: "Token required" };
  if (connection.state === "lost" || (connection.state === "connecting" && lastEventMs > 0)) {
    const age = lastEventMs === 0 ? "" : `, ${duration(nowMs - lastEventMs)} old`;
    return { tone: "bad", text: `Disconnected${age}` };
  }
  if (connection.state === "connecting" || !fleet.hasAll) return { tone: "busy", text: "Loading" };
  // A short loss is part of every reconnection.
  if (fleet.lostForMs > 5_000) return { tone: "bad", text: `API server unreachable, ${duration(fleet.lostForMs)} old` };
  return { tone: "ok", text: "Live" };
}

/** @param {{ readonly app: App }} props */
export function Header({ app }) {
  const { tone, text } = badgeOf(app);
  const count = app.fleet.machines.size;
  return h(
    "header",
    { class: "top" },
    h("h1", null, "Millwright"),
    h("span", { class: "quiet namespace" }, app.fleet.namespaces.join(", ")),
    h(
      "span",
      { class: "phases" },
      h("span", { class: "strong" }, `${count} ${count === 1 ? "machine" : "machines"}`),
      countPhases(app.fleet).map(([phase, number]) =>
        h(
          "button",
          { key: phase, type: "button", class: "chip", onClick: () => app.act.filter(phase) },
          `${number} ${phase}`,
        ),
      ),
    ),
    h("span", { class: `badge ${tone}`, role: "status" }, text),
  );
}
