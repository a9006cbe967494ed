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

/** Read by `millwright describe machine` and, as a table, in docs/reference/status.md#phases-of-machines. */
export const phaseGuide: Readonly<Record<MachinePhase, PhaseGuide>> = {
  "": {
    cause: "The machine was just created, or its VM is being created.",
    controller: "Adds its finalizer, records the creation intent, and calls the driver, which finds or creates the VM.",
    person: "Wait. The machine has until its creation timeout, counted from when the controllers first saw it.",
  },
  Pending: {
    cause: "The VM exists; its Node has not joined the cluster, or is not ready, or has a startup taint.",
    controller: "Waits for the Node. After the creation timeout the machine is Failed.",
    person:
      "If no Node appears, check the VM: its console, its user data, its connection to the API server, and its bootstrap token.",
  },
  Available: {
    cause: "The VM exists and there is no cluster to join.",
    controller: "Nothing: this is the final phase without a target cluster.",
    person: "Nothing is needed.",
  },
  CrashLoopBackOff: {
    cause:
      "The VM could not be created, read or initialized, or the machine, its class or its Secret is invalid; see the last operation.",
    controller:
      "Retries with exponential backoff, and immediately when the class or the Secret changes. If the driver still fails after the creation timeout, the machine is Failed.",
    person:
      "Fix what the last operation names: credentials, quota, a field of the MachineClass. The creation is then retried. Or delete the machine.",
  },
  Running: {
    cause: "The Node is ready and none of its conditions is bad. Startup taints that it gets later change nothing.",
    controller:
      "Keeps labels, annotations, taints and virtual capacity of the Node in sync with the template, and checks its health.",
    person: "Nothing is needed. Deleting the machine or its Node replaces it.",
  },
  Unknown: {
    cause: "The Node is deleted, not ready, or has a bad condition; the last operation names it.",
    controller:
      "Waits for the Node to recover. After the health timeout the machine is Failed, unless remediation is paused: other machines of the deployment are being replaced, the unhealthy nodes suggest an outage, or the API server is unreachable.",
    person:
      "Check the node. To keep the machine even if it fails, annotate it `node.machine.sapcloud.io/preserve=when-failed`; to replace it now, delete it.",
  },
  Failed: {
    cause:
      "The creation timeout or the health timeout has passed, the cloud reclaims the VM, or the VM has the name of an existing Node.",
    controller:
      "The MachineSet deletes the machine and creates another one, unless it is preserved. If the node recovers first, the machine is Running again.",
    person:
      "To find out why, annotate it `node.machine.sapcloud.io/preserve=now` before it is replaced. Then check the last operation, the history and the VM.",
  },
  Terminating: {
    cause: "The machine or its Node was deleted, or its MachineSet scaled it down or replaced it.",
    controller:
      "Cordons and drains the Node, waits for volumes, deletes the VM and then the Node, and removes the finalizer. The last operation ends with the next stage.",
    person:
      "If the drain does not progress, check the PodDisruptionBudgets and pods that it names. The label `force-deletion=True` forces the drain: pods are deleted without eviction.",
  },
  InPlaceUpdating: {
    cause: "The Node was selected for an in-place update and is drained.",
    controller: "Waits for the agent on the Node to report. After the in-place update timeout the update has failed.",
    person: "If the agent does not report, check its log on the node.",
  },
  InPlaceUpdateSuccessful: {
    cause: "The agent on the Node reported success.",
    controller:
      "Waits for the Node to be healthy and without startup taint; the machine is then Running. While it is not healthy, the machine is Failed and replaced after the health timeout.",
    person:
      "Nothing is needed while the Node becomes ready. If a startup taint stays, check the agent that removes it.",
  },
  InPlaceUpdateFailed: {
    cause: "The agent on the Node reported a failure, or did not report in time.",
    controller: "After the health timeout the machine is Failed and replaced.",
    person: "Check the reason in the last operation and the log of the agent. To replace the machine now, delete it.",
  },
};
