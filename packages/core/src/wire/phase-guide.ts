import type { MachinePhase } from "./phases.ts";

/** What a phase is about, for people. Each text is one or two sentences. */
export interface PhaseGuide {
  /** What brings a machine into the phase. */
  readonly cause: string;
  /** What the controllers do about it by themselves. */
  readonly controller: string;
  /** What a person can do, if anything. */
  readonly person: string;
}

/** Read by `millwright describe machine` and, as a table, in docs/machine-phases.md. */
export const phaseGuide: Readonly<Record<MachinePhase, PhaseGuide>> = {
  "": {
    cause: "The machine was just made, or its VM is being created.",
    controller:
      "Puts on its finalizer, remembers what it is about to ask for, and lets the driver find or create the VM.",
    person: "Wait. The machine has until its creation timeout, counted from its creation.",
  },
  Pending: {
    cause: "The VM exists; its Node has not joined the cluster, or is not ready, or has a startup taint.",
    controller: "Waits for the Node. After the creation timeout the machine is Failed.",
    person:
      "Where no Node comes at all, look at the VM: its console, its user data, whether it reaches the API server, and whether its bootstrap token is accepted.",
  },
  Available: {
    cause: "The VM exists and there is no cluster to join.",
    controller: "Nothing: this is the end of the way without a target cluster.",
    person: "Nothing is needed.",
  },
  CrashLoopBackOff: {
    cause:
      "The VM could not be created, read or initialized, or the machine, its class or its Secret cannot be followed; the last operation says what is wrong.",
    controller:
      "Tries again with growing delays, and at once when the class or the Secret changes. After the creation timeout a machine whose driver fails is Failed.",
    person:
      "Mend what the last operation names: credentials, quota, a field of the class. Then nothing more is needed; or delete the machine.",
  },
  Running: {
    cause: "The Node is ready and none of its conditions is bad.",
    controller:
      "Keeps labels, annotations, taints and virtual capacity of the Node as the template wants them, and watches its health.",
    person: "Nothing is needed. Deleting the machine or its Node replaces it.",
  },
  Unknown: {
    cause: "The Node is gone, not ready, or has a bad condition; the last operation names it.",
    controller:
      "Waits for it to recover. After the health timeout the machine is Failed, unless others of its deployment are being replaced, too many nodes went at once, or the API server was away.",
    person:
      "Look at the node. To keep the machine however it goes, annotate it `node.machine.sapcloud.io/preserve=when-failed`; to replace it now, delete it.",
  },
  Failed: {
    cause: "The creation timeout or the health timeout has passed, or the VM came up under the name of another Node.",
    controller:
      "The MachineSet deletes the machine and makes another one, unless it is preserved. A node that recovers before that makes it Running again.",
    person:
      "To find out why, annotate it `node.machine.sapcloud.io/preserve=now` before it is replaced, and look at the last operation, the history and the VM.",
  },
  Terminating: {
    cause: "The machine, or its Node, was deleted, or its MachineSet gave it up.",
    controller:
      "Cordons and drains the Node, waits for volumes, deletes the VM and then the Node, and lets the object go. The last operation ends with the stage that is next.",
    person:
      "Where the drain hangs, look at the budgets and pods that it names. The label `force-deletion=True` ends the drain at once; pods are lost then.",
  },
  InPlaceUpdating: {
    cause: "The Node was chosen for an update in place, and its pods have left.",
    controller: "Waits for the agent on the Node to report. After the in-place timeout the update has failed.",
    person: "Where the agent does not report, look at its log on the node.",
  },
  InPlaceUpdateSuccessful: {
    cause: "The agent on the Node reported success.",
    controller:
      "Waits for the Node to be healthy; the machine is Running then. After the health timeout it is Failed, and replaced.",
    person: "Nothing is needed while the Node comes back.",
  },
  InPlaceUpdateFailed: {
    cause: "The agent on the Node reported a failure, or did not report in time.",
    controller: "After the health timeout the machine is Failed, and replaced.",
    person:
      "Look at the reason in the last operation and at the log of the agent. Deleting the machine replaces it now.",
  },
};
