import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { type KubeObject, leaseResource, nodeResource, podResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { vmsOf } from "../harness/crds.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import { hasKwok, registerNodes, startKwok } from "../harness/kwok.ts";
import type { Program } from "../harness/program.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 90_000;
const namespace = "default";
/** Kubelets of the second one run without a provider id, as with a cloud controller manager that is not there. */
const deployments = ["known", "nameless"];
const replicas = 2;

interface Node extends KubeObject {
  readonly spec?: { readonly providerID?: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** `npm run control-plane -- build kwok` builds it; without it these tests are skipped. */
describe.runIf(hasKwok)("machines whose Nodes and pods kwok plays, on a real kube-apiserver", () => {
  let fleet: RealFleet;
  let kwok: Program | undefined;

  beforeAll(async () => {
    fleet = await startRealFleet(
      {},
      {},
      {
        createNodes: ({ api }) => registerNodes(api, (name) => name.startsWith("known")),
      },
    );
    for (const name of ["small", "next"]) await fleet.api.create(machineClassResource, machineClass(name));
    fleet.runAlone();
  }, REAL_FLEET_MS);
  afterAll(async () => {
    await kwok?.stop("SIGKILL");
    await fleet.close();
  }, 60_000);

  const all = deployments.length * replicas;
  const nodes = async () => (await fleet.api.list<Node>(nodeResource)).items;
  const untilPhase = (phase: string): Promise<void> =>
    eventually(async () => {
      expect((await fleet.machines()).map(phaseOf)).toEqual(Array.from({ length: all }, () => phase));
      const names = new Set((await fleet.machines()).map(({ metadata }) => metadata.labels?.["node"]));
      expect(new Set((await nodes()).map(({ metadata }) => metadata.name))).toEqual(names);
    }, LONG);
  const readyOf = ({ status }: Node): string | undefined =>
    status?.conditions?.find(({ type }) => type === "Ready")?.status;

  it(
    "are Pending while their Nodes are registered and not ready, and Running once kwok reports them, also without a provider id",
    async () => {
      for (const name of deployments)
        await fleet.api.create(machineDeploymentResource, machineDeployment(name, "small", replicas));
      await untilPhase("Pending");
      expect((await nodes()).map(readyOf)).toEqual(Array.from({ length: all }, () => "False"));
      kwok = startKwok(fleet.kubeconfig);
      await untilPhase("Running");
      expect((await nodes()).filter(({ spec }) => spec?.providerID === undefined)).toHaveLength(replicas);
      await eventually(async () => {
        const leases = await fleet.api.list(leaseResource, { namespace: "kube-node-lease" });
        expect(leases.items).toHaveLength(all);
      }, LONG);
    },
    2 * LONG,
  );

  it(
    "become Unknown while a Node is not ready, and run again with the same VM",
    async () => {
      const before = vmsOf(await fleet.machines());
      const [node] = await nodes();
      const name = node?.metadata.name ?? "";
      kwok?.child.kill("SIGSTOP");
      const conditions = [{ type: "Ready", status: "False", reason: "KubeletNotReady", message: "stopped" }];
      await fleet.api.patch(
        nodeResource,
        { name },
        { status: { conditions } },
        { kind: "strategic", subresource: "status" },
      );
      await eventually(async () => expect((await fleet.machines()).map(phaseOf)).toContain("Unknown"), LONG);
      kwok?.child.kill("SIGCONT");
      await untilPhase("Running");
      expect(vmsOf(await fleet.machines())).toEqual(before);
    },
    2 * LONG,
  );

  it(
    "are replaced by a rolling update, which evicts pods that kwok ends, and deletes the Nodes",
    async () => {
      const old = (await nodes()).map(({ metadata }) => metadata.name ?? "");
      for (const nodeName of old)
        await fleet.api.create(podResource, {
          metadata: { name: nodeName, namespace },
          spec: { nodeName, containers: [{ name: "app", image: "pause" }] },
        });
      await eventually(async () => {
        const { items } = await fleet.api.list<KubeObject & { readonly status?: object }>(podResource, { namespace });
        expect(items.map(({ status }) => status)).toEqual(old.map(() => expect.objectContaining({ phase: "Running" })));
      }, LONG);
      for (const name of deployments) {
        const spec = { template: { spec: { class: { name: "next" } } } };
        await fleet.api.patch(machineDeploymentResource, { namespace, name }, { spec }, { kind: "merge" });
      }
      await eventually(async () => {
        const classes = (await fleet.machines()).map(({ spec }) => spec.class?.name);
        expect(classes).toEqual(Array.from({ length: all }, () => "next"));
      }, LONG);
      await untilPhase("Running");
      expect((await nodes()).filter(({ metadata }) => old.includes(metadata.name ?? ""))).toEqual([]);
      expect((await fleet.api.list(podResource, { namespace })).items).toEqual([]);
      expect(fleet.cloud.vms()).toHaveLength(all);
    },
    3 * LONG,
  );

  it(
    "are deleted with their VMs and Nodes",
    async () => {
      for (const name of deployments) await fleet.api.delete(machineDeploymentResource, { namespace, name });
      await eventually(async () => {
        expect([await fleet.machines(), await nodes(), fleet.cloud.vms()]).toEqual([[], [], []]);
      }, LONG);
    },
    2 * LONG,
  );
});
