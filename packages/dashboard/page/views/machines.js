import { h } from "preact";
import { ago } from "../format.js";
import { showsCause, visibleRange } from "../visible-range.js";
import { LifecycleBar } from "./lifecycle.js";

/**
 * @import { App } from "../app.js"
 * @import { TargetedEvent, TargetedInputEvent, TargetedUIEvent } from "preact"
 * @import { MachineRow } from "../../src/rows/rows.ts"
 */

/** The id of the element of a row. @param {number} index */
const elementId = (index) => `machine-${index}`;

/** @param {{ readonly app: App, readonly machine: MachineRow, readonly index: number, readonly count: number }} props */
function MachineLine({ app, machine, index, count }) {
  const { id, name, phase, step, tone, since, node, cause, isHeld, className, vmType, zone, created } = machine;
  const [top = 0, end = top] = app.list.tops.slice(index, index + 2);
  const isSelected = app.selected === id;
  return h(
    "div",
    {
      id: elementId(index),
      class: `machine${isSelected ? " selected" : ""}${app.opened === id ? " opened" : ""}`,
      role: "option",
      "aria-selected": isSelected,
      "aria-posinset": index + 1,
      "aria-setsize": count,
      style: { top: `${top}px`, height: `${end - top}px` },
      onClick: () => app.act.open(id),
    },
    h("span", { class: "name cell" }, name),
    h(
      "span",
      { class: `cell phase ${tone}` },
      h("span", { class: "dot", "aria-hidden": true }),
      isHeld ? `${phase} (held)` : phase,
    ),
    h(
      "span",
      { class: "cell life" },
      h(LifecycleBar, { steps: app.fleet.steps, step, tone }),
      h("span", { class: "step" }, `${app.fleet.steps[step] ?? ""} `),
      h("span", { class: "quiet since" }, ago(since, app.nowMs)),
    ),
    h("span", { class: "cell type quiet" }, [className, vmType, zone].filter(Boolean).join(", ")),
    h("span", { class: "cell node quiet" }, node),
    h("span", { class: "cell age quiet" }, ago(created, app.nowMs)),
    showsCause(machine) && h("span", { class: `cause ${tone}`, title: cause }, cause),
  );
}

/** @param {{ readonly app: App }} props */
function Tools({ app }) {
  return h(
    "div",
    { class: "tools" },
    h("input", {
      id: "filter",
      type: "search",
      "aria-label": "Filter machines",
      placeholder: "Filter by name, phase, node, deployment…  ( / )",
      value: app.filter,
      autocomplete: "off",
      spellcheck: false,
      onInput: (/** @type {TargetedInputEvent<HTMLInputElement>} */ event) => app.act.filter(event.currentTarget.value),
    }),
    h(
      "label",
      { class: "order small" },
      "Order ",
      h(
        "select",
        {
          value: app.order,
          onChange: (/** @type {TargetedEvent<HTMLSelectElement>} */ event) =>
            app.act.order(event.currentTarget.value === "name" ? "name" : "attention"),
        },
        h("option", { value: "attention" }, "attention first"),
        h("option", { value: "name" }, "by name"),
      ),
    ),
  );
}

/** The machines: only the rows that are seen are drawn. @param {{ readonly app: App }} props */
export function Machines({ app }) {
  const rows = app.visible;
  const { first, end } = visibleRange(app.list);
  const selected = rows.findIndex(({ id }) => id === app.selected);
  const isDrawn = selected >= first && selected < end;
  return h(
    "section",
    { "aria-labelledby": "machines", class: "machines" },
    h(
      "div",
      { class: "line" },
      h(
        "h2",
        { id: "machines" },
        "Machines ",
        h(
          "span",
          { class: "quiet" },
          rows.length === app.fleet.machines.size ? rows.length : `${rows.length} of ${app.fleet.machines.size}`,
        ),
      ),
      h(Tools, { app }),
    ),
    h(
      "div",
      { class: "machine columns-head small quiet", "aria-hidden": true },
      ["Name", "Phase", "Step and time in it", "Class, type, zone", "Node", "Age"].map((title) =>
        h("span", { key: title, class: "cell" }, title),
      ),
    ),
    h(
      "div",
      {
        id: "list",
        class: "list",
        role: "listbox",
        tabIndex: 0,
        "aria-label": "Machines",
        "aria-activedescendant": isDrawn ? elementId(selected) : undefined,
        onScroll: (/** @type {TargetedUIEvent<HTMLDivElement>} */ event) =>
          app.act.scroll(event.currentTarget.scrollTop),
      },
      h(
        "div",
        { class: "space", role: "presentation", style: { height: `${app.list.tops.at(-1) ?? 0}px` } },
        rows
          .slice(first, end)
          .map((machine, offset) =>
            h(MachineLine, { key: machine.id, app, machine, index: first + offset, count: rows.length }),
          ),
      ),
    ),
    rows.length === 0 && h("p", { class: "quiet" }, app.fleet.hasAll ? "No machine matches." : "Loading"),
  );
}
