import { seededRandom } from "@millwright/base";
import { type Driver, MachineError } from "@millwright/core";
import { type Machine, machineClassResource, machineResource, type MachineSet } from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import { secretResource } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { afterEach } from "vitest";
import { createManager } from "../manager/manager.ts";
import type { ManagerOptions } from "../manager/manager-options.ts";
import { aDriver } from "./fake-driver.ts";

/** The namespace in which the managers of tests manage machines. */
export const namespace = "shoot";

const template = { metadata: { labels: { name: "pool" } }, spec: { class: { kind: "MachineClass", name: "small" } } };

/** A driver over VMs by idempotency token, which is all that a real cloud would know. */
export function aCloud() {
  const vms = new Map<string, string>();
  const vmOf = (name: string, token: string) => ({ providerId: vms.get(token) ?? "", nodeName: name });
  const driver = aDriver({
    createMachine: async ({ machine, idempotencyToken }) => {
      vms.set(idempotencyToken, vms.get(idempotencyToken) ?? `vm-${vms.size + 1}`);
      return vmOf(machine.name, idempotencyToken);
    },
    getMachineStatus: async ({ machine }) => {
      if (!vms.has(`${machine.uid}-1`)) throw new MachineError("NotFound", "no VM");
      return vmOf(machine.name, `${machine.uid}-1`);
    },
    deleteMachine: async ({ machine }) => {
      vms.delete(`${machine.uid}-1`);
      return {};
    },
  });
  return { vms, driver };
}

/** A leadership that the test gives and takes. */
export function aLeadership(): {
  readonly leadership: NonNullable<ManagerOptions["leadership"]>;
  readonly give: () => void;
  readonly take: () => void;
  /** Leadership has ended, and no message of it is handled yet. */
  readonly expire: () => void;
} {
  const lost = new AbortController();
  const given = Promise.withResolvers<void>();
  let isLeader = false;
  return {
    leadership: {
      lost: lost.signal,
      acquired: (signal?: AbortSignal) => {
        signal?.addEventListener("abort", () => given.reject(signal.reason));
        return given.promise;
      },
      fence: () => {
        if (!isLeader) throw new Error("another instance leads");
      },
    },
    give: () => {
      isLeader = true;
      given.resolve();
    },
    expire: () => {
      isLeader = false;
    },
    take: () => {
      isLeader = false;
      lost.abort(new Error("another instance leads"));
    },
  };
}

const stops: AbortController[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop.abort(new Error("the test is over"))));

/** Stops what runs in a test when the test is over, at the latest. */
export function aStop(): AbortController {
  const stop = new AbortController();
  stops.push(stop);
  return stop;
}

/** A manager over an API server that holds the class `small`. */
export function aManager(
  driver: Driver = aCloud().driver,
  change: Partial<ManagerOptions> = {},
  clock = createVirtualClock(),
  api = createFakeApi({ clock }),
) {
  const stop = aStop();
  api.seed(machineClassResource, {
    metadata: { namespace, name: "small" },
    provider: "mock",
    providerSpec: {},
    secretRef: { name: "small", namespace },
  });
  const data = { userData: Buffer.from("#cloud-config").toString("base64") };
  api.seed(secretResource, { metadata: { namespace, name: "small" }, data });
  const options = {
    control: api,
    target: api,
    namespace,
    drivers: [driver],
    clock,
    random: seededRandom(1),
    ...change,
  };
  const manager = createManager(options);
  const machines = () => api.all<Machine>(machineResource);
  const phases = () => machines().map(({ status }) => status?.currentStatus?.phase);
  return { api, clock, manager, stop, machines, phases };
}

/** The set `pool`. */
export const aSet = (replicas: number): MachineSet => ({
  metadata: { namespace, name: "pool" },
  spec: { replicas, selector: { matchLabels: { name: "pool" } }, template },
});
