import type { Machine } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { measured } from "../testing/measured.ts";
import { machineGauges } from "./machine-gauges.ts";

const metadata = {
  name: "pool-1",
  namespace: "shoot",
  creationTimestamp: "2026-01-02T03:04:05Z",
  labels: { node: "ip-10-0-0-1" },
};
const aMachine = (rest: Partial<Machine> = {}): Machine => ({ metadata, spec: {}, ...rest });

describe("metrics of a Machine", () => {
  it("are those of MCM", () => {
    const machine = aMachine({
      spec: { providerID: "aws:///i-1", class: { apiGroup: "g", kind: "MachineClass", name: "small" } },
      status: { currentStatus: { phase: "Running" }, conditions: [{ type: "Ready", status: "True" }] },
    });
    expect(measured(machineGauges, machine)).toEqual({
      machine_info: [
        'createdAt="1767323045",spec_provider_id="aws:///i-1",spec_class_api_group="g",spec_class_kind="MachineClass",spec_class_name="small",node_name="ip-10-0-0-1" 1',
      ],
      machine_current_status_phase: ["1"],
      machine_status_condition: ['condition="Ready" 1'],
    });
  });

  it.each([
    ["Terminating", "-4"],
    ["Failed", "-3"],
    ["CrashLoopBackOff", "-2"],
    ["Unknown", "-1"],
    ["Pending", "0"],
    ["", "0"],
    ["Available", "0"],
    ["InPlaceUpdating", "0"],
    ["Running", "1"],
    ["PhaseOfTheFuture", "0"],
  ])("show phase %j as %s", (phase, value) => {
    const lines = measured(machineGauges, aMachine({ status: { currentStatus: { phase } } }));
    expect(lines["machine_current_status_phase"]).toEqual([value]);
  });

  it("show a machine that has nothing but a name", () => {
    const lines = measured(machineGauges, { metadata: { name: "bare" }, spec: {} });
    expect(lines["machine_info"]).toEqual([
      'createdAt="0",spec_provider_id="",spec_class_api_group="",spec_class_kind="",spec_class_name="",node_name="" 1',
    ]);
    expect(lines["machine_current_status_phase"]).toEqual(["0"]);
  });
});
