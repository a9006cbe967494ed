import { h, render } from "preact";
import { createApp } from "./app.js";
import { createConnection } from "./connection.js";
import { createDetailsReader } from "./details-reader.js";
import { applyEvent, selectMachines } from "./fleet.js";
import { actionOf } from "./keyboard.js";
import { Page } from "./views/page.js";
import { scrollToShow, topsOf } from "./visible-range.js";

const root = document.getElementById("page") ?? document.body;

const app = createApp({
  filter(text) {
    app.filter = text;
    schedule();
  },
  order(order) {
    app.order = order;
    schedule();
  },
  scroll(scrollTop) {
    app.list.scrollTop = scrollTop;
    schedule();
  },
  open(id) {
    if (id.startsWith("machine/")) app.selected = id;
    app.opened = id;
    app.details = { state: "loading", value: undefined, problem: "" };
    details.open(id);
    schedule();
  },
  close() {
    app.opened = undefined;
    details.close();
    schedule();
  },
  useToken: (token) => connection.useToken(token),
});

/** Heights of rows, as the style sheet fills them, pixels. */
const wideRows = { plain: 30, withCause: 52 };
const narrowRows = { plain: 56, withCause: 96 };

/** What `visible` was computed from. */
let basis = "";

function select() {
  const isNarrow = matchMedia("(max-width: 759px)").matches;
  const now = `${app.fleet.version} ${app.order} ${isNarrow} ${app.filter}`;
  if (now === basis) return;
  basis = now;
  app.visible = selectMachines(app.fleet, app.filter, app.order);
  app.list.tops = topsOf(app.visible, isNarrow ? narrowRows : wideRows);
}

/** Whether the list has another size than it was drawn for. */
function measure() {
  const list = document.querySelector("#list");
  if (list === null) return false;
  const { height } = app.list;
  app.list.height = list.clientHeight;
  return app.list.height !== height;
}

/** The frame before which the page is drawn again; 0: nothing has changed. */
let frame = 0;

function draw() {
  frame = 0;
  app.nowMs = Date.now();
  select();
  render(h(Page, { app }), root);
  // The first rows make the list as high as it is.
  if (measure()) schedule();
}

/** Draws once before the next frame, however much has changed. */
function schedule() {
  if (frame === 0) frame = requestAnimationFrame(draw);
}

/** Draws what has changed at once. */
function drawChanges() {
  if (frame === 0) return;
  cancelAnimationFrame(frame);
  draw();
}

const connection = createConnection({
  onEvents(events) {
    app.lastEventMs = Date.now();
    const changed = events.flatMap((event) => applyEvent(app.fleet, event));
    if (app.opened !== undefined && changed.includes(app.opened)) details.refresh();
    schedule();
  },
  onState(state, problem) {
    if (app.connection.state === state && app.connection.problem === problem) return;
    app.connection = { state, problem };
    schedule();
  },
});

const details = createDetailsReader(connection.read, (value) => {
  app.details = value;
  schedule();
});

/** @param {number} index of a row */
function moveTo(index) {
  const row = app.visible[Math.max(0, Math.min(app.visible.length - 1, index))];
  const list = document.querySelector("#list");
  if (row === undefined || list === null) return;
  app.selected = row.id;
  measure();
  list.scrollTop = scrollToShow(app.visible.indexOf(row), { ...app.list, scrollTop: list.scrollTop });
  schedule();
}

function closeSomething() {
  const filter = document.querySelector("#filter");
  if (document.activeElement === filter && filter instanceof HTMLInputElement) {
    app.act.filter("");
    filter.blur();
    return;
  }
  app.act.close();
}

/** @type {Readonly<Record<import("./keyboard.js").Action, () => void>>} */
const keys = {
  next: () => moveTo(app.visible.findIndex(({ id }) => id === app.selected) + 1),
  previous: () => moveTo(app.visible.findIndex(({ id }) => id === app.selected) - 1),
  first: () => moveTo(0),
  last: () => moveTo(app.visible.length - 1),
  filter: () => document.getElementById("filter")?.focus(),
  open: () => app.selected !== undefined && app.act.open(app.selected),
  close: closeSomething,
};

/**
 * Where the focus is, for the meaning of keys.
 *
 * @param {EventTarget | null} target
 */
function placeOf(target) {
  if (!(target instanceof Element)) return "page";
  if (target.closest("input, select, textarea") !== null) return "text";
  return target.closest("button, summary, a, .details") === null ? "page" : "control";
}

document.addEventListener("keydown", (event) => {
  const isModified = event.ctrlKey || event.altKey || event.metaKey;
  const action = actionOf({ key: event.key, isModified, place: placeOf(event.target) });
  if (action === undefined) return;
  event.preventDefault();
  // A key that follows another one at once, as Home does Escape, moves in the list that the other one has made.
  drawChanges();
  keys[action]();
});
addEventListener("resize", schedule);
setInterval(schedule, 1_000);
schedule();
connection.start();
