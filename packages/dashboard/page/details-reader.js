/**
 * @import { App } from "./app.js"
 * @typedef {App["details"]} Details
 */

/** Between two reads of the same object, milliseconds: it may change many times a second. */
const PAUSE_MS = 1_000;

/** @param {string} id of a row */
function pathOf(id) {
  const [kind, namespace, ...name] = id.split("/");
  return `/api/${kind}s/${encodeURIComponent(namespace ?? "")}/${encodeURIComponent(name.join("/"))}`;
}

/**
 * Reads the details of what is opened, and again when it has changed.
 *
 * @param {(path: string, signal: AbortSignal) => Promise<any>} read resolves with `undefined` when there is no such object
 * @param {(details: Details) => void} show
 */
export function createDetailsReader(read, show) {
  /** @type {string | undefined} */
  let opened;
  /** @type {Details} */
  let last = { state: "loading", value: undefined, problem: "" };
  let abort = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {string} id */
  async function load(id) {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    try {
      const value = await read(pathOf(id), signal);
      if (signal.aborted) return;
      last = value === undefined ? { ...last, state: "gone", problem: "" } : { state: "shown", value, problem: "" };
    } catch (error) {
      if (signal.aborted) return;
      last = { ...last, state: "shown", problem: error instanceof Error ? error.message : String(error) };
    }
    show(last);
  }

  function stop() {
    clearTimeout(timer);
    timer = undefined;
    abort.abort();
  }

  return {
    /** @param {string} id */
    open(id) {
      stop();
      opened = id;
      last = { state: "loading", value: undefined, problem: "" };
      void load(id);
    },
    /** What is opened has changed. */
    refresh() {
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        if (opened !== undefined) void load(opened);
      }, PAUSE_MS);
    },
    close() {
      stop();
      opened = undefined;
    },
  };
}
