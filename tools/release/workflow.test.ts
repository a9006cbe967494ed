import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "./packages.ts";

interface Job {
  readonly needs?: string;
  readonly permissions: Readonly<Record<string, string>>;
  readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly env?: object }[];
  readonly strategy?: { readonly matrix: { readonly driver: readonly string[] } };
}
const text = readFileSync(join(root, ".github/workflows/release.yaml"), "utf8");
const workflow = parse(text, { strict: true }) as { on: object; permissions: object; jobs: Record<string, Job> };
const jobs = Object.values(workflow.jobs);
const commands = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));

it("a tag of a version starts the release, whose jobs have the permissions that they need and no others", () => {
  expect(workflow.on).toEqual({ push: { tags: ["v*"] } });
  expect(workflow.permissions).toEqual({ contents: "read" });
  expect(Object.entries(workflow.jobs).map(([name, job]) => [name, job.permissions])).toEqual([
    ["packages", { contents: "read", "id-token": "write" }],
    ["images", { contents: "read", packages: "write", "id-token": "write" }],
    ["chart", { contents: "read", packages: "write", "id-token": "write" }],
  ]);
  expect(workflow.jobs.images?.needs).toBe("packages");
  expect(workflow.jobs.chart?.needs).toBe("images");
});

it("actions are pinned to commits", () => {
  const uses = jobs.flatMap(({ steps }) => steps.flatMap((step) => step.uses ?? []));
  expect(uses.length).toBeGreaterThan(3);
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
});

it("the commands are scripts of this repository, run on folders that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  const called = commands.flatMap((command) => /^npm (?!config )(?:run )?([\w:-]+)/.exec(command)?.[1] ?? []);
  expect(called).toEqual(expect.arrayContaining(["test", "build", "check:built", "stage-image"]));
  for (const name of called.filter((script) => script !== "ci")) expect(scripts).toHaveProperty([name]);
  for (const driver of workflow.jobs.images?.strategy?.matrix.driver ?? [])
    expect(existsSync(join(root, "providers", driver)), driver).toBe(true);
  expect(commands.join("\n")).toContain("helm package charts/millwright ");
});

it("packages are published after the tests, and only if the tag is their version", () => {
  const order = ["npm ci", "$GITHUB_REF_NAME", "npm test", "npm run build", "npx nx release publish"];
  const places = order.map((part) => commands.findIndex((command) => command.includes(part)));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
});
