const lineFeed = 0x0a;

/** A stream that breaks its own rules: a line that never ends, or one that the connection cut off. */
export class JsonLinesError extends Error {
  override readonly name = "JsonLinesError";
}

/**
 * Cuts a stream of bytes into lines of text at 0x0A, and nowhere else. `readline` and friends also split at U+2028, which
 * JSON allows inside strings; and a character may be spread over two chunks, so text is made of whole lines only.
 * Empty lines are skipped.
 *
 * @throws JsonLinesError when the stream ends inside a line, or a line is longer than `maxBytes`
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      parts.push(chunk.subarray(start, end));
      const line = textOf(parts);
      parts = [];
      held = 0;
      start = end + 1;
      if (line !== "" && line !== "\r") yield line;
    }
    if (start < chunk.length) {
      parts.push(chunk.subarray(start));
      held += chunk.length - start;
      if (held > maxBytes) throw new JsonLinesError(`a line is longer than ${maxBytes} bytes`);
    }
  }
  if (held > 0) throw new JsonLinesError(`the stream ended inside a line, after ${held} bytes of it`);
}

function textOf(parts: readonly Uint8Array[]): string {
  const [only] = parts;
  const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
