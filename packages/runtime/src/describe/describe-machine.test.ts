import { isConfigError } from "@millwright/base";
import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import {
  ApiError,
  customResourceDefinitionResource,
  eventResource,
  type KubeObject,
  nodeResource,
} from "@millwright/kube";
import { createFakeApi, type FakeApi, serverError } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { clockDiffers } from "./clock-skew-texts.ts";
import { describeMachine } from "./describe-machine.ts";

const namespace = "default";
const api = machineResource.group + "/v1alpha1";
const ownedBy = (kind: string, name: string, uid: string) => ({
  ownerReferences: [{ apiVersion: api, kind, name, uid, controller: true }],
});
const template = { spec: { class: { kind: "MachineClass", name: "small" } } };
const aMachine = (extra: { readonly metadata?: object; readonly spec?: object } = {}) => ({
  apiVersion: api,
  kind: "Machine",
  metadata: { name: "m", namespace, ...ownedBy("MachineSet", "s", "uid-s"), ...extra.metadata },
  spec: { ...template.spec, providerID: "vm-1", ...extra.spec },
  status: { currentStatus: { phase: "Running", lastUpdateTime: "2026-01-01T00:00:00Z" } },
});

function aCluster(machine: object = aMachine()): FakeApi {
  const fake = createFakeApi();
  const seed = (
    type:
      | typeof machineResource
      | typeof machineSetResource
      | typeof machineDeploymentResource
      | typeof machineClassResource,
    object: object,
  ) => fake.seed(type, object as never);
  seed(machineResource, machine);
  seed(machineSetResource, {
    apiVersion: api,
    kind: "MachineSet",
    metadata: { name: "s", namespace, uid: "uid-s", ...ownedBy("MachineDeployment", "d", "uid-d") },
    spec: { template },
  });
  seed(machineDeploymentResource, {
    apiVersion: api,
    kind: "MachineDeployment",
    metadata: { name: "d", namespace, uid: "uid-d" },
    spec: { template },
  });
  seed(machineClassResource, {
    apiVersion: api,
    kind: "MachineClass",
    metadata: { name: "small", namespace },
    provider: "mock",
    providerSpec: {},
    secretRef: { name: "cloud", namespace },
  });
  return fake;
}
const aNode = (name: string, providerID = "vm-1", labels = {}) => ({
  metadata: { name, labels },
  spec: { providerID },
});
const ask = (control: FakeApi, target: FakeApi | undefined = control, signal?: AbortSignal) =>
  describeMachine({
    control,
    target,
    namespace,
    name: "m",
    clock: createVirtualClock(),
    ...(signal === undefined ? {} : { signal }),
  });

describe("describeMachine of a machine that is being deleted", () => {
  const marked = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["x"] } };
  const declare = (fake: FakeApi, name: string, deletionTimestamp?: string): void =>
    void fake.seed(customResourceDefinitionResource, {
      metadata: {
        name: `${name}.machine.sapcloud.io`,
        creationTimestamp: "2025-01-01T00:00:00Z",
        finalizers: ["cleanup"],
        ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      },
    });

  it.each(["machines", "machinesets"])(
    "reports that it is kept, and what to do, when that of %s is deleted",
    async (name) => {
      const cluster = aCluster(aMachine(marked));
      declare(cluster, name, "2026-01-01T00:00:00Z");
      const { deletionPaused, next } = await ask(cluster);
      expect(deletionPaused).toContain(`CustomResourceDefinition ${name}.machine.sapcloud.io is being deleted`);
      expect(next.controller).toContain("VM, node and object are kept");
      expect(next.person).toContain("allow-crd-deletion=true");
    },
  );

  it("reports no pause when CRDs are established, may not be read, or the machine is not terminating", async () => {
    const cluster = aCluster(aMachine(marked));
    declare(cluster, "machines");
    expect((await ask(cluster)).deletionPaused).toBeUndefined();
    const refusal = new ApiError({ status: 403, reason: "Forbidden", message: "may not" });
    cluster.inject({ verb: "get", type: customResourceDefinitionResource, error: refusal, times: 2 });
    expect((await ask(cluster)).deletionPaused).toBeUndefined();
    expect((await ask(aCluster())).deletionPaused).toBeUndefined();
  });

  it.each([
    ["its class lost its Secret", "SecretNotFound", "small", "Create Secret cloud again"],
    ["its class is invalid", "ClassUnusable", "small", "Correct MachineClass small"],
    ["its class is gone", "ClassUnusable", "gone", "Create MachineClass gone again"],
    ["its drain is stuck", "StillInUse", "small", "PodDisruptionBudget"],
  ])("names what helps the deletion when %s", async (_, reason, className, help) => {
    const details = { reason, stage: "DeleteVm" };
    const cluster = aCluster({
      ...aMachine({ ...marked, spec: { class: { kind: "MachineClass", name: className } } }),
      status: { lastOperation: { type: "Delete", state: "Failed", details } },
    });
    expect((await ask(cluster)).next.person).toContain(help);
  });

  it("fails when the server does not answer", async () => {
    const cluster = aCluster(aMachine(marked));
    cluster.inject({ verb: "get", type: customResourceDefinitionResource, error: serverError() });
    await expect(ask(cluster)).rejects.toThrow("the API server is unreachable");
  });
});

