import { closeSync, openSync, readSync } from "node:fs";

/** A line of a file, without its line feed. */
export interface Line {
  /** Valid until the next line is read. */
  readonly bytes: Buffer;
  /** The offset of the end of the line in the file, including its line feed. */
  readonly endOffset: number;
  /** False for a last line without a line feed. */
  readonly isComplete: boolean;
}

const defaultChunkBytes = 1024 * 1024;

/** Reads a file line by line, so that a log of gigabytes needs no more memory than its longest line. */
export function* readLines(path: string, chunkBytes = defaultChunkBytes): Generator<Line> {
  const file = openSync(path, "r");
  try {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    /** The beginning of a line that continues in the next chunk. */
    let begin: Buffer[] = [];
    let offset = 0;
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0 && end < size; end = chunk.indexOf(0x0a, start)) {
        const piece = chunk.subarray(start, end);
        const bytes = begin.length === 0 ? piece : Buffer.concat([...begin, piece]);
        begin = [];
        start = end + 1;
        yield { bytes, endOffset: offset + start, isComplete: true };
      }
      if (start < size) begin.push(Buffer.from(chunk.subarray(start, size)));
      offset += size;
    }
    if (begin.length > 0) yield { bytes: Buffer.concat(begin), endOffset: offset, isComplete: false };
  } finally {
    closeSync(file);
  }
}
