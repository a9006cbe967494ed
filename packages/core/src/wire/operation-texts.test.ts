import { expect, it } from "vitest";
import * as texts from "./operation-texts.ts";

it.each([
  [texts.provisioningVm("x"), "Provisioning VM: x"],
  [texts.provisioningTimedOut("m", 1_200_000, "x"), "VM of machine m was not provisioned in 20m0s: x"],
  [texts.waitingForNode(), "Created VM on cloud provider; waiting for its Node to join the cluster"],
  [texts.createdMachine(), "Created machine on cloud provider"],
  [texts.joined("m-1", 95_400), "Machine m-1 successfully joined the cluster in 1m35s"],
  [texts.joined("m-1", -5), "Machine m-1 successfully joined the cluster in 0s"],
  [texts.rejoined("m-1"), "Machine m-1 successfully re-joined the cluster"],
  [
    texts.joinUnknown("m-1"),
    "Cannot determine whether the node of machine m-1 joined: the API server of the machines or of the nodes is unreachable",
  ],
  [texts.joinTimedOut("m-1", 1_200_000), "Machine m-1 failed to join the cluster in 20m0s minutes."],
  [texts.updatingInPlace("m-1"), "Machine m-1 is undergoing an in-place update"],
  [texts.updateInPlaceTimedOut("m-1", 60_000), "Machine m-1 failed to in-place update in 1m0s"],
  [texts.staleNode("n"), "VM using old node obj n"],
  [texts.initializeFailed("e"), "Provider error: e. Initialize VM Instance"],
  [
    texts.providerMessage("machine codes error: code = [Internal] message = [x]"),
    "Cloud provider message - machine codes error: code = [Internal] message = [x]",
  ],
])("writes %j as MCM does", (text, expected) => {
  expect(text).toBe(expected);
});

const YEAR_MS = 366 * 24 * 3_600_000;

it.each<[string, number | undefined, string, number | undefined]>([
  ["a deletion with a drain", 150_400, "a. b; machine deleted after 2m30s", 150_000],
  ["one without", undefined, "a. b; machine deleted", undefined],
  ["clock skew", -5_000, "a. b; machine deleted after 0s", 0],
  ["a deletion that took a year", YEAR_MS, "a. b; machine deleted after 8784h0m0s", YEAR_MS],
  ["an impossible duration", YEAR_MS + 1, "a. b; machine deleted", undefined],
])("writes a duration that can be parsed again: %s", (_, tookMs, message, readMs) => {
  expect(texts.machineDeleted(["a", "b"], tookMs)).toBe(message);
  expect(texts.deletionTimeIn(message)).toBe(readMs);
});

it.each([
  "",
  "Drain successful",
  "machine deleted after 1m",
  "a; machine deleted after ",
  "a; machine deleted after soon",
  "a; machine deleted after -1m",
  "a; machine deleted after 8785h",
  "a; machine deleted after 1m; and more",
  "a; machine deleted after 1m; machine deleted after",
  `a; machine deleted after ${"9".repeat(1_000)}h`,
])("reads no time out of %j", (message) => {
  expect(texts.deletionTimeIn(message)).toBeUndefined();
});

it("names five volumes that are still attached after a drain", () => {
  const text = texts.deletionEvents.drainedWithVolumes("n", ["a", "b", "c", "d", "e", "f"]);
  expect(text).toBe("Drain ended, but volumes are still attached to Node n: a, b, c, d, e and 1 more");
});
