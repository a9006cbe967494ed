import { CloudError } from "./cloud-error.ts";
import type { PowerAction } from "./cloud.ts";
import { type Vm, type VmState, isLive, vmStates } from "./vm.ts";

/** What a power action changes. */
export type PowerChange = Pick<Vm, "state" | "stateReason"> | "nothing to do";

interface PowerRule {
  /** The states that it can start from. */
  readonly from: readonly VmState[];
  /** The states in which there is nothing left to do. In all others it is rejected. */
  readonly done: readonly VmState[];
  readonly change: Pick<Vm, "state" | "stateReason">;
}

const rules: { readonly [action in PowerAction]: PowerRule } = {
  stop: {
    from: ["running"],
    done: ["stopping", "stopped"],
    change: { state: "stopping", stateReason: "stopped by hand" },
  },
  start: {
    from: ["stopped"],
    done: ["pending", "booting", "running"],
    change: { state: "booting", stateReason: "started by hand" },
  },
  kill: {
    from: vmStates.filter((state) => state !== "terminated"),
    done: ["terminated"],
    change: { state: "terminated", stateReason: "killed" },
  },
  reclaim: {
    from: vmStates.filter((state) => isLive({ state })),
    done: ["terminating", "terminated"],
    change: { state: "terminating", stateReason: "reclaimed" },
  },
};

/** What an action changes about a VM. Fails with `FailedPrecondition` when the VM's state does not allow it. */
export function applyPower(vm: Pick<Vm, "id" | "state">, action: PowerAction): PowerChange {
  const { from, done, change } = rules[action];
  if (done.includes(vm.state)) return "nothing to do";
  if (from.includes(vm.state)) return change;
  throw new CloudError("FailedPrecondition", `VM ${vm.id} is ${vm.state}: it cannot ${action}`);
}
