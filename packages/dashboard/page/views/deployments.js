import { h } from "preact";
import { attentionOf, isWaiting, stripsOf, timelineOf } from "../fleet.js";
import { ago } from "../format.js";

/**
 * @import { App } from "../app.js"
 * @import { Strip } from "../fleet.js"
 * @import { DeploymentRow } from "../../src/rows/rows.ts"
 */

/** @type {readonly (readonly [keyof Strip, string])[]} */
const parts = [
  ["current", "up to date"],
  ["starting", "starting"],
  ["failing", "failing"],
  ["old", "old revision"],
  ["terminating", "terminating"],
  ["missing", "to be created"],
];

/** @param {{ readonly strip: Strip, readonly waits: boolean }} props */
function ProgressStrip({ strip, waits }) {
  const present = parts.filter(([part]) => strip[part] > 0);
  const total = present.reduce((sum, [part]) => sum + strip[part], 0);
  const text = present.map(([part, name]) => `${strip[part]} ${name}`).join(" · ") || "no machines";
  return h(
    "span",
    { class: "progress" },
    h(
      "span",
      { class: `strip${waits ? " waiting" : ""}`, "aria-hidden": true },
      present.map(([part]) =>
        h("span", { key: part, class: `part ${part}`, style: { width: `${(100 * strip[part]) / total}%` } }),
      ),
    ),
    h("span", { class: "quiet small" }, text),
  );
}

/** @param {{ readonly app: App, readonly deployment: DeploymentRow }} props */
function Timeline({ app, deployment }) {
  const sets = timelineOf(app.fleet, deployment).filter(
    ({ machines, desired, isCurrent }) => machines + desired > 0 || isCurrent,
  );
  if (sets.length < 2) return null;
  return h(
    "span",
    { class: "timeline" },
    sets
      .toReversed()
      .map(({ id, revision, machines, desired, isCurrent, className, created }) =>
        h(
          "span",
          { key: id, class: `revision${isCurrent ? " now" : ""}` },
          h("span", { class: "strong" }, `Revision ${revision || "?"}`),
          h("span", null, `${machines} of ${desired}`),
          h("span", { class: "quiet" }, `${className}, ${ago(created, app.nowMs)}`),
        ),
      ),
  );
}

/** @param {{ readonly app: App, readonly deployment: DeploymentRow, readonly strip: Strip | undefined }} props */
function Card({ app, deployment, strip }) {
  const { id, name, namespace, desired, ready, updated, progress, isPaused } = deployment;
  const attention = attentionOf(app.fleet, deployment);
  const isOpen = app.opened === id;
  return h(
    "li",
    { class: `card${isOpen ? " opened" : ""}` },
    h(
      "button",
      { type: "button", class: "cover", onClick: () => app.act.open(id), "aria-expanded": isOpen },
      h(
        "span",
        { class: "line" },
        h("span", { class: "name" }, name),
        app.fleet.namespaces.length > 1 && h("span", { class: "quiet small" }, namespace),
        isPaused && h("span", { class: "tag" }, "paused"),
      ),
      h(
        "span",
        { class: "numbers" },
        [
          /** @type {const} */ (["desired", desired]),
          /** @type {const} */ (["ready", ready]),
          /** @type {const} */ (["up to date", updated]),
        ].map(([label, value]) => h("span", { key: label }, h("span", { class: "number" }, value), ` ${label}`)),
      ),
      strip && h(ProgressStrip, { strip, waits: isWaiting(deployment) }),
      h(Timeline, { app, deployment }),
      progress !== "" && attention.length === 0 && h("span", { class: "quiet small clamp" }, progress),
      attention.map(({ title, message }) =>
        h(
          "span",
          { key: `${title} ${message}`, class: "attention small" },
          h("span", { class: "strong" }, `${title}: `),
          message,
        ),
      ),
    ),
  );
}

/** @param {{ readonly app: App }} props */
export function Deployments({ app }) {
  const strips = stripsOf(app.fleet);
  const rows = [...app.fleet.deployments.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return h(
    "section",
    { "aria-labelledby": "deployments" },
    h("h2", { id: "deployments" }, "Deployments"),
    rows.length === 0
      ? h("p", { class: "quiet" }, app.fleet.hasAll ? "There are no MachineDeployments." : "Loading")
      : h(
          "ul",
          { class: "cards" },
          rows.map((deployment) => h(Card, { key: deployment.id, app, deployment, strip: strips.get(deployment.id) })),
        ),
  );
}
