import { expect, it } from "vitest";
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

it("the version of a driver template stays, its ranges move", () => {
  expect(
    rangesWithVersion({ version: "0.1.0", peerDependencies: { "@millwright/core": "^0.1.0" } }, "1.0.0", own),
  ).toEqual({
    peerDependencies: { "@millwright/core": "^1.0.0" },
  });
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
