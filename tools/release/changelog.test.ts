import { expect, it } from "vitest";
import { changelogEntry } from "./changelog.ts";

it("changes are grouped by their first area that concerns users, in the order in which they were made", () => {
  const subjects = [
    "provider-aws: retries of throttled calls",
    "test: a wait that a busy computer decided",
    "tools, kube: one connection less",
    "cli, runtime: flags from a file",
    "cli: an older change",
    "Merge branch main",
  ];
  expect(changelogEntry("0.2.0", "2026-12-01", subjects)).toBe(`## 0.2.0 (2026-12-01)

### cli

- an older change
- flags from a file

### kube

- one connection less

### other

- Merge branch main

### provider-aws

- retries of throttled calls`);
});

it("the first version lists no commits, and one without changes for users has a line", () => {
  expect(changelogEntry("0.1.0", "2026-12-01", undefined)).toBe("## 0.1.0 (2026-12-01)\n\nThe first version.");
  expect(changelogEntry("0.1.1", "2026-12-01", ["tools: a check"])).toContain("No change for users.");
});
