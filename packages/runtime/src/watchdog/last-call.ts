/** Bytes of a text that are kept. */
const MAX_BYTES = 1_024;
/** Bytes before the text: its length. */
const HEADER = Int32Array.BYTES_PER_ELEMENT;

/** Bytes of the memory that both threads share. */
export const LAST_CALL_BYTES = HEADER + MAX_BYTES;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Writes which call of a driver has begun last, in memory that another thread reads: a message for each of many thousands of calls would cost much more,
 * and is needed only for the one that blocks the event loop.
 */
export function writeLastCall(memory: SharedArrayBuffer, what: string): void {
  const { written } = encoder.encodeInto(what, new Uint8Array(memory, HEADER, MAX_BYTES));
  Atomics.store(new Int32Array(memory, 0, 1), 0, written);
}

/** The last call; undefined before the first. A text that is being written meanwhile may be read in part: that thread is not blocked. */
export function readLastCall(memory: SharedArrayBuffer): string | undefined {
  const length = Atomics.load(new Int32Array(memory, 0, 1), 0);
  // A decoder takes no shared memory.
  return length === 0 ? undefined : decoder.decode(new Uint8Array(memory, HEADER, length).slice());
}
