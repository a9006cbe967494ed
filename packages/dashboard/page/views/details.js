import { h } from "preact";
import { timelineOf } from "../fleet.js";
import { ago } from "../format.js";
import { LifecycleBar } from "./lifecycle.js";

/**
 * @import { ComponentChildren } from "preact"
 * @import { App } from "../app.js"
 */

/** @param {string} title @param {...ComponentChildren} content */
const part = (title, ...content) =>
  h("section", { key: title, class: "part-of-details" }, h("h3", null, title), ...content);

/**
 * A table; none where there are no rows.
 *
 * @param {string} title
 * @param {readonly string[]} heads
 * @param {readonly (readonly ComponentChildren[])[]} rows
 */
const table = (title, heads, rows) =>
  rows.length > 0 &&
  part(
    title,
    h(
      "div",
      { class: "wide", tabIndex: 0, role: "region", "aria-label": title },
      h(
        "table",
        null,
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            heads.map((head) => h("th", { key: head, scope: "col" }, head)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.map((cells, row) =>
            h(
              "tr",
              { key: row },
              cells.map((cell, column) => h("td", { key: column }, cell)),
            ),
          ),
        ),
      ),
    ),
  );

/** @param {readonly (readonly [string, ComponentChildren])[]} entries */
const facts = (entries) =>
  h(
    "dl",
    null,
    entries
      .filter(([, value]) => value !== "" && value !== undefined && value !== null)
      .flatMap(([name, value]) => [h("dt", { key: `${name} name` }, name), h("dd", { key: name }, value)]),
  );

/** @param {App} app @param {any} details */
const conditions = (app, { report }) =>
  table(
    "Conditions",
    ["Type", "Status", "Since", "Reason and message"],
    report.conditions.map((/** @type {any} */ { type, status, reason, message, lastTransitionTime, since }) => [
      type,
      status,
      ago(lastTransitionTime ?? since, app.nowMs),
      h("span", null, h("span", { class: "strong" }, reason), message ? `: ${message}` : ""),
    ]),
  );

/** @param {App} app @param {any} details */
const events = (app, { events: all, eventsProblem }) =>
  eventsProblem === undefined
    ? table(
        "Events",
        ["Age", "Reason", "Message"],
        all
          .toReversed()
          .map((/** @type {any} */ { time, type, reason, message, count }) => [
            ago(time, app.nowMs),
            h(
              "span",
              { class: type === "Warning" ? "warn-text strong" : "strong" },
              count > 1 ? `${reason} ×${count}` : reason,
            ),
            message,
          ]),
      )
    : part("Events", h("p", { class: "quiet" }, eventsProblem));

/** The command that explains an object, and a button that copies it. @param {string} kind @param {any} report */
const whyCommand = (kind, { name, namespace }) => {
  const command = `millwright why ${kind}/${name} -n ${namespace}`;
  const copy = (/** @type {{ readonly currentTarget: HTMLButtonElement }} */ { currentTarget }) =>
    navigator.clipboard.writeText(command).then(
      () => (currentTarget.textContent = "Copied"),
      () => (currentTarget.textContent = "Not allowed"),
    );
  return h(
    "p",
    { key: "why", class: "command" },
    h("code", null, command),
    " ",
    h("button", { type: "button", class: "chip", onClick: copy }, "Copy"),
  );
};

/** @param {any} details */
const yaml = ({ yaml: text }) =>
  h("details", null, h("summary", null, "YAML"), h("pre", { tabIndex: 0, "aria-label": "YAML" }, text));

/** @param {{ readonly name: string, readonly state: string }} node */
const nodeText = ({ name, state }) => (state === "present" ? name : `${name} (${state})`);

