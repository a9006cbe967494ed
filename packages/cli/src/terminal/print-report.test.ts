import { systemClock } from "@millwright/base";
import { expect, it } from "vitest";
import { watchText } from "./print-report.ts";

/** The last line that a terminal of this size shows of ten lines. */
async function lastLine(columns: number): Promise<string | undefined> {
  const written: string[] = [];
  const stop = new AbortController();
  const output = {
    isTTY: true,
    columns,
    rows: 6,
    write(text: string) {
      written.push(text);
      stop.abort();
      return true;
    },
    on: () => process.stdout,
    off: () => process.stdout,
  };
  const text = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join("");
  const read = async () => ({ key: "", text: async () => text });
  await watchText(read, { clock: systemClock, signal: stop.signal, output });
  return written[0]?.trimEnd().split("\n").at(-1);
}

it("shows how to see the lines that a watched screen has no room for", async () => {
  expect(await lastLine(80)).toBe("… 6 more lines; enlarge the window, or leave out --watch");
});

it("only counts these lines on a narrow screen, where a longer text would scroll", async () => {
  expect(await lastLine(40)).toBe("… 6 more lines");
});
