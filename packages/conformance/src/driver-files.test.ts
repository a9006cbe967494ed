import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeDriverFiles } from "./driver-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "driver-files-"));
  await mkdir(join(folder, "dist"));
  await writeFile(join(folder, "dist/index.js"), "export default 1;");
});
afterEach(() => rm(folder, { recursive: true }));

const describe = () => describeDriverFiles(join(folder, "dist/index.js"));

it("hashes a file without a package", async () => {
  const { digest, version } = await describe();
  expect(version).toBeUndefined();
  await writeFile(join(folder, "dist/other.js"), "");
  expect((await describe()).digest).toBe(digest);
  await writeFile(join(folder, "dist/index.js"), "export default 2;");
  expect((await describe()).digest).not.toBe(digest);
});

it("hashes all files of a package but its dependencies", async () => {
  await writeFile(join(folder, "package.json"), '{"name":"driver","version":"1.2.3"}');
  const { digest, version } = await describe();
  expect(version).toBe("1.2.3");
  await mkdir(join(folder, "node_modules"));
  await writeFile(join(folder, "node_modules/x.js"), "");
  expect((await describe()).digest).toBe(digest);
  await writeFile(join(folder, "dist/other.js"), "");
  expect((await describe()).digest).not.toBe(digest);
});
