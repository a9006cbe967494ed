import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@millwright/base";
import { afterEach, beforeEach, expect, it } from "vitest";
import { followConfiguration } from "./follow-configuration.ts";

let folder: string;
let stop: AbortController;
let ended: Promise<void>;
let changes: number;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "millwright-follow-"));
  stop = new AbortController();
  changes = 0;
});
afterEach(async () => {
  stop.abort(new Error("the test is over"));
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

/** Each sleep ends when the test continues; nothing depends on real time. */
const turns: (() => void)[] = [];
const clock = {
  sleep: (_: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal?.addEventListener("abort", () => reject(signal.reason));
      turns.push(resolve);
    }),
};
const untilAsleep = async (): Promise<void> => {
  while (turns.length === 0) await systemClock.sleep(1);
};
/** Lets it look once, after each of its next sleeps. */
const look = async (times = 1): Promise<void> => {
  for (let turn = 0; turn < times; turn++) {
    await untilAsleep();
    turns.shift()?.();
    await untilAsleep();
  }
};
const follow = async (file: string): Promise<void> => {
  turns.length = 0;
  ended = followConfiguration(file, clock, () => (changes += 1), stop.signal);
  await untilAsleep();
};

it("finds a ConfigMap whose symbolic link is swapped, and nothing where the content is the same", async () => {
  for (const [version, text] of [
    ["1", "v: 1"],
    ["2", "v: 1"],
    ["3", "v: 2"],
  ] as const) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, "config.yaml"), text);
  }
  const swap = (version: string): void => {
    symlinkSync(version, join(folder, "..tmp"));
    renameSync(join(folder, "..tmp"), join(folder, "..data"));
  };
  swap("1");
  symlinkSync(join("..data", "config.yaml"), join(folder, "config.yaml"));
  await follow(join(folder, "config.yaml"));
  swap("2");
  await look(3);
  expect(changes).toBe(0);
  swap("3");
  await look(3);
  expect(changes).toBe(1);
});

it("waits until a file is settled, and ignores one that is missing for a moment", async () => {
  const file = join(folder, "config.yaml");
  writeFileSync(file, "a: 1");
  await follow(file);
  writeFileSync(file, "a: 1\nb");
  await look();
  writeFileSync(file, "a: 1\nb: 2");
  await look();
  expect(changes).toBe(0);
  await look();
  expect(changes).toBe(1);
  rmSync(file);
  await look(2);
  writeFileSync(file, "a: 1\nb: 2");
  await look(2);
  expect(changes).toBe(1);
});
