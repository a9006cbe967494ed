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

it("is a line for each step, and every five seconds of it, where there is no terminal", () => {
  expect(
    written({}, [
      [0, "start"],
      [900, "wait: 0 of 2"],
      [5_800, "wait: 1 of 2"],
      [6_100, "wait: 2 of 2"],
    ]),
  ).toEqual(["create 0 s: start\n", "create 1 s: wait: 0 of 2\n", "create 6 s: wait: 2 of 2\n"]);
});

it("is one line on a terminal, no wider than it", () => {
  expect(
    written({ isTTY: true, columns: 13 }, [
      [0, "abc"],
      [300, "d"],
    ]),
  ).toEqual(["\r\u001B[Kcreate 0 s: ", "\r\u001B[Kcreate 0 s: ", "\r\u001B[K"]);
});
