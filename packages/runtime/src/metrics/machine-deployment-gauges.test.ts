import type { MachineDeployment, MachineDeploymentSpec } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { measured } from "../testing/measured.ts";
import { machineDeploymentGauges } from "./machine-deployment-gauges.ts";

const metadata = { name: "pool", namespace: "shoot", creationTimestamp: "2026-01-02T03:04:05Z" };
const aDeployment = (
  spec: Partial<MachineDeploymentSpec> = {},
  status?: MachineDeployment["status"],
): MachineDeployment => ({
  metadata,
  spec: { template: { spec: {} }, ...spec },
  ...(status === undefined ? {} : { status }),
});

describe("metrics of a MachineDeployment", () => {
  it("are those of MCM", () => {
    const spec = {
      replicas: 10,
      minReadySeconds: 500,
      paused: true,
      revisionHistoryLimit: 2,
      progressDeadlineSeconds: 1_200,
      rollbackTo: { revision: 7 },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } },
    };
    const status = {
      replicas: 12,
      updatedReplicas: 4,
      readyReplicas: 8,
      availableReplicas: 9,
      unavailableReplicas: 3,
      collisionCount: 1,
      conditions: [
        { type: "Available", status: "True" },
        { type: "Progressing", status: "Unknown" },
      ],
      failedMachines: [{ name: "pool-1" }],
    };
    expect(measured(machineDeploymentGauges, aDeployment(spec, status))).toEqual({
      machine_deployment_info: ['createdAt="1767323045",spec_strategy_type="RollingUpdate" 1'],
      machine_deployment_info_spec_paused: ["1"],
      machine_deployment_info_spec_replicas: ["10"],
      machine_deployment_info_spec_min_ready_seconds: ["500"],
      machine_deployment_info_spec_rolling_update_max_surge: ["2"],
      machine_deployment_info_spec_rolling_update_max_unavailable: ["1"],
      machine_deployment_info_spec_revision_history_limit: ["2"],
      machine_deployment_info_spec_progress_deadline_seconds: ["1200"],
      machine_deployment_info_spec_rollback_to_revision: ["7"],
      machine_deployment_status_condition: ['condition="Available" 1', 'condition="Progressing" 2'],
      machine_deployment_status_available_replicas: ["9"],
      machine_deployment_status_unavailable_replicas: ["3"],
      machine_deployment_status_ready_replicas: ["8"],
      machine_deployment_status_updated_replicas: ["4"],
      machine_deployment_status_replicas: ["12"],
      machine_deployment_status_collision_count: ["1"],
      machine_deployment_failed_machines: [
        'failed_machine_name="pool-1",failed_machine_provider_id="",failed_machine_owner_ref="",failed_machine_last_operation_state="",failed_machine_last_operation_machine_operation_type="" 1',
      ],
    });
  });

  it("are 0 for missing fields, and absent where 0 would be a value", () => {
    const lines = measured(machineDeploymentGauges, aDeployment({ strategy: { type: "Recreate" } }));
    expect(lines).toEqual({
      machine_deployment_info: ['createdAt="1767323045",spec_strategy_type="Recreate" 1'],
      machine_deployment_info_spec_paused: ["0"],
      machine_deployment_info_spec_replicas: ["0"],
      machine_deployment_info_spec_min_ready_seconds: ["0"],
      machine_deployment_status_available_replicas: ["0"],
      machine_deployment_status_unavailable_replicas: ["0"],
      machine_deployment_status_ready_replicas: ["0"],
      machine_deployment_status_updated_replicas: ["0"],
      machine_deployment_status_replicas: ["0"],
    });
  });

  it("are 0 while the previous revision is requested", () => {
    const lines = measured(machineDeploymentGauges, aDeployment({ rollbackTo: {} }));
    expect(lines["machine_deployment_info_spec_rollback_to_revision"]).toEqual(["0"]);
  });

  it.each([
    ["numbers", { type: "RollingUpdate", rollingUpdate: { maxSurge: 3, maxUnavailable: 2 } }, "3", "2"],
    ["percentages", { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: "25%" } }, "3", "2"],
    ["no limits of rollingUpdate", { type: "RollingUpdate", rollingUpdate: {} }, "1", "0"],
    ["no rollingUpdate", { type: "RollingUpdate" }, "1", "0"],
    ["an empty type", { type: "" }, "1", "0"],
    ["no strategy", undefined, "1", "0"],
    ["nothing that could move", { rollingUpdate: { maxSurge: "0%", maxUnavailable: "0%" } }, "0", "1"],
    ["a limit that is refused", { rollingUpdate: { maxSurge: "many" } }, undefined, undefined],
    ["a negative limit", { rollingUpdate: { maxUnavailable: -1 } }, undefined, undefined],
    ["another strategy", { type: "InPlaceUpdate", rollingUpdate: { maxSurge: 3 } }, undefined, undefined],
  ] as const)("show the limits that a rolling update has, with %s", (_, strategy, surge, unavailable) => {
    const spec = { replicas: 10, ...(strategy === undefined ? {} : { strategy }) };
    const lines = measured(machineDeploymentGauges, aDeployment(spec));
    expect([
      lines["machine_deployment_info_spec_rolling_update_max_surge"]?.join(),
      lines["machine_deployment_info_spec_rolling_update_max_unavailable"]?.join(),
    ]).toEqual([surge, unavailable]);
  });
});
