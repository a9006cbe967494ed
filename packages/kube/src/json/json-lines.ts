const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Most objects fit. */
const initialScratchBytes = 64 * 1024;

/** A stream that breaks its own rules: a line that never ends, or one that the connection cut off. */
export class JsonLinesError extends Error {
  override readonly name = "JsonLinesError";
}

/**
 * Cuts a stream of bytes into lines at 0x0A, and nowhere else. `readline` and friends also split at U+2028, which JSON allows
 * inside strings; and a character may be spread over two chunks, so lines are bytes until they are whole.
 * Empty lines are skipped.
 *
 * A line is valid until the next one is asked for: lines that are spread over chunks are put together in one place again and again,
 * since memory of their own for each of them would be most of the garbage of a watch.
 *
 * @throws JsonLinesError when the stream ends inside a line, or a line is longer than `maxBytes`
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Buffer> {
  /** Holds the beginning of a line that goes on in the next chunk. */
  let scratch = Buffer.allocUnsafeSlow(initialScratchBytes);
  let held = 0;

  function hold(part: Buffer): void {
    if (held + part.length > maxBytes) throw new JsonLinesError(`a line is longer than ${maxBytes} bytes`);
    if (held + part.length > scratch.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(2 * scratch.length, held + part.length));
      scratch.copy(larger, 0, 0, held);
      scratch = larger;
    }
    part.copy(scratch, held);
    held += part.length;
  }

  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      let line = chunk.subarray(start, end);
      if (held > 0) {
        hold(line);
        line = scratch.subarray(0, held);
        held = 0;
      }
      start = end + 1;
      if (line.length > maxBytes) throw new JsonLinesError(`a line is longer than ${maxBytes} bytes`);
      if (line.length > 1 || (line.length === 1 && line[0] !== carriageReturn)) yield line;
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  }
  if (held > 0) throw new JsonLinesError(`the stream ended inside a line, after ${held} bytes of it`);
}
