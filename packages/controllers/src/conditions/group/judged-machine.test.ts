import * as fc from "fast-check";
import { expect, it } from "vitest";
import { aMachine, aMachineDeployment, aMachineSet, inPhase } from "../../testing/builders.ts";
import { buildDeployment, ownerStates, stateNow } from "../../testing/condition-states.ts";
import { someConditionInputs } from "../../testing/judged-machines.ts";
import { machineConditions } from "../machine/machine-conditions.ts";
import { findCondition } from "@millwright/kube";
import { factsOf } from "../owner/condition-inputs.ts";
import { createMachineJudge } from "./judged-machine.ts";

const judge = createMachineJudge();
const set = aMachineSet();
const deployment = aMachineDeployment();

it("evaluates a machine again when its condition inputs change", () => {
  const machine = aMachine(inPhase("Pending"), { spec: { providerID: "vm" } });
  const statuses = [
    someConditionInputs({ hasTarget: true }),
    someConditionInputs({ hasTarget: true, isTargetReachable: false }),
    someConditionInputs(),
  ].map((inputs) => judge(factsOf(machine, inputs, { set, deployment }), stateNow).ready?.message);
  expect(new Set(statuses).size).toBe(3);
});

it("has the current conditions at any later time, also of a machine that it has evaluated before", () => {
  fc.assert(
    fc.property(ownerStates, fc.array(fc.integer({ min: 0, max: 1_200_000 }), { maxLength: 4 }), (state, steps) => {
      const { members, inputs } = buildDeployment(state);
      let time = stateNow.getTime();
      for (const step of [0, ...steps]) {
        time += step;
        const now = new Date(time);
        for (const { machine, set: owner } of members) {
          const facts = factsOf(machine, inputs, { set: owner, deployment });
          const conditions = machineConditions(facts, now);
          expect(judge(facts, now)).toMatchObject({
            ready: findCondition(conditions, "Ready"),
            isUnhealthy: findCondition(conditions, "HealthCheckSucceeded")?.status === "False",
            remediation: findCondition(conditions, "OwnerRemediated"),
            upToDate: findCondition(conditions, "UpToDate"),
          });
        }
      }
    }),
  );
});
