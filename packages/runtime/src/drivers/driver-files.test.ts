import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
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

it("is what sha256sum makes of the files, so that it can be checked without this program", async () => {
  await writeFile(join(folder, "package.json"), '{"name":"driver","version":"1.2.3"}');
  await writeFile(join(folder, "Dist.txt"), "x");
  const script = "find . -type f | cut -c3- | LC_ALL=C sort | xargs sha256sum | sha256sum";
  const [expected] = execFileSync("sh", ["-c", script], { cwd: folder, encoding: "utf8" }).split(" ");
  expect((await describe()).digest).toBe(`sha256:${expected}`);
});

it("covers files behind links, and rejects what it cannot cover", async () => {
  await writeFile(join(folder, "package.json"), '{"name":"driver","version":"1.2.3"}');
  const outside = await mkdtemp(join(tmpdir(), "driver-files-"));
  onTestFinished(() => rm(outside, { recursive: true }));
  await writeFile(join(outside, "linked.js"), "1");
  await symlink(join(outside, "linked.js"), join(folder, "linked.js"));
  const { digest } = await describe();
  await writeFile(join(outside, "linked.js"), "2");
  expect((await describe()).digest).not.toBe(digest);
  await symlink(outside, join(folder, "folder"));
  await expect(describe()).rejects.toThrow(/folder is a link to a folder, which a digest cannot cover/);
  await rm(join(folder, "folder"));
  await writeFile(join(folder, "a\nb"), "");
  await expect(describe()).rejects.toThrow(/must have no line break/);
});
