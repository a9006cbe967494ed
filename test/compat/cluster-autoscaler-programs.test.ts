import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  annotationKeys,
  machineClassResource,
  machineDeploymentResource,
  taintKeys,
} from "@millwright/core/machine-api";
import { type ApiClient, type KubeObject, messageOf, nodeResource, secretResource } from "@millwright/kube";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { autoscalerRuns, MAX_SIZE, startAutoscaler } from "../harness/autoscaler-programs.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment } from "../harness/installation.ts";
import type { MillwrightProcess } from "../harness/millwright.ts";
import type { Program } from "../harness/program.ts";
import { deploymentResource, type RunningWorkloads, startWorkloads } from "../harness/workloads.ts";
import { REAL_FLEET_MS, type RealFleet, startRealFleet } from "./real-fleet.ts";

const LONG = 120_000;
const namespace = "default";

/** The groups: the label of their nodes that pods select, and the type of their machines. */
const groups = {
  web: { pool: "web", machineType: "small", capacity: { cpu: "1", memory: "2Gi", gpu: "0" } },
  jobs: { pool: "jobs", machineType: "small", capacity: { cpu: "1", memory: "2Gi", gpu: "0" } },
  many: { pool: "many", machineType: "small", capacity: { cpu: "1", memory: "2Gi", gpu: "0" } },
  scarce: { pool: "both", machineType: "small", capacity: { cpu: "1", memory: "2Gi", gpu: "0" } },
  spare: { pool: "both", machineType: "medium", capacity: { cpu: "2", memory: "8Gi", gpu: "0" } },
} as const;

/** An app whose pods need a node of a pool each. */
const app = (pool: string, replicas = 1): KubeObject => ({
  metadata: { name: pool, namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: pool } },
    template: {
      metadata: { labels: { app: pool } },
      spec: {
        nodeSelector: { pool },
        containers: [{ name: pool, image: "pause", resources: { requests: { cpu: "600m" } } }],
      },
    },
  },
});

async function createGroups(api: ApiClient): Promise<void> {
  // A Node that takes pods before it has its labels lets the group grow again.
  const userData = Buffer.from(`kubelet --register-with-taints=${taintKeys.templatePending}:NoSchedule`);
  const change = { data: { userData: userData.toString("base64") } };
  await api.patch(secretResource, { namespace, name: "cloud" }, change, { kind: "merge" });
  for (const [name, { pool, machineType, capacity }] of Object.entries(groups)) {
    const nodeTemplate = { capacity, instanceType: machineType, region: "local", zone: "local-a" };
    const providerSpec = { machineType };
    await api.create(machineClassResource, { ...machineClass(name), providerSpec, nodeTemplate });
    const { metadata, spec, ...rest } = machineDeployment(name, name, 0);
    const annotations = {
      [annotationKeys.autoscalerMinSize]: "0",
      [annotationKeys.autoscalerMaxSize]: `${MAX_SIZE}`,
    };
    const labels = { name };
    const template = {
      metadata: { labels },
      spec: { class: { kind: "MachineClass", name }, nodeTemplate: { metadata: { labels: { pool } } } },
    };
    const full = Object.assign({}, spec, { template });
    await api.create(machineDeploymentResource, { ...rest, metadata: { ...metadata, annotations }, spec: full });
  }
}

/** Gardener's autoscaler works only while this Deployment of the control cluster, which no controller reconciles here, is available. */
async function reportManager(api: ApiClient): Promise<void> {
  const ref = { namespace, name: "machine-controller-manager" };
  const { spec } = app("manager");
  await api.create(deploymentResource, { metadata: ref, spec });
  const status = { replicas: 1, readyReplicas: 1, availableReplicas: 1 };
  await api.patch(deploymentResource, ref, { status }, { kind: "merge", subresource: "status" });
}

