import {
  finalizers,
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import type { RequestRecord } from "@millwright/devcluster";
import type { KubeObject } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";
import { type MillwrightProcess, startMillwright } from "../harness/millwright.ts";

const FLEET = 1_000;
const namespace = "default";
const place = { machineType: "small", region: "r1", zone: "r1-a", image: "linux" } as const;

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);

/** How many requests of each kind. */
const countsOf = (records: readonly RequestRecord[]): Readonly<Record<string, number>> => {
  const texts = records.map(({ verb, isList, resource }) => (isList ? "list" : `${verb} ${resource}`));
  return Object.fromEntries([...Map.groupBy(texts, (text) => text)].map(([text, all]) => [text, all.length]));
};

/**
 * A standby of a thousand machines, with the default times of the leases. Durations are printed, and not bounded: what makes a take-over quick is that no list
 * comes before the first reconcile: the standby has the watches that it had while it waited.
 */
describe("a standby of a thousand machines", () => {
  let installation: Installation;
  const started: MillwrightProcess[] = [];

  const start = async (): Promise<MillwrightProcess> => {
    const kubeconfig = `--control-kubeconfig=${installation.controllersKubeconfig}`;
    const process = startMillwright(["run", "--provider=mock", kubeconfig, "--target-kubeconfig=none"]);
    started.push(process);
    await process.waitFor(/"Ready"/, 120_000);
    return process;
  };
  const requests = (): readonly RequestRecord[] =>
    installation.server.requests.filter(({ userAgent }) => userAgent.startsWith("millwright"));
  const since = (fromMs: number): readonly RequestRecord[] => requests().filter(({ time }) => time.getTime() >= fromMs);
  /** Watches of machines that run. A list may be part of a watch, which is recorded when it ends. */
  const watches = async (): Promise<number> => {
    const text = await (await fetch(`${installation.url}/metrics`)).text();
    return Number(/apiserver_longrunning_requests\{[^}]*resource="machines"\} (\d+)/.exec(text)?.[1]);
  };
  /** Adds a machine to the set, and resolves with the requests until it is created. */
  const untilScaledTo = async (replicas: number, fromMs: number): Promise<readonly RequestRecord[]> => {
    const ref = { namespace, name: "fleet" };
    await installation.api.patch(machineSetResource, ref, { spec: { replicas } }, { kind: "merge" });
    return eventually(async () => {
      const all = since(fromMs);
      const index = all.findIndex(({ verb, resource }) => verb === "create" && resource === "machines");
      if (index === -1) throw new Error("no machine was created");
      return Promise.resolve(all.slice(0, index + 1));
    }, 120_000);
  };

  /** Of the kinds of which there are some; the caches that are empty are compared with the server when the process takes the lead. */
  const isListOfSome = ({ isList, resource }: { readonly isList: boolean; readonly resource: string }): boolean =>
    isList && ["machines", "machinesets", "machineclasses"].includes(resource);

  /** A set with its machines and their VMs, as a leader would leave them. */
  async function createFleet(): Promise<void> {
    const { api, cloud } = installation;
    const labels = { name: "fleet" };
    const spec = { class: { kind: "MachineClass", name: "small" } };
    await api.create(machineClassResource, machineClass("small"));
    const set: KubeObject = await api.create(machineSetResource, {
      apiVersion: machineApiVersion,
      kind: "MachineSet",
      metadata: { namespace, name: "fleet" },
      spec: { replicas: FLEET, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    const owner = { apiVersion: machineApiVersion, kind: "MachineSet", name: "fleet", uid: set.metadata.uid ?? "" };
    const create = async (index: number): Promise<void> => {
      const name = `fleet-${index}`;
      const vm = await cloud.createVm({ name, token: name, ...place });
      const machine: KubeObject = {
        apiVersion: machineApiVersion,
        kind: "Machine",
        metadata: {
          namespace,
          name,
          labels,
          finalizers: [finalizers.machine],
          ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
        },
        spec: { ...spec, providerID: `mock:///local/${vm.id}` },
      };
      await api.create(machineResource, machine);
      const operation = { type: "Create", state: "Successful", description: "Created", lastUpdateTime: new Date() };
      const status = { currentStatus: { phase: "Available" }, lastOperation: operation };
      await api.patch<Machine>(
        machineResource,
        { namespace, name },
        { status },
        { kind: "merge", subresource: "status" },
      );
    };
    for (const batch of range(FLEET / 20)) await Promise.all(range(20).map((index) => create(batch * 20 + index)));
  }

  beforeEach(async () => {
    installation = await startInstallation({ bootDelayMs: 10 }, { requestLogLimit: 100_000 });
    await createFleet();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((process) => process.stop("SIGKILL")));
    await installation.close();
  });

  it("only watches while it waits, and reconciles without a list when it leads", async () => {
    const first = await start();
    await first.waitFor(/"Leading"/);
    expect(await watches()).toBe(1);

    const startMs = Date.now();
    // Ready while the other one leads: its caches are filled.
    const second = await start();
    expect(await watches()).toBe(2);
    console.info("until it was ready, the standby sent, with the leader:", countsOf(since(startMs)));
    const waitMs = Date.now();
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    const waiting = countsOf(since(waitMs));
    console.info("in 10 s of waiting:", waiting);
    expect(Object.keys(waiting)).not.toContain("list");
    expect(second.output()).not.toContain('"Leading"');

    expect(await first.stop("SIGTERM")).toBe(0);
    const stoppedMs = Date.now();
    const afterStop = await untilScaledTo(FLEET + 1, stoppedMs);
    console.info(`after SIGTERM a machine was created in ${(afterStop.at(-1)?.time.getTime() ?? 0) - stoppedMs} ms`);
    expect(afterStop.filter(isListOfSome)).toEqual([]);
    expect(await watches()).toBe(1);

    await start();
    await second.stop("SIGKILL");
    const killedMs = Date.now();
    const afterKill = await untilScaledTo(FLEET + 2, killedMs);
    console.info(`after SIGKILL a machine was created in ${(afterKill.at(-1)?.time.getTime() ?? 0) - killedMs} ms`);
    expect(afterKill.filter(isListOfSome)).toEqual([]);
    await eventually(async () => expect(await watches()).toBe(1));
    expect(await installation.machines()).toHaveLength(FLEET + 2);
  });
});
