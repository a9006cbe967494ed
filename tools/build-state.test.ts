import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { buildStateOf } from "./build-state.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "millwright-build-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Writes files with a time of change each, seconds. */
async function write(files: Readonly<Record<string, number>>): Promise<void> {
  for (const [name, time] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), "");
    await utimes(join(folder, name), time, time);
  }
}

it("is absent without dist", async () => {
  await write({ "src/index.ts": 1, "package.json": 1 });
  expect(buildStateOf(folder)).toBe("absent");
});

it("is up to date when its last file is newer than each source", async () => {
  await write({ "src/deep/one.ts": 5, "package.json": 1, "dist/index.d.ts": 4, "dist/chunks/one.js": 6 });
  expect(buildStateOf(folder)).toBe("up to date");
});

it("does not depend on what is installed in the package", async () => {
  await write({ "ec2/index.ts": 1, "package.json": 1, "dist/index.js": 6, "node_modules/other/index.js": 7 });
  expect(buildStateOf(folder)).toBe("up to date");
});

it.each(["src/deep/one.ts", "ec2/index.ts", "package.json"])(
  "is older than the sources when %s changed after it",
  async (changed) => {
    await write({ "src/index.ts": 1, "package.json": 1, "dist/index.js": 6, [changed]: 7 });
    expect(buildStateOf(folder)).toBe("older than the sources");
  },
);