describe.each(autoscalerRuns(process.env))("the cluster autoscaler $title", (run) => {
  describe.runIf(run.path !== undefined)("with clusters as in Gardener", () => {
    let fleet: RealFleet;
    let folder: string;
    let millwright: MillwrightProcess;
    let workloads: RunningWorkloads;
    let autoscaler: Program;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), "millwright-autoscaler-"));
      fleet = await startRealFleet({}, {}, { hasOwnTarget: true });
      await createGroups(fleet.api);
      await reportManager(fleet.api);
      workloads = startWorkloads(fleet.target.api);
      millwright = fleet.runAlone("--autoscaler-address=127.0.0.1:0");
      autoscaler = await startAutoscaler(run, { fleet, millwright, folder, groups: Object.keys(groups) });
    }, REAL_FLEET_MS);
    afterAll(async () => {
      await autoscaler.stop("SIGKILL");
      await workloads.close();
      await fleet.close();
      await rm(folder, { recursive: true, force: true });
    }, 60_000);

    /** Waits until exactly these groups have one machine, as often as they are named, whose Node runs a pod of its pool. */
    const untilSizes = async (...names: readonly (keyof typeof groups)[]): Promise<void> => {
      const reached = eventually(async () => {
        const machines = (await fleet.machines()).map(({ metadata }) => metadata.labels?.["name"] ?? "");
        expect(machines.toSorted()).toEqual(names.toSorted());
        const { items } = await fleet.target.api.list(nodeResource);
        const pools = items.map(({ metadata }) => metadata.labels?.["pool"] ?? "");
        expect(pools.toSorted()).toEqual(names.map((name) => groups[name].pool).toSorted());
        for (const { metadata } of items) expect(await workloads.podsOn(metadata.name ?? "")).toHaveLength(1);
      }, LONG);
      const ended = autoscaler.ended.then((code) => Promise.reject(new Error(`the autoscaler ended with ${code}`)));
      await Promise.race([reached, ended]).catch((cause: unknown) => {
        throw new Error(`${messageOf(cause)}\n${autoscaler.output().slice(-4_000)}`, { cause });
      });
    };

    it(
      "creates a node for each pending pod in the group whose nodes have the labels that the pod selects, from zero",
      async () => {
        await fleet.target.api.create(deploymentResource, app("web"));
        await fleet.target.api.create(deploymentResource, app("jobs"));
        await untilSizes("web", "jobs");
        expect(fleet.cloud.vms()).toHaveLength(2);
      },
      2 * LONG,
    );

    it(
      "deletes the node that became idle, by name and once, and keeps the other one",
      async () => {
        const kept = (await fleet.machines()).find(({ metadata }) => metadata.labels?.["name"] === "web");
        await fleet.target.api.delete(deploymentResource, { namespace, name: "jobs" });
        await untilSizes("web");
        expect((await fleet.machines()).map(({ metadata }) => metadata.uid)).toEqual([kept?.metadata.uid]);
        await eventually(async () => expect(await Promise.resolve(fleet.cloud.vms())).toHaveLength(1), LONG);
        expect(fleet.cloud.calls.filter(({ operation }) => operation === "create")).toHaveLength(2);
      },
      2 * LONG,
    );

    it(
      "takes a group that has no capacity back to its size, and creates the node in another group",
      async () => {
        await fleet.cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1_000, match: "scarce" });
        await fleet.target.api.create(deploymentResource, app("both"));
        await untilSizes("web", "spare");
        expect(fleet.cloud.calls.map(({ outcome }) => outcome)).toContain("ResourceExhausted");
      },
      2 * LONG,
    );

    const many = (count: number): readonly "many"[] => Array.from({ length: count }, () => "many");
    /** Calls that succeeded for VMs of the group `many`. */
    const callsOf = (name: "create" | "delete"): number =>
      fleet.cloud.calls.filter(
        ({ operation, outcome, subjects }) =>
          operation === name && outcome === "OK" && subjects.some((subject) => subject.startsWith("many-")),
      ).length;

    it(
      "creates three nodes for three pods that are pending at once, and no fourth",
      async () => {
        await fleet.target.api.create(deploymentResource, app("many", 3));
        await untilSizes("web", "spare", ...many(3));
        expect(callsOf("create")).toBe(3);
      },
      2 * LONG,
    );

    it(
      "gives ten nodes back that become idle at once, each once, and keeps the others",
      async () => {
        const ref = { namespace, name: "many" };
        await fleet.target.api.patch(deploymentResource, ref, { spec: { replicas: 10 } }, { kind: "merge" });
        await untilSizes("web", "spare", ...many(10));
        expect(callsOf("create")).toBe(10);
        await fleet.target.api.delete(deploymentResource, ref);
        await untilSizes("web", "spare");
        await eventually(async () => expect(await Promise.resolve(fleet.cloud.vms())).toHaveLength(2), LONG);
        expect([callsOf("create"), callsOf("delete")]).toEqual([10, 10]);
      },
      3 * LONG,
    );
  });
});
