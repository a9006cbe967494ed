import type { MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { findCondition } from "@millwright/kube";
import { aMachine, aMachineDeployment, aMachineSet, type Change, inPhase, named } from "../testing/builders.ts";
import { machineDeploymentStatus } from "./status.ts";

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 2, 0, minute));
const text = (minute: number): string => at(minute).toISOString().replace(".000", "");

/** The deployment after a pass that sees so many of three machines run. */
function after(deployment: MachineDeployment, running: number, minute: number): MachineDeployment {
  const machines = [0, 1, 2].map((index) =>
    aMachine(named(`m${index}`), inPhase(index < running ? "Running" : "Pending")),
  );
  const facts = { oldSets: [], createdSet: undefined, maxUnavailable: 0, problems: [] };
  const status = machineDeploymentStatus(
    { ...facts, deployment, newSet: { set: aMachineSet(), machines } },
    at(minute),
  );
  return { ...deployment, status };
}
const progressOf = ({ status }: MachineDeployment) => {
  const { reason, lastTransitionTime, lastUpdateTime } = findCondition(status?.conditions, "Progressing") ?? {};
  return { reason, lastTransitionTime, lastUpdateTime };
};

// Cases of MCM, `pkg/controller/deployment_progress_test.go`.
describe("the times of Progressing", () => {
  it("77: stay when a rollout that is complete is looked at again", () => {
    const complete = after(aMachineDeployment(), 3, 1);
    expect(progressOf(complete).reason).toBe("NewMachineSetAvailable");
    expect(after(complete, 3, 2).status).toEqual(complete.status);
  });

  it("78: are renewed by every progress, but for that of the transition", () => {
    const first = after(aMachineDeployment(), 1, 1);
    const second = after(first, 2, 2);
    expect([first, second].map(progressOf)).toEqual([
      { reason: "MachineSetUpdated", lastTransitionTime: text(1), lastUpdateTime: text(1) },
      { reason: "MachineSetUpdated", lastTransitionTime: text(1), lastUpdateTime: text(2) },
    ]);
    expect(progressOf(after(second, 2, 3))).toEqual(progressOf(second));
  });

  it("79: run out by what is written, not by what a process remembers", () => {
    const deadline: Change<MachineDeployment> = { spec: { progressDeadlineSeconds: 60 } };
    const begun = after(aMachineDeployment(deadline), 1, 1);
    expect(progressOf(after(begun, 1, 1)).reason).toBe("MachineSetUpdated");
    const late = after(begun, 1, 2);
    expect(progressOf(late)).toEqual({
      reason: "ProgressDeadlineExceeded",
      lastTransitionTime: text(2),
      lastUpdateTime: text(2),
    });
    expect(progressOf(after(late, 1, 3))).toEqual(progressOf(late));
    expect(progressOf(after(late, 2, 4)).reason).toBe("MachineSetUpdated");
  });
});
