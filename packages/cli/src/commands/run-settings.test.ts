import { Command } from "commander";
import { expect, it } from "vitest";
import { reloadableFlags } from "../configuration/reloadable-flags.ts";
import { addRunFlags } from "../run-flags.ts";
import { managerSettings, reloadedSettings, type RunFlags } from "./run-settings.ts";

const read = (...args: readonly string[]): RunFlags =>
  addRunFlags(new Command("run"))
    .exitOverride()
    .parse([...args], { from: "user" })
    .opts<RunFlags>();

/** A flag, a value that is not its default, and what that changes. */
const rows: readonly (readonly [flag: string, text: string, change: object])[] = [
  ["controllers", "machine", { controllers: ["machine"] }],
  ["concurrent-syncs", "3", { workers: 3 }],
  ["no-cluster-api-conditions", "", { clusterApiConditions: false }],
  ["machine-safety-orphan-vms", "report", { orphanVms: "report" }],
  ["machine-safety-orphan-vms-period", "2m", { vmLists: { periodMs: 120_000 } }],
  ["safety-up", "7", { overshootMargins: { up: 7 } }],
  ["safety-down", "5", { overshootMargins: { down: 5 } }],
  ["autoscaler-scaledown-annotation-during-rollout", "false", { disablesScaleDownDuringRollouts: false }],
  ["machine-creation-timeout", "1m", { settings: { creationTimeoutMs: 60_000 } }],
  ["machine-health-timeout", "2m", { settings: { healthTimeoutMs: 120_000 } }],
  ["node-conditions", "A,B", { settings: { nodeConditions: ["A", "B"] } }],
  ["machine-max-in-flight-remediations", "20%", { settings: { maxInFlightRemediations: "20%" } }],
  ["machine-safety-apiserver-statuscheck-timeout", "3m", { settings: { unreachableAfterMs: 180_000 } }],
  ["machine-outage-threshold", "40%", { settings: { outageThreshold: 0.4 } }],
  ["machine-outage-min-machines", "9", { settings: { outageMinMachines: 9 } }],
  ["machine-outage-window", "4m", { settings: { outageWindowMs: 240_000 } }],
  ["concurrent-machine-creations-per-class", "2", { settings: { maxConcurrentCreationsPerClass: 2 } }],
  ["concurrent-machine-creations", "4", { settings: { maxConcurrentCreations: 4 } }],
  ["resource-exhausted-retry", "5m", { settings: { resourceExhaustedRetryMs: 300_000 } }],
  ["bootstrap-token-auth-extra-groups", "a,b", { settings: { bootstrapTokenExtraGroups: "a,b" } }],
  ["machine-drain-timeout", "6m", { settings: { drainTimeoutMs: 360_000 } }],
  ["machine-max-evict-retries", "8", { settings: { maxEvictRetries: 8 } }],
  ["machine-pv-detach-timeout", "7m", { settings: { pvDetachTimeoutMs: 420_000 } }],
  ["machine-pv-reattach-timeout", "8m", { settings: { pvReattachTimeoutMs: 480_000 } }],
  ["machine-inplace-update-timeout", "9m", { settings: { inPlaceUpdateTimeoutMs: 540_000 } }],
  ["machine-preserve-timeout", "11m", { settings: { preserveTimeoutMs: 660_000 } }],
];

/** Leaves of an object, by their paths. */
const leaves = (value: unknown, path = ""): readonly string[] =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`))
    : [path];

it.each(rows)("passes --%s to the manager", (flag, text, change) => {
  const args = text === "" ? [`--${flag}`] : [`--${flag}=${text}`];
  expect(managerSettings(read(...args))).toMatchObject(change);
  expect(managerSettings(read())).not.toMatchObject(change);
});

it("sets nothing that no flag sets", () => {
  const set = rows.flatMap(([, , change]) => leaves(change));
  expect(leaves(managerSettings(read())).toSorted()).toEqual([...new Set(set)].toSorted());
});

it("reloads what its reloadable flags set, and nothing else", () => {
  const reloaded = rows.filter(([flag]) => reloadableFlags.has(flag)).flatMap(([, , change]) => leaves(change));
  expect(leaves(reloadedSettings(read())).toSorted()).toEqual(reloaded.toSorted());
});

it("takes MCM's default for a backoff of 0", () => {
  expect(managerSettings(read("--resource-exhausted-retry=0")).settings.resourceExhaustedRetryMs).toBe(600_000);
});
