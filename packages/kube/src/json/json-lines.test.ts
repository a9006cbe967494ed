import * as fc from "fast-check";
import { expect, test } from "vitest";
import { JsonLinesError, readLines } from "./json-lines.ts";

async function* inPieces(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0;
  for (let index = 0; from < bytes.length; index++) {
    const size = sizes.length === 0 ? bytes.length : (sizes[index % sizes.length] ?? 1);
    yield bytes.subarray(from, (from += size));
  }
}

async function linesOf(text: string, sizes: readonly number[], maxBytes = 1e9): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(inPieces(Buffer.from(text), sizes), maxBytes)) lines.push(line.toString("utf8"));
  return lines;
}

test("gives the same lines however the bytes are cut up", async () => {
  const line = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom("ü\u2028é", "x".repeat(100_000)));
  const sizes = fc.array(fc.integer({ min: 1, max: 9_999 }), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), sizes, async (lines, cuts) => {
      const wanted = lines.map((text) => text.replaceAll(/[\r\n]/g, "")).filter((text) => text !== "");
      expect(await linesOf(lines.map((text) => `${text.replaceAll(/[\r\n]/g, "")}\n`).join(""), cuts)).toEqual(wanted);
    }),
  );
});

test.each([[[]], [[7]]])("refuses a line beyond its bound, in one chunk or in many", async (sizes) => {
  await expect(linesOf(`short\n${"x".repeat(50)}\n`, sizes, 40)).rejects.toThrow(JsonLinesError);
  await expect(linesOf("x".repeat(50), sizes, 40)).rejects.toThrow("a line is longer than 40 bytes");
});

test("fails when the stream ends inside a line", async () => {
  await expect(linesOf('{"a":1}\n{"b"', [3])).rejects.toThrow("the stream ended inside a line, after 4 bytes of it");
});
