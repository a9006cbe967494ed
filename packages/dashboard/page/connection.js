import { createEventParser } from "./sse.js";

/**
 * @import { StreamEvent } from "./sse.js"
 * @typedef {"connecting" | "live" | "lost" | "token"} ConnectionState `token`: a bearer token is needed
 */

/** Pauses between attempts, milliseconds. */
const PAUSES = [500, 1_000, 2_000, 5_000, 10_000];

/** A stream without an event for so long is broken, milliseconds: it has one each second. */
const SILENCE_MS = 8_000;

/** The stream was ended by the server in order, to review the token again. */
const OK = 200;

/**
 * Follows the stream of the server until the page is closed.
 *
 * @param {object} options
 * @param {(events: readonly StreamEvent[]) => void} options.onEvents
 * @param {(state: ConnectionState, problem: string) => void} options.onState
 */
export function createConnection({ onEvents, onState }) {
  let token = "";
  let attempt = 0;
  /** @type {AbortController} */
  let current = new AbortController();

  /** @returns {HeadersInit} */
  const headers = () => (token === "" ? {} : { authorization: `Bearer ${token}` });

  /** @param {AbortController} controller */
  async function readStream(controller) {
    let silence = setTimeout(() => controller.abort(), SILENCE_MS);
    try {
      const response = await fetch("/api/stream", { headers: headers(), signal: controller.signal, cache: "no-store" });
      if (response.status !== OK || response.body === null)
        return { status: response.status, text: await response.text() };
      const parse = createEventParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return { status: OK, text: "" };
        clearTimeout(silence);
        silence = setTimeout(() => controller.abort(), SILENCE_MS);
        attempt = 0;
        onState("live", "");
        onEvents(parse(value));
      }
    } finally {
      clearTimeout(silence);
    }
  }

  async function follow() {
    for (;;) {
      current = new AbortController();
      const { status, text } = await readStream(current).catch(() => ({ status: 0, text: "" }));
      if (status === 401 || status === 403) return onState("token", text.trim());
      if (status !== OK) onState("lost", text.trim());
      const pause = PAUSES[Math.min(attempt, PAUSES.length - 1)];
      attempt += 1;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  return {
    start: () => void follow(),
    /** Uses a token from now on. It is only kept in memory. @param {string} given */
    useToken(given) {
      token = given.trim();
      attempt = 0;
      onState("connecting", "");
      void follow();
    },
    /**
     * Reads the details of an object.
     *
     * @param {string} path
     * @param {AbortSignal} signal
     * @returns {Promise<any>} `undefined` when there is no such object
     */
    async read(path, signal) {
      const response = await fetch(path, { headers: headers(), signal, cache: "no-store" });
      if (response.status === 404) return undefined;
      if (!response.ok) throw new Error((await response.text()).trim());
      return response.json();
    },
  };
}
