import { expect, it } from "vitest";
import * as texts from "./operation-texts.ts";

it.each([
  [texts.provisioningVm("x"), "Provisioning VM: x"],
  [texts.provisioningTimedOut("m", 1_200_000, "x"), "VM of machine m was not provisioned in 20m0s: x"],
  [texts.creatingMachine(), "Creating machine on cloud provider"],
  [texts.createdMachine(), "Created machine on cloud provider"],
  [texts.joined("m-1", 95_400), "Machine m-1 successfully joined the cluster in 1m35s"],
  [texts.joined("m-1", -5), "Machine m-1 successfully joined the cluster in 0s"],
  [texts.rejoined("m-1"), "Machine m-1 successfully re-joined the cluster"],
  [
    texts.joinUnseen("m-1"),
    "Whether the node of machine m-1 has joined cannot be seen: the API server of the nodes, or that of the machines, does not answer",
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
  ["a deletion with a drain", 150_400, "a. b; the machine is gone after 2m30s", 150_000],
  ["one without", undefined, "a. b; the machine is gone", undefined],
  ["clocks that disagree", -5_000, "a. b; the machine is gone after 0s", 0],
  ["a deletion that took a year", YEAR_MS, "a. b; the machine is gone after 8784h0m0s", YEAR_MS],
  ["a time that cannot be", YEAR_MS + 1, "a. b; the machine is gone", undefined],
])("says how long it took in words from which the time can be read again: %s", (_, tookMs, message, readMs) => {
  expect(texts.machineGone(["a", "b"], tookMs)).toBe(message);
  expect(texts.leaveTimeIn(message)).toBe(readMs);
});

it.each([
  "",
  "Drain successful",
  "the machine is gone after 1m",
  "a; the machine is gone after ",
  "a; the machine is gone after soon",
  "a; the machine is gone after -1m",
  "a; the machine is gone after 8785h",
  "a; the machine is gone after 1m; and more",
  "a; the machine is gone after 1m; the machine is gone after",
  `a; the machine is gone after ${"9".repeat(1_000)}h`,
])("reads no time out of %j", (message) => {
  expect(texts.leaveTimeIn(message)).toBeUndefined();
});
