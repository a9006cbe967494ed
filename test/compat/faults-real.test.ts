import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  labelKeys,
  type Machine,
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { createClusterFaults, kubeconfigFor } from "@millwright/devcluster";
import {
  customResourceDefinitionResource,
  isInvalid,
  isNotFound,
  isPatchMismatch,
  type KubeObject,
  podResource,
  type ResourceType,
} from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { type MillwrightProcess, startControllers } from "../harness/millwright.ts";
import { type FaultyProxy, startFaultyProxy } from "./faulty-proxy.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const namespace = "default";
const HEALTH_TIMEOUT_MS = 6_000;
const fleetRef = { namespace, name: "fleet" };

const policies: ResourceType = {
  group: "admissionregistration.k8s.io",
  version: "v1",
  kind: "ValidatingAdmissionPolicy",
  plural: "validatingadmissionpolicies",
  namespaced: false,
};
const bindings: ResourceType = {
  ...policies,
  kind: "ValidatingAdmissionPolicyBinding",
  plural: "validatingadmissionpolicybindings",
};
const refusal = { name: "refuse-status" };

/** Faults of a control cluster and its nodes, with a real kube-apiserver. Its machines are those of one deployment. */
describe("faults on a real kube-apiserver", () => {
  const clusterFaults = createClusterFaults();
  let fleet: RealFleet;
  let proxy: FaultyProxy;
  let folder: string;
  let millwright: MillwrightProcess;

  beforeAll(async () => {
    fleet = await startRealFleet({ clusterFaults, heartbeatMs: 400, silenceMs: 3_000 });
    proxy = await startFaultyProxy(fleet.plane);
    folder = await mkdtemp(join(tmpdir(), "millwright-faults-"));
    const kubeconfig = join(folder, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigFor(proxy.url, { token: fleet.controllersToken }), { mode: 0o600 });
    millwright = startControllers(
      kubeconfig,
      `--machine-health-timeout=${HEALTH_TIMEOUT_MS}ms`,
      "--machine-safety-apiserver-statuscheck-timeout=3s",
    );
    await fleet.api.create(machineClassResource, machineClass("small"));
    await fleet.api.create(machineDeploymentResource, machineDeployment("fleet", "small", 2));
    await untilRunning(2);
  }, REAL_FLEET_MS);

  afterAll(async () => {
    await millwright.stop("SIGKILL");
    await proxy.close();
    await fleet.close();
    await rm(folder, { recursive: true, force: true });
  }, 60_000);

  const untilRunning = (count: number): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
    });
  const scale = (replicas: number): Promise<unknown> =>
    fleet.api.patch(machineDeploymentResource, fleetRef, { spec: { replicas } }, { kind: "merge" });
  const calls = (operation: string): number => fleet.cloud.calls.filter((call) => call.operation === operation).length;
  const nodeOf = (machine: Machine | undefined): string => machine?.metadata.labels?.[labelKeys.node] ?? "";
  const descriptionOf = async (name: string): Promise<string> =>
    (await fleet.api.get<Machine>(machineResource, { namespace, name })).status?.lastOperation?.description ?? "";

  it("replaces no machine for the time in which the API server does not answer", async () => {
    const before = vmsOf(await fleet.machines());
    const [machine] = await fleet.machines();
    const stopped = clusterFaults.add({ kind: "kubelet-stops", nodes: [nodeOf(machine)] });
    await eventually(async () => expect((await fleet.machines()).map(phaseOf)).toContain("Unknown"));
    proxy.stall();
    await millwright.waitFor(/an API server does not respond/);
    await pause(HEALTH_TIMEOUT_MS);
    proxy.resume();
    await millwright.waitFor(/An API server responds again/);
    stopped.remove();
    await untilRunning(2);
    expect(vmsOf(await fleet.machines())).toEqual(before);
    expect([calls("create"), calls("delete")]).toEqual([2, 0]);
  });

  it("keeps all machines when lists are empty after their watch has expired", async () => {
    const before = vmsOf(await fleet.machines());
    proxy.emptyLists("machines", 2);
    await eventually(async () => expect(await Promise.resolve(proxy.listsToEmpty())).toBe(0));
    await scale(3);
    await untilRunning(3);
    expect(vmsOf(await fleet.machines())).toEqual(expect.arrayContaining([...before]));
    expect([calls("create"), calls("delete")]).toEqual([3, 0]);
  });

  it("creates one VM for a machine whose status is refused, and continues when it is accepted", async () => {
    const rule = { apiGroups: [machineResource.group], apiVersions: ["*"], operations: ["UPDATE"] };
    await fleet.api.create(policies, {
      metadata: refusal,
      spec: {
        matchConstraints: { resourceRules: [{ ...rule, resources: ["machines/status"] }] },
        validations: [{ expression: "false", message: "the status is refused" }],
      },
    });
    await fleet.api.create(bindings, {
      metadata: refusal,
      spec: { policyName: refusal.name, validationActions: ["Deny"] },
    });
    const [probed] = await fleet.machines();
    const ref = { namespace, name: probed?.metadata.name ?? "" };
    const probe = (): Promise<unknown> =>
      fleet.api.patch(machineResource, ref, [{ op: "add", path: "/status/lastKnownState", value: "probe" }], {
        kind: "json",
        subresource: "status",
        dryRun: true,
      });
    // A refusal is not what the writer takes for a conflict.
    await eventually(async () => {
      const error: unknown = await probe().catch((thrown: unknown) => thrown);
      expect([isInvalid(error), isPatchMismatch(error)]).toEqual([true, false]);
    });
    await scale(4);
    await eventually(async () => expect(await Promise.resolve(fleet.cloud.vms())).toHaveLength(4));
    await pause(3_000);
    expect((await fleet.machines()).filter((machine) => phaseOf(machine) === "Running")).toHaveLength(3);
    await fleet.api.delete(bindings, refusal);
    await untilRunning(4);
    expect([calls("create"), calls("delete")]).toEqual([4, 0]);
  });

  it("acts on all other machines while one cannot be read, and on that one when it is fixed", async () => {
    const name = `machines.${machineResource.group}`;
    const crd = await fleet.api.get(customResourceDefinitionResource, { name });
    const anything = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    await fleet.api.patch(
      customResourceDefinitionResource,
      { name },
      [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: anything }],
      { kind: "json" },
    );
    await eventually(() =>
      fleet.api.create(machineResource, {
        metadata: { namespace, name: "unreadable" },
        spec: { class: "small" },
      }),
    );
    const phases = async (): Promise<readonly unknown[]> =>
      (await fleet.machines()).filter(({ metadata }) => metadata.name !== "unreadable").map(phaseOf);
    await scale(5);
    await eventually(async () => expect(await phases()).toEqual(Array.from({ length: 5 }, () => "Running")));
    await millwright.waitFor(/spec\.class: must be an object/);
    expect(fleet.cloud.vms()).toHaveLength(5);

    const ref = { namespace, name: "unreadable" };
    await fleet.api.patch(
      machineResource,
      ref,
      { spec: { class: { kind: "MachineClass", name: "small" } } },
      { kind: "merge" },
    );
    await untilRunning(6);
    await fleet.api.delete(machineResource, ref);
    await eventually(async () => expect(await fleet.machines()).toHaveLength(5));
    const [{ schema }] = (
      crd["spec"] as { readonly versions: readonly [{ readonly schema: { openAPIV3Schema: object } }] }
    ).versions;
    await fleet.api.patch(
      customResourceDefinitionResource,
      { name },
      [{ op: "replace", path: "/spec/versions/0/schema/openAPIV3Schema", value: schema.openAPIV3Schema }],
      { kind: "json" },
    );
  });

  it("releases no pod of an unreachable node while its VM cannot be deleted, and drains the node when it recovers", async () => {
    const [machine] = await fleet.machines();
    const { name = "" } = machine?.metadata ?? {};
    const node = nodeOf(machine);
    const pod = { namespace, name: "db-0" };
    const isHere = async (): Promise<boolean> =>
      fleet.api.get(podResource, pod).then(
        ({ metadata }) => metadata.deletionTimestamp === undefined,
        (error: unknown) => {
          if (isNotFound(error)) return false;
          throw error;
        },
      );
    await fleet.api.create(podResource, {
      metadata: pod,
      spec: { nodeName: node, containers: [{ name: "db", image: "db:1" }], automountServiceAccountToken: false },
    });
    await fleet.cloud.addFault({ operation: "delete", code: "Unavailable", times: 1_000 });
    const stopped = clusterFaults.add({ kind: "kubelet-stops", nodes: [node] });
    await fleet.api.patch(
      machineResource,
      { namespace, name },
      { metadata: { labels: { [labelKeys.forceDeletion]: "True" } } },
      { kind: "merge" },
    );
    await eventually(async () => {
      const { status } = await fleet.api.get<Machine>(machineResource, { namespace, name });
      expect(status?.currentStatus?.phase).toBe("Unknown");
    });
    await fleet.api.delete(machineResource, { namespace, name });
    await eventually(async () => expect(await descriptionOf(name)).toContain(`Node ${node} is unreachable`));
    await eventually(async () => expect(calls("delete")).toBeGreaterThan(2));
    expect(await isHere()).toBe(true);
    stopped.remove();
    await eventually(async () => expect(await isHere()).toBe(false));
    expect(await fleet.machines()).toContainEqual(
      expect.objectContaining({ metadata: expect.objectContaining({ name }) }),
    );
    await fleet.cloud.clearFaults();
    await untilRunning(5);
  });

  it("writes no status to a new machine of the name of a deleted one", async () => {
    const other = { namespace: "other", name: "m" };
    await fleet.api.create(
      { group: "", version: "v1", kind: "Namespace", plural: "namespaces", namespaced: false },
      { metadata: { name: "other" } },
    );
    const create = (): Promise<KubeObject> => fleet.api.create(machineResource, { metadata: other, spec: {} });
    const write = (uid: string | undefined): Promise<KubeObject> =>
      fleet.api.patch(
        machineResource,
        other,
        [
          { op: "test", path: "/metadata/uid", value: uid },
          { op: "test", path: "/status", value: null },
          { op: "add", path: "/status", value: { lastKnownState: "old" } },
        ],
        { kind: "json", subresource: "status" },
      );
    const first = await create();
    await fleet.api.delete(machineResource, other);
    const second = await create();
    const error: unknown = await write(first.metadata.uid).catch((thrown: unknown) => thrown);
    expect(isPatchMismatch(error)).toBe(true);
    expect((await fleet.api.get(machineResource, other))["status"]).toBeUndefined();
    expect((await write(second.metadata.uid))["status"]).toEqual({ lastKnownState: "old" });
  });
});
