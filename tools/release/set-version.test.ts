import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { chartWithVersion, lockWithVersion, rangesWithVersion, withVersion } from "./set-version.ts";

const own = new Set(["@millwright/core", "@millwright/base"]);

it("a version is set in a manifest and in the ranges of packages of this repository, which stay as wide as they were", () => {
  const manifest = {
    name: "@millwright/core",
    version: "0.1.0",
    dependencies: { "@millwright/base": "^0.1.0", zod: "^4.6.7" },
    devDependencies: { "@millwright/core": "0.1.0" },
  };
  expect(withVersion(manifest, "0.2.0", own)).toEqual({
    name: "@millwright/core",
    version: "0.2.0",
    dependencies: { "@millwright/base": "^0.2.0", zod: "^4.6.7" },
    devDependencies: { "@millwright/core": "0.2.0" },
  });
});

it.each([
  ["^0.1.0", "^1.0.0"],
  [">=0.1.0 <1", ">=1.0.0 <2"],
])("the version of a driver template stays, its range %s moves", (range, moved) => {
  const template = { version: "0.1.0", peerDependencies: { "@millwright/core": range } };
  expect(rangesWithVersion(template, "1.0.0", own)).toEqual({ peerDependencies: { "@millwright/core": moved } });
});

const root = join(import.meta.dirname, "../..");
const manifests = ["packages/create-driver/template/package.template.json"].concat(
  readdirSync(join(root, "providers")).map((name) => `providers/${name}/package.json`),
);

// npm ends with ERESOLVE where a peer range refuses what is installed.
it.each(manifests)("npm installs the driver of %s with the next minor version of the contract", async (manifest) => {
  const folder = await mkdtemp(join(tmpdir(), "millwright-upgrade-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const write = async (name: string, content: object): Promise<void> => {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, "package.json"), JSON.stringify(content));
  };
  const { peerDependencies } = JSON.parse(await readFile(join(root, manifest), "utf8"));
  await write("core", { name: "@millwright/core", version: "0.2.0" });
  await write("driver", { name: "driver", version: "0.1.0", peerDependencies });
  await write(".", { dependencies: { "@millwright/core": "file:core", driver: "file:driver" } });
  const args = ["install", "--offline", "--package-lock-only", "--no-audit", "--no-fund", "--install-links"];
  await expect(promisify(execFile)("npm", args, { cwd: folder })).resolves.toBeDefined();
});

it("the lock file gets the version in entries of this repository only", () => {
  const lock = {
    version: "0.1.0",
    packages: {
      "": { name: "millwright", version: "0.1.0" },
      "packages/core": { version: "0.1.0", dependencies: { "@millwright/base": "^0.1.0" } },
      "node_modules/@millwright/core": { resolved: "packages/core", link: true },
      "node_modules/zod": { version: "4.6.7" },
    },
  };
  expect(lockWithVersion(lock, "0.2.0", own)).toEqual({
    version: "0.2.0",
    packages: {
      "": { name: "millwright", version: "0.2.0" },
      "packages/core": { version: "0.2.0", dependencies: { "@millwright/base": "^0.2.0" } },
      "node_modules/@millwright/core": { resolved: "packages/core", link: true },
      "node_modules/zod": { version: "4.6.7" },
    },
  });
});

it("a chart has the version twice, and keeps the rest", () => {
  expect(
    chartWithVersion("name: millwright\nversion: 0.1.0\nappVersion: 0.1.0\nkubeVersion: '>=1.26'\n", "0.2.0"),
  ).toBe("name: millwright\nversion: 0.2.0\nappVersion: 0.2.0\nkubeVersion: '>=1.26'\n");
});