/** @param {App} app @param {any} details */
function machineParts(app, details) {
  const { report, calls } = details;
  const { lastOperation: operation = {}, next } = report;
  const row = app.opened === undefined ? undefined : app.fleet.machines.get(app.opened);
  return [
    row &&
      h(
        "p",
        { class: "life" },
        h(LifecycleBar, { steps: app.fleet.steps, step: row.step, tone: row.tone }),
        `${app.fleet.steps[row.step] ?? ""}, ${ago(row.since, app.nowMs)}`,
      ),
    facts([
      ["Phase", `${report.phase || "being created"}${report.since ? ` for ${ago(report.since, app.nowMs)}` : ""}`],
      ["Deployment", report.machineDeployment],
      ["Set", report.machineSet],
      ["Class", `${report.machineClass.name}${report.machineClass.exists ? "" : " (does not exist)"}`],
      ["Type", row?.vmType],
      ["Zone", row?.zone],
      ["Age", row && ago(row.created, app.nowMs)],
      ["VM", report.providerId],
      ["Node", report.node.name === "" ? report.node.state : nodeText(report.node)],
      ["Deletion", report.deletionPaused],
      ["Last operation", [operation.type, operation.state, operation.errorCode].filter(Boolean).join(" ")],
      ["", operation.description],
    ]),
    whyCommand("machine", report),
    part(
      "What happens next",
      h("p", null, next.controller),
      next.deadline && h("p", null, `At ${next.deadline.time} at the latest ${next.deadline.effect}.`),
      h("p", null, next.person),
    ),
    table(
      "Problems",
      ["Field", "Problem"],
      report.problems.map((/** @type {any} */ { path, message }) => [path, message]),
    ),
    conditions(app, details),
    table(
      "Attempts",
      ["Age", "Operation", "Outcome", "Message"],
      report.history
        .toReversed()
        .map((/** @type {any} */ { time, operation: what, outcome, message }) => [
          ago(time, app.nowMs),
          what,
          outcome,
          message,
        ]),
    ),
    table(
      "Driver calls",
      ["Age", "Call", "Result", "Duration"],
      calls
        .toReversed()
        .map((/** @type {any} */ { endedAt, what, code, ms }) => [
          ago(endedAt, app.nowMs),
          what,
          code,
          `${(ms / 1_000).toFixed(1)}s`,
        ]),
    ),
    events(app, details),
    yaml(details),
  ];
}

/** @param {App} app @param {any} details */
function deploymentParts(app, details) {
  const { report } = details;
  const row = app.opened === undefined ? undefined : app.fleet.deployments.get(app.opened);
  return [
    facts([
      [
        "Machines",
        `${report.desired} desired, ${report.updated} up to date, ${report.ready} ready, ${report.available} available`,
      ],
      ["Strategy", report.strategy],
      ["Class", report.className],
      ["", report.isObserved ? "" : "The controllers have not observed the last change yet."],
    ]),
    h(
      "p",
      null,
      h("button", { type: "button", class: "chip", onClick: () => app.act.filter(report.name) }, "Show its machines"),
    ),
    whyCommand("machinedeployment", report),
    table(
      "Rollout",
      ["Revision", "Age", "Set", "Class", "Machines"],
      (row ? timelineOf(app.fleet, row) : []).map(
        ({ revision, created, name, className, machines, desired, isCurrent }) => [
          isCurrent ? h("span", { class: "strong" }, `${revision} (current)`) : revision,
          ago(created, app.nowMs),
          name,
          className,
          `${machines} of ${desired}`,
        ],
      ),
    ),
    conditions(app, details),
    table(
      "Failed machines",
      ["Machine", "Last operation"],
      report.failed.map((/** @type {any} */ { name, message }) => [name, message]),
    ),
    report.notes.length > 0 &&
      part(
        "Notes",
        report.notes.map((/** @type {string} */ note) => h("p", { key: note }, note)),
      ),
    events(app, details),
    yaml(details),
  ];
}

/** @param {{ readonly app: App }} props */
export function Details({ app }) {
  const { opened, details } = app;
  if (opened === undefined) return null;
  const isMachine = opened.startsWith("machine/");
  const name = opened.slice(opened.lastIndexOf("/") + 1);
  const { state, value, problem } = details;
  return h(
    "aside",
    { class: "details", "aria-labelledby": "details-name", key: opened },
    h(
      "div",
      { class: "line head" },
      h("h2", { id: "details-name", tabIndex: -1 }, name),
      h(
        "button",
        { type: "button", class: "chip", onClick: () => app.act.close(), "aria-label": "Close" },
        "Close (esc)",
      ),
    ),
    h("p", { class: "quiet small" }, isMachine ? "Machine" : "MachineDeployment"),
    problem !== "" && h("p", { class: "attention" }, problem),
    state === "gone" &&
      h("p", { class: "attention" }, "It does not exist any more. What is shown is the last that was known."),
    state === "loading" && value === undefined && h("p", { class: "quiet" }, "Loading"),
    value !== undefined && (isMachine ? machineParts(app, value) : deploymentParts(app, value)),
  );
}
