import { expect, it } from "vitest";
import { createProgress } from "./progress.ts";

function written(stream: object, reports: readonly (readonly [atMs: number, text: string])[]): readonly string[] {
  const lines: string[] = [];
  let now = 1_000;
  const progress = createProgress({ ...stream, write: (text) => lines.push(text) }, "create", () => now);
  for (const [atMs, text] of reports) {
    now = 1_000 + atMs;
    progress.report(text);
  }
  progress.clear();
  return lines;
}

it("is a line every five seconds where there is no terminal", () => {
  expect(
    written({}, [
      [0, "a"],
      [4_900, "b"],
      [5_100, "c"],
    ]),
  ).toEqual(["create 0 s: a\n", "create 5 s: c\n"]);
});

it("is one line on a terminal, no wider than it", () => {
  expect(
    written({ isTTY: true, columns: 13 }, [
      [0, "abc"],
      [300, "d"],
    ]),
  ).toEqual(["\r\u001B[Kcreate 0 s: ", "\r\u001B[Kcreate 0 s: ", "\r\u001B[K"]);
});