describe("describeMachine", () => {
  it("shows that the controllers' clock differs from that of an API server", async () => {
    const cluster = aCluster();
    const message = clockDiffers("control", 61);
    const lastTimestamp = createVirtualClock().now().toISOString();
    const involvedObject = { kind: "Namespace", name: namespace };
    cluster.seed<KubeObject>(eventResource, {
      metadata: { namespace, name: "e" },
      involvedObject,
      reason: "ClockSkew",
      message,
      lastTimestamp,
    });
    expect((await ask(cluster)).clockSkews).toEqual([message]);
    expect(await ask(aCluster())).not.toHaveProperty("clockSkews");
  });

  it("reads a machine with its owners, its class and its node, and writes nothing", async () => {
    const cluster = aCluster(aMachine({ metadata: { labels: { node: "n" } } }));
    cluster.seed(nodeResource, aNode("n"));
    await expect(ask(cluster, cluster, new AbortController().signal)).resolves.toMatchObject({
      name: "m",
      machineSet: "s",
      machineDeployment: "d",
      machineClass: { name: "small", exists: true },
      node: { name: "n", state: "present" },
    });
    expect(cluster.writes()).toEqual([]);
  });

  it("finds the node by its own label where the machine names none, or one of another VM", async () => {
    const cluster = aCluster(aMachine({ metadata: { labels: { node: "other" } } }));
    cluster.seed(nodeResource, aNode("other", "vm-9"));
    cluster.seed(nodeResource, aNode("n", "vm-1", { "node.gardener.cloud/machine-name": "m" }));
    expect((await ask(cluster)).node).toEqual({ name: "n", state: "present" });
  });

  it("does without whatever is not there", async () => {
    const lonely = aCluster(
      aMachine({ metadata: { ownerReferences: [] }, spec: { class: { kind: "MachineClass", name: "gone" } } }),
    );
    const report = await ask(lonely);
    expect(report).not.toHaveProperty("machineSet");
    expect(report).toMatchObject({ machineClass: { name: "gone", exists: false }, node: { state: "missing" } });
  });

  it("takes no owner of the same name for the owner", async () => {
    const cluster = aCluster(aMachine({ metadata: ownedBy("MachineSet", "s", "another") }));
    expect(await ask(cluster)).not.toHaveProperty("machineSet");
  });

  it("supports machines without a target cluster, and reports invalid fields", async () => {
    const cluster = aCluster(aMachine({ spec: { class: { kind: "", name: "" } } }));
    const report = await describeMachine({ control: cluster, namespace, name: "m", clock: createVirtualClock() });
    expect(report.node.state).toBe("none");
    expect(report.problems.map(({ path }) => path)).toEqual(["spec.class.kind", "spec.class.name"]);
  });

  it("reports an unreachable target cluster, and everything else that it can read", async () => {
    const target = createFakeApi();
    target.inject({ error: serverError(), times: 9 });
    expect(await ask(aCluster(), target)).toMatchObject({ machineSet: "s", node: { state: "unreachable" } });
  });

  it("names a machine that does not exist, or cannot be read", async () => {
    await expect(ask(createFakeApi())).rejects.toThrow('there is no machine "m" in namespace default');
    const broken = aCluster({ ...aMachine(), spec: { class: 7 } });
    await expect(ask(broken)).rejects.toThrow('machine "m" cannot be read: spec.class');
  });

  it("fails where the control cluster does", async () => {
    const control = aCluster();
    control.inject({ type: machineSetResource, error: serverError(), times: 9 });
    await expect(ask(control)).rejects.toThrow(/^the API server is unreachable: .*timed out/);
  });

  it("reports what it may not read, and the permissions that it needs", async () => {
    const control = aCluster();
    control.inject({
      type: machineSetResource,
      error: new ApiError({ status: 403, reason: "Forbidden", message: "no" }),
    });
    const error = await ask(control).catch((reason: unknown) => reason);
    expect(isConfigError(error) && error.message).toMatch(/^no; a description needs get on machines, .*machineclasses/);
  });
});
