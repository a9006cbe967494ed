import {
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { createKubectl, type ForeignTool } from "../harness/foreign-tools.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const namespace = "default";

/** Which VM belongs to which Machine where the API server decides: garbage collection, labels, rules of the CRD, deletions. */
describe("identity on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kubectl: ForeignTool;

  beforeAll(async () => {
    fleet = await startRealFleet();
    kubectl = await createKubectl(fleet.kubeconfig);
    await fleet.api.create(machineClassResource, machineClass("small"));
    fleet.runAlone();
  }, REAL_FLEET_MS);

  afterAll(() => fleet.close(), 60_000);

  const machine = (name: string, spec: object = {}, metadata: object = {}) => ({
    apiVersion: machineApiVersion,
    kind: "Machine",
    metadata: { name, namespace, ...metadata },
    spec: { class: { kind: "MachineClass", name: "small" }, ...spec },
  });
  const read = (name: string): Promise<Machine> => fleet.api.get<Machine>(machineResource, { namespace, name });
  const namesOf = async (type: typeof machineResource | typeof machineSetResource): Promise<readonly string[]> =>
    (await fleet.api.list(type, { namespace })).items.map(({ metadata }) => metadata.name ?? "").toSorted();
  const vmNames = (): readonly string[] =>
    fleet.cloud
      .vms()
      .map(({ name }) => name)
      .toSorted();
  const untilPhase = (name: string, phase: string): Promise<void> =>
    eventually(async () => expect(phaseOf(await read(name))).toBe(phase));

  it("kubectl delete --cascade=orphan of a deployment, then of its set, keeps machines and VMs", async () => {
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=2", "machinedeployment/fleet", "--timeout=60s"]);
    const before = await namesOf(machineResource);
    expect(vmNames()).toEqual(before);
    const [set = ""] = await namesOf(machineSetResource);
    await kubectl(["delete", "machinedeployment", "fleet", "--cascade=orphan", "--timeout=60s"]);
    expect(await namesOf(machineSetResource)).toEqual([set]);
    await kubectl(["delete", "machineset", set, "--cascade=orphan", "--timeout=60s"]);
    // A later reconcile of all of them, by a machine that is created and deleted, deletes none either.
    await fleet.api.create(machineResource, machine("later"));
    await untilPhase("later", "Running");
    await kubectl(["delete", "machine", "later", "--timeout=60s"]);
    const machines = await fleet.machines();
    expect(machines.map(({ metadata }) => metadata.name).toSorted()).toEqual(before);
    expect(machines.map(({ metadata }) => [metadata.deletionTimestamp, metadata.ownerReferences ?? []])).toEqual([
      [undefined, []],
      [undefined, []],
    ]);
    expect(vmNames()).toEqual(before);
    await kubectl(["delete", "machines", "--all", "--timeout=60s"]);
    expect(vmNames()).toEqual([]);
  });

  it("a set whose machines lose their labels stops creating machines, and adopts them when the labels are back", async () => {
    const strip = async (signal: AbortSignal): Promise<void> => {
      while (!signal.aborted) {
        for (const { metadata } of await fleet.machines())
          if (metadata.labels?.["name"] !== undefined)
            await fleet.api.patch(
              machineResource,
              { namespace, name: metadata.name },
              { metadata: { labels: { name: null } } },
              { kind: "merge" },
            );
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    const stop = new AbortController();
    const stripping = strip(stop.signal);
    try {
      await fleet.api.create(machineDeploymentResource, machineDeployment("stripped", "small", 3));
      await eventually(async () => {
        const [set] = (await fleet.api.list(machineSetResource, { namespace })).items;
        expect([set?.metadata.labels?.["freeze"], JSON.stringify(set?.["status"])]).toEqual([
          "True",
          expect.stringContaining("MachinesReleased"),
        ]);
      });
    } finally {
      stop.abort();
      await stripping;
    }
    const names = await namesOf(machineResource);
    expect(names.length).toBeLessThanOrEqual(6);
    await kubectl(["label", "machines", "--all", "name=stripped"]);
    await kubectl(["wait", "--for=jsonpath={.status.readyReplicas}=3", "machinedeployment/stripped", "--timeout=60s"]);
    // The surplus is deleted.
    await eventually(async () => {
      expect(await namesOf(machineResource)).toHaveLength(3);
      expect(vmNames()).toEqual(await namesOf(machineResource));
    });
    const kept = await namesOf(machineResource);
    expect(names).toEqual(expect.arrayContaining([...kept]));
    await kubectl(["delete", "machinedeployment", "stripped", "--timeout=60s"]);
    expect(vmNames()).toEqual([]);
  });

  it("the provider id of a machine cannot be changed to that of another VM, and its copy never touches its VM", async () => {
    await fleet.api.create(machineResource, machine("real"));
    await untilPhase("real", "Running");
    const real = await read("real");
    const change = (providerID: string) =>
      kubectl.attempt(["patch", "machine", "real", "--type=merge", "-p", JSON.stringify({ spec: { providerID } })]);
    const refused = await change("mock:///eu-1/i-another");
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("cannot be changed to another VM")]);

    const { labels, annotations } = real.metadata;
    await fleet.api.create(machineResource, machine("copy", real.spec, { labels, annotations }));
    await eventually(async () =>
      expect((await read("copy")).status?.conditions).toContainEqual(
        expect.objectContaining({ type: "Conflict", status: "True" }),
      ),
    );
    const calls = fleet.cloud.calls.length;
    await kubectl(["delete", "machine", "copy", "--timeout=60s"]);
    expect([fleet.cloud.calls.length, vmNames()]).toEqual([calls, ["real"]]);
    expect(phaseOf(await read("real"))).toBe("Running");
    await kubectl(["delete", "machine", "real", "--timeout=60s"]);
    expect(vmNames()).toEqual([]);
  });

  it("a machine that never had a VM is deleted without a call of its driver", async () => {
    const calls = fleet.cloud.calls.length;
    await fleet.api.create(machineResource, machine("classless", { class: { kind: "MachineClass", name: "none" } }));
    await untilPhase("classless", "CrashLoopBackOff");
    await kubectl(["delete", "machine", "classless", "--timeout=30s"]);
    expect(await namesOf(machineResource)).toEqual([]);
    expect(fleet.cloud.calls.length).toBe(calls);
  });
});
