/**
 * An event of a stream.
 *
 * @typedef {{ readonly name: string, readonly data: any }} StreamEvent
 */

/**
 * Reads server-sent events from chunks of text. The page reads the stream by itself: `EventSource` sends no bearer token.
 *
 * @returns {(chunk: string) => StreamEvent[]} takes the next chunk, and returns the events that are complete with it
 */
export function createEventParser() {
  let rest = "";
  return (chunk) => {
    const parts = (rest + chunk).split("\n\n");
    rest = parts.pop() ?? "";
    return parts.map(readEvent).filter((event) => event !== undefined);
  };
}

/**
 * @param {string} text
 * @returns {StreamEvent | undefined}
 */
function readEvent(text) {
  const [, name] = /^event: (.*)$/m.exec(text) ?? [];
  const [, data] = /^data: (.*)$/m.exec(text) ?? [];
  return name === undefined || data === undefined ? undefined : { name, data: JSON.parse(data) };
}
