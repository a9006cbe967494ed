import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readLines } from "./read-lines.ts";

const folder = mkdtempSync(join(tmpdir(), "read-lines-"));
const path = join(folder, "file");
afterAll(() => rmSync(folder, { recursive: true }));

test("reads the lines of any file in chunks of any size", () => {
  const lines = fc.array(fc.constantFrom("", "a", "ü\u2028", "x".repeat(40)), { maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.constantFrom("", "torn"), fc.integer({ min: 1, max: 64 }), (complete, rest, chunkBytes) => {
      const text = `${complete.map((line) => `${line}\n`).join("")}${rest}`;
      writeFileSync(path, text);
      const read = Array.from(readLines(path, chunkBytes), (line) => ({ ...line, bytes: line.bytes.toString("utf8") }));
      expect(read.filter(({ isComplete }) => isComplete).map(({ bytes }) => bytes)).toEqual(complete);
      expect(read.filter(({ isComplete }) => !isComplete).map(({ bytes }) => bytes)).toEqual(rest === "" ? [] : [rest]);
      expect(read.at(-1)?.endOffset ?? 0).toBe(Buffer.byteLength(text));
    }),
  );
});
