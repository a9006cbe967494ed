import { h } from "preact";
import { departures } from "../fleet.js";
import { ago } from "../format.js";

/**
 * @import { App } from "../app.js"
 * @import { MachineRow } from "../../src/rows/rows.ts"
 */

/** Machines that are listed; the table of machines has all. */
const MAX_LISTED = 20;

/** Calls that end sooner are not listed, milliseconds: they would only flicker. */
const LONG_CALL_MS = 2_000;

/** @param {{ readonly app: App, readonly title: string, readonly id: string, readonly rows: readonly MachineRow[], readonly filter: string }} props */
function List({ app, title, id, rows, filter }) {
  if (rows.length === 0) return null;
  return h(
    "section",
    { "aria-labelledby": id },
    h("h2", { id }, title, " ", h("span", { class: "quiet" }, rows.length)),
    h(
      "ul",
      { class: "lines" },
      rows
        .slice(0, MAX_LISTED)
        .map((machine) =>
          h(
            "li",
            { key: machine.id },
            h(
              "button",
              { type: "button", class: "cover", onClick: () => app.act.open(machine.id) },
              h(
                "span",
                { class: "line" },
                h("span", { class: "name" }, machine.name),
                h("span", { class: "quiet small" }, ago(machine.since, app.nowMs)),
              ),
              h("span", { class: "small clamp" }, machine.cause),
            ),
          ),
        ),
    ),
    rows.length > MAX_LISTED &&
      h("button", { type: "button", class: "chip", onClick: () => app.act.filter(filter) }, `Show all ${rows.length}`),
  );
}

/** Drains with what blocks them, deletions that the budget holds, and calls of drivers that run. @param {{ readonly app: App }} props */
export function Departures({ app }) {
  const { held, drains } = departures(app.fleet);
  const calls = app.fleet.calls.filter(({ ms }) => ms >= LONG_CALL_MS);
  return h(
    "div",
    { class: "columns" },
    h(List, { app, title: "Held by the deletion budget", id: "held", rows: held, filter: "held" }),
    h(List, { app, title: "Drains", id: "drains", rows: drains, filter: "terminating drain" }),
    calls.length > 0 &&
      h(
        "section",
        { "aria-labelledby": "calls" },
        h("h2", { id: "calls" }, "Driver calls longer than 2s ", h("span", { class: "quiet" }, calls.length)),
        h(
          "ul",
          { class: "lines plain" },
          calls
            .slice(0, MAX_LISTED)
            .map(({ what, ms }, index) => h("li", { key: index }, `${what}, ${(ms / 1_000).toFixed(1)}s`)),
        ),
      ),
  );
}
