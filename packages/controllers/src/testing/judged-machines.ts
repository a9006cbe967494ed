import type { ConditionStatus, Machine } from "@millwright/core/machine-api";
import type { DerivedCondition } from "@millwright/kube";
import { createMachineJudge, type JudgedMachine } from "../conditions/group/judged-machine.ts";
import type { ConditionInputs } from "../conditions/owner/condition-inputs.ts";
import { defaultMachineSettings } from "../model/machine-settings.ts";
import { aMachine, type Change, named } from "./builders.ts";

/** No target cluster, all classes of the builders: the phase of a machine decides. */
export const someConditionInputs = (change: Partial<ConditionInputs> = {}): ConditionInputs => ({
  hasTarget: false,
  isTargetReachable: true,
  nodes: new Map(),
  classes: new Set(["small", "big"]),
  isSpecReadable: true,
  settings: defaultMachineSettings,
  judge: createMachineJudge(),
  ...change,
});

/** A condition of a machine with that status. */
export const withStatus = (
  type: string,
  status: ConditionStatus,
  message = "",
  reason = "Reason",
): DerivedCondition => ({
  type,
  status,
  reason,
  message,
});

/** A machine about which only the given facts are known. */
export const aJudgedMachine = (
  name: string,
  change: Partial<Omit<JudgedMachine, "name" | "facts">> = {},
  machine: Change<Machine> = {},
): JudgedMachine => ({
  name,
  facts: {
    machine: aMachine(named(name), machine),
    hasTarget: false,
    isTargetReachable: true,
    node: "missing",
    hasClass: true,
    settings: defaultMachineSettings,
  },
  ready: undefined,
  upToDate: undefined,
  isUnhealthy: false,
  remediation: undefined,
  ...change,
});
