import type { MachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { measured } from "../testing/measured.ts";
import { machineSetGauges } from "./machine-set-gauges.ts";

const metadata = { name: "pool-abcde", namespace: "shoot", creationTimestamp: "2026-01-02T03:04:05Z" };
const template = { spec: { class: { apiGroup: "machine.sapcloud.io", kind: "MachineClass", name: "small" } } };
const aSet = (rest: Partial<MachineSet> = {}): MachineSet => ({ metadata, spec: { template }, ...rest });

describe("metrics of a MachineSet", () => {
  it("are those of MCM, status_replicas with all machines and not the ready ones", () => {
    const status = {
      replicas: 5,
      readyReplicas: 3,
      availableReplicas: 4,
      fullyLabeledReplicas: 2,
      machineSetCondition: [
        { type: "Frozen", status: "True" },
        { type: "ReplicaFailure", status: "False" },
        { type: "Odd", status: "Unknown" },
      ],
      failedMachines: [
        {
          name: "pool-abcde-1",
          providerID: "aws:///i-1",
          ownerRef: "pool-abcde",
          lastOperation: { state: "Failed", type: "Create", description: "no such image" },
        },
      ],
    };
    expect(measured(machineSetGauges, aSet({ spec: { replicas: 6, minReadySeconds: 500, template }, status }))).toEqual(
      {
        machine_set_info: [
          'createdAt="1767323045",spec_machine_class_api_group="machine.sapcloud.io",spec_machine_class_kind="MachineClass",spec_machine_class_name="small" 1',
        ],
        machine_set_info_spec_replicas: ["6"],
        machine_set_info_spec_min_ready_seconds: ["500"],
        machine_set_status_condition: ['condition="Frozen" 1', 'condition="ReplicaFailure" 0', 'condition="Odd" 2'],
        machine_set_status_available_replicas: ["4"],
        machine_set_status_fully_labelled_replicas: ["2"],
        machine_set_status_ready_replicas: ["3"],
        machine_set_status_replicas: ["5"],
        machine_set_failed_machines: [
          'failed_machine_name="pool-abcde-1",failed_machine_provider_id="aws:///i-1",failed_machine_owner_ref="pool-abcde",failed_machine_last_operation_state="Failed",failed_machine_last_operation_machine_operation_type="Create" 1',
        ],
      },
    );
  });

  it("name the class that the set itself names, before that of the template", () => {
    const machineClass = { kind: "MachineClass", name: "own" };
    const lines = measured(machineSetGauges, aSet({ spec: { template, machineClass } }));
    expect(lines["machine_set_info"]?.[0]).toContain('spec_machine_class_name="own"');
  });

  it("are 0 before the set has a status, without gauges of unknown conditions", () => {
    const status = { machineSetCondition: [{ type: "Frozen", status: "true" }] };
    for (const set of [aSet({ status }), aSet({ metadata: { name: "bare" }, spec: { template: { spec: {} } } })]) {
      const lines = measured(machineSetGauges, set);
      expect(lines["machine_set_status_replicas"]).toEqual(["0"]);
      expect(lines["machine_set_info_spec_replicas"]).toEqual(["0"]);
      expect(lines["machine_set_status_condition"]).toBeUndefined();
      expect(lines["machine_set_failed_machines"]).toBeUndefined();
    }
  });
});
