import { describe, expect, it } from "vitest";
import { withMachineDeploymentDefaults, withMachineSetDefaults } from "./defaults.ts";
import type { MachineDeploymentStrategy } from "./machine-deployment.ts";

const metadata = { name: "d" };
const template = { spec: {} };

describe("withMachineDeploymentDefaults", () => {
  it("fills in everything that may be missing", () => {
    expect(withMachineDeploymentDefaults({ metadata, spec: { template } })).toEqual({
      metadata,
      spec: {
        autoPreserveFailedMachineMax: 0,
        minReadySeconds: 0,
        paused: false,
        replicas: 0,
        strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        template,
      },
    });
  });

  it("keeps what is written", () => {
    const spec = {
      autoPreserveFailedMachineMax: 2,
      minReadySeconds: 500,
      paused: true,
      replicas: 3,
      revisionHistoryLimit: 0,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 2 } },
      template,
    };
    expect(withMachineDeploymentDefaults({ metadata, spec }).spec).toEqual(spec);
  });

  it.each<[string, MachineDeploymentStrategy, object]>([
    ["an empty type", { type: "" }, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }],
    [
      "one fencepost",
      { rollingUpdate: { maxSurge: 0 } },
      { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } },
    ],
    ["settings of another strategy", { type: "Recreate", rollingUpdate: { maxSurge: 5 } }, { type: "Recreate" }],
    [
      "an update in place",
      { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Manual", maxUnavailable: 2 } },
      { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Manual", maxSurge: 1, maxUnavailable: 2 } },
    ],
  ])("completes a strategy with %s", (_, strategy, expected) => {
    expect(withMachineDeploymentDefaults({ metadata, spec: { template, strategy } }).spec.strategy).toEqual(expected);
  });

  it("does not guess a strategy that validation refuses", () => {
    const onDelete = { metadata, spec: { template, strategy: { type: "OnDelete" } } };
    const withoutOrchestration = { metadata, spec: { template, strategy: { type: "InPlaceUpdate" } } };
    expect(() => withMachineDeploymentDefaults(onDelete)).toThrow(RangeError);
    expect(() => withMachineDeploymentDefaults(withoutOrchestration)).toThrow(RangeError);
  });
});

it("fills in the numbers of a set", () => {
  expect(withMachineSetDefaults({ metadata, spec: { template, minReadySeconds: 5 } }).spec).toEqual({
    autoPreserveFailedMachineMax: 0,
    minReadySeconds: 5,
    replicas: 0,
    template,
  });
});
