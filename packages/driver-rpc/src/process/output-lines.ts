import type { Readable } from "node:stream";

/** Longer lines are cut, characters: what comes after may be anything. */
const MAX_LINE = 8_192;

/** Splits what a process prints into lines. Holds one cut line at most, however much comes without a line break. */
export function readLines(stream: Readable, onLine: (line: string) => void): void {
  let line = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    const parts = chunk.split("\n");
    for (const [index, part] of parts.entries()) {
      if (line.length < MAX_LINE) line += part.slice(0, MAX_LINE - line.length);
      if (index === parts.length - 1) continue;
      onLine(line.replace(/\r$/, ""));
      line = "";
    }
  });
  stream.on("end", () => {
    if (line !== "") onLine(line);
    line = "";
  });
  // The process ends with its pipes; that is reported elsewhere.
  stream.on("error", () => undefined);
}
