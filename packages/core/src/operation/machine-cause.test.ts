import { expect, it } from "vitest";
import { machineCause, type MachineWithCause } from "./machine-cause.ts";

const ready = {
  type: "MachineReady",
  status: "Unknown",
  message:
    "* NodeHealthy: Waiting for a Node with spec.providerID vm-1 to exist\n* Unless its Node is ready by 2026-01-01T00:20:00Z, the machine becomes Failed",
};
const machine = (phase: string, description: string, state = "Processing", change = {}): MachineWithCause => ({
  metadata: { name: "a", ...change },
  status: { currentStatus: { phase }, lastOperation: { description, state }, conditions: [ready] },
});

it("is what a machine that joins waits for, and until when", () => {
  expect(machineCause(machine("Pending", "Creating machine on cloud provider"))).toBe(
    "Waiting for a Node with spec.providerID vm-1 to exist. Unless its Node is ready by 2026-01-01T00:20:00Z, the machine becomes Failed",
  );
});

it.each([
  ["has failed", machine("Pending", "no quota", "Failed")],
  ["is being deleted", machine("Pending", "no quota", "Processing", { deletionTimestamp: "2026-01-01T00:00:00Z" })],
  ["does not join", machine("Running", "no quota")],
])("is the last operation of a machine that %s", (_, given) => {
  expect(machineCause(given)).toBe("no quota");
});

it("is no longer what succeeded before the deletion", () => {
  const deleted = machine("Running", "Machine a successfully joined", "Successful", {
    deletionTimestamp: "2026-01-01",
  });
  expect(machineCause(deleted)).toBe("Deletion requested");
});

it("has code and message of a failed call, and not its attempts", () => {
  const text =
    "Cloud provider message - machine codes error: code = [ResourceExhausted] message = [quota is used up] (attempt 2 failed at 2026-01-01T00:00:00Z, the first at 2026-01-01T00:00:00Z; the next after 15s or more)";
  expect(machineCause(machine("CrashLoopBackOff", text, "Failed"))).toBe("ResourceExhausted: quota is used up");
});

it("has not the name of the machine, which a list has already", () => {
  expect(machineCause(machine("Unknown", "Machine a is unhealthy"))).toBe("is unhealthy");
  expect(machineCause(machine("Unknown", "Machine b is unhealthy"))).toBe("Machine b is unhealthy");
  expect(machineCause({ metadata: { name: "a" } })).toBe("");
});
