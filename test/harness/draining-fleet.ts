import { type Machine, machineResource } from "@millwright/core/machine-api";
import { eventResource, type KubeObject, nodeResource, podResource, secretResource } from "@millwright/kube";
import { expect } from "vitest";
import { type ControlledFleet, startControlledFleet } from "./controlled-fleet.ts";
import { eventually } from "./eventually.ts";
import { createKubectl, type ForeignTool } from "./foreign-tools.ts";
import { type InvariantWatch, watchInvariants } from "./invariants.ts";
import { listOf, type Manifest } from "./manifests.ts";
import type { MillwrightProcess } from "./millwright.ts";
import { type RunningWorkloads, startWorkloads } from "./workloads.ts";

/** The fields of a Pod that tests of drains read. */
export interface DrainPod extends KubeObject {
  readonly spec?: { readonly nodeName?: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

/** A fleet with workloads on its nodes, managed by `millwright run`, with the invariants watched from the start. */
export interface DrainingFleet extends ControlledFleet {
  readonly kubectl: ForeignTool;
  readonly invariants: InvariantWatch;
  readonly workloads: RunningWorkloads;
  /** The current controller process. */
  controllers(): MillwrightProcess;
  /** Kills it, and starts it again when the returned function is called. */
  kill(): Promise<() => void>;
  /** A running machine to drain, and its node. */
  victim(): Promise<{ readonly machine: string; readonly node: string }>;
  /** Applies manifests while only that node is schedulable, and waits until it has that many ready pods. */
  fillNode(node: string, pods: number, ...manifests: readonly Manifest[]): Promise<void>;
  /** Pods on a node, sorted by name, including terminating ones. */
  podsOn(node: string): Promise<readonly DrainPod[]>;
  /** Deletes a machine without waiting for its finalizer. */
  deleteMachine(machine: string): Promise<void>;
  /** The description of the machine's `lastOperation`. */
  lastOperation(machine: string): Promise<string>;
  /** Waits until the description of the machine's `lastOperation` contains or matches the text. */
  untilLastOperation(machine: string, text: RegExp | string, timeoutMs?: number): Promise<string>;
  untilMachineDeleted(machine: string, timeoutMs?: number): Promise<void>;
  /** Messages of a machine's events. */
  eventsOf(machine: string): Promise<readonly string[]>;
  /** Accepted evictions by pod, in order, as the API server saw them. */
  evicted(): readonly string[];
}

const canary = "canary-8c1f60d2";

interface EventObject extends KubeObject {
  readonly message?: string;
  readonly involvedObject?: { readonly name?: string };
}

/** Whether the pod has the condition Ready. */
export const isReady = ({ status }: DrainPod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True") === true;

/** Starts a fleet of `replicas` machines and waits until they run. `flags` are those of `millwright run`. */
export async function startDrainingFleet(replicas: number, ...flags: readonly string[]): Promise<DrainingFleet> {
  const fleet = await startControlledFleet({}, {}, { heartbeatMs: 1_000, silenceMs: 10_000 });
  const { api, server } = fleet;
  const kubectl = await createKubectl(fleet.kubeconfig);
  const workloads = startWorkloads(api, { clusterFaults: server.clusterFaults, attachMs: 50, detachMs: 50 });
  const userData = Buffer.from(`boot <<MACHINE_NAME>> ${canary}`).toString("base64");
  await api.patch(secretResource, { namespace: "default", name: "cloud" }, { data: { userData } }, { kind: "merge" });

  const started: MillwrightProcess[] = [];
  const killed = new Set<MillwrightProcess>();
  const start = (): void => void started.push(fleet.run("--no-leader-elect", ...flags));
  const controllers = (): MillwrightProcess => {
    const last = started.at(-1);
    if (last === undefined) throw new Error("no controllers were started");
    return last;
  };
  const invariants = watchInvariants({
    fleet,
    maxVms: replicas + 2,
    canary,
    alive: () => started.filter((process) => !killed.has(process)),
    started: () => started,
  });
  start();
  await fleet.deploy(replicas);
  await fleet.untilRunning(replicas);

  const machineAt = (name: string): Promise<Machine> =>
    api.get<Machine>(machineResource, { namespace: "default", name });
  const podsOn = async (node: string): Promise<readonly DrainPod[]> =>
    (await api.list<DrainPod>(podResource, { fieldSelector: `spec.nodeName=${node}` })).items.toSorted((a, b) =>
      (a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1,
    );
  const lastOperation = async (machine: string): Promise<string> =>
    (await machineAt(machine)).status?.lastOperation?.description ?? "";

  return {
    ...fleet,
    kubectl,
    invariants,
    workloads,
    controllers,
    async kill() {
      const process = controllers();
      killed.add(process);
      await process.stop("SIGKILL");
      return start;
    },
    async victim() {
      const machine = (await fleet.machines()).find(({ metadata }) => metadata.deletionTimestamp === undefined);
      const node = machine?.metadata.labels?.["node"] ?? "";
      if (machine === undefined || node === "") throw new Error("there is no machine with a node");
      return { machine: machine.metadata.name, node };
    },
    async fillNode(node, count, ...manifests) {
      const nodes = (await api.list(nodeResource)).items.map(({ metadata }) => metadata.name ?? "");
      const others = nodes.filter((name) => name !== node);
      if (others.length > 0) await kubectl(["cordon", ...others]);
      await kubectl(["apply", "-f", "-"], listOf(...manifests));
      await eventually(async () => expect((await podsOn(node)).filter(isReady)).toHaveLength(count), 90_000);
      if (others.length > 0) await kubectl(["uncordon", ...others]);
    },
    podsOn,
    async deleteMachine(machine) {
      await kubectl(["delete", "machine", machine, "--wait=false"]);
    },
    lastOperation,
    untilLastOperation: (machine, text, timeoutMs) =>
      eventually(async () => {
        const description = await lastOperation(machine);
        if (typeof text === "string") expect(description).toContain(text);
        else expect(description).toMatch(text);
        return description;
      }, timeoutMs),
    async untilMachineDeleted(machine, timeoutMs = 80_000) {
      await eventually(async () => {
        const left = (await fleet.machines()).filter(({ metadata }) => metadata.name === machine);
        expect(left.map(({ status }) => status?.lastOperation?.description)).toEqual([]);
      }, timeoutMs);
    },
    async eventsOf(machine) {
      const { items } = await api.list<EventObject>(eventResource, {
        fieldSelector: `involvedObject.name=${machine}`,
      });
      return items.map(({ message = "" }) => message);
    },
    evicted: () =>
      fleet
        .requests()
        .filter(
          ({ verb, resource, subresource, status }) =>
            [verb, resource, subresource, String(status < 300)].join() === "create,pods,eviction,true",
        )
        .map(({ name }) => name),
    async close() {
      await invariants.close();
      await workloads.close();
      await fleet.close();
    },
  };
}
