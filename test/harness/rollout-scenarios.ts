import {
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core";
import { eventResource, type KubeObject, nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { type Fleet, machineClass, machineDeployment } from "./installation.ts";
import type { MillwrightProcess } from "./millwright.ts";
import { reportUpdates } from "./update-agents.ts";

/** Where rollouts are tried out. */
export interface RolloutStage {
  readonly fleet: Fleet;
  /** Starts the controllers with these flags beside those that say where. */
  run(...flags: readonly string[]): MillwrightProcess;
}

const namespace = "default";
const ref = { namespace, name: "fleet" };
const REPLICAS = 4;
const SURGE = 1;
const ROLLOUT_MS = 60_000;

interface TaintedNode extends KubeObject {
  readonly spec?: { readonly taints?: readonly { readonly key: string }[] };
}

/**
 * Whole rollouts of one deployment of four machines, one after the other, on whatever API server the stage has. Every one ends with four machines of one class
 * that run, and leaves no mark on a node.
 *
 * @param stage asked when the first scenario starts
 */
export function rolloutScenarios(stage: () => RolloutStage): void {
  let controllers: MillwrightProcess;
  const api = () => stage().fleet.api;
  const vms = () => stage().fleet.cloud.vms();
  const machines = async (): Promise<readonly Machine[]> =>
    (await api().list<Machine>(machineResource, { namespace })).items;
  const change = (patch: object): Promise<unknown> =>
    api().patch(machineDeploymentResource, ref, patch, { kind: "merge" });
  const changeClass = (name: string, more: object = {}): Promise<unknown> =>
    change({ spec: { template: { spec: { class: { name } } }, ...more } });
  const deployment = (): Promise<MachineDeployment> => api().get<MachineDeployment>(machineDeploymentResource, ref);
  const condition = async (type: string): Promise<string> => {
    const { status } = await deployment();
    const found = status?.conditions?.find((each) => each.type === type);
    return `${found?.status} ${found?.reason} ${found?.message ?? ""}`.trim();
  };
  const reasons = async (): Promise<readonly unknown[]> =>
    (await api().list(eventResource, { namespace })).items.map((event) => event["reason"]);
  const start = (): void => {
    controllers = stage().run("--machine-creation-timeout=12s");
  };
  const kill = async (): Promise<void> => {
    await controllers.stop("SIGKILL");
    start();
  };
  const uids = async (): Promise<readonly string[]> =>
    (await machines()).map(({ metadata: { uid = "" } }): string => uid).toSorted();
  const ofClass = async (name: string): Promise<readonly Machine[]> =>
    (await machines()).filter(
      ({ spec, status }) => spec.class?.name === name && status?.currentStatus?.phase === "Running",
    );

  /** Waits for the end of a rollout, in what people read and in what is there. */
  const reach = (name: string): Promise<void> =>
    eventually(async () => {
      const { metadata, status } = await deployment();
      expect(status?.observedGeneration).toBe(metadata.generation);
      expect(await condition("RollingOut")).toBe("False NotRollingOut");
      expect(await condition("Progressing")).toContain("True NewMachineSetAvailable");
      expect((await machines()).map(({ spec }) => spec.class?.name)).toEqual(Array(REPLICAS).fill(name));
      expect(await ofClass(name)).toHaveLength(REPLICAS);
      expect(vms()).toHaveLength(REPLICAS);
      const nodes = await api().list<TaintedNode>(nodeResource);
      const marks = nodes.items.map((node) => JSON.stringify([node.metadata.annotations, node.spec?.taints]));
      expect(marks.filter((text) => /scale-down-disabled|prefer-no-schedule/.test(text))).toEqual([]);
    }, ROLLOUT_MS);

  /** Watches the VMs while something goes on: how many of them there were, and which types at once. */
  async function watching(
    work: () => Promise<void>,
  ): Promise<{ least: number; most: number; types: readonly string[] }> {
    let [least, most] = [Number.POSITIVE_INFINITY, 0];
    const types = new Set<string>();
    const unfollow = stage().fleet.cloud.subscribe(() => {
      const live = vms().filter(({ state }) => state !== "terminating");
      least = Math.min(least, live.length);
      most = Math.max(most, live.length);
      types.add([...new Set(live.map(({ machineType }) => machineType))].toSorted().join("+"));
    });
    await work().finally(unfollow);
    return { least, most, types: [...types] };
  }

  /** As long as something goes on, the cloud makes no VM. */
  async function withoutVms(work: () => Promise<void>): Promise<void> {
    const { cloud } = stage().fleet;
    await cloud.addFault({ operation: "create", code: "Internal", times: 1_000_000 });
    try {
      await work();
    } finally {
      await cloud.clearFaults();
    }
  }

  it("rolls an update out within its bounds, though the controllers are killed twice on the way", async () => {
    await api().create(machineClassResource, machineClass("small"));
    await api().create(machineClassResource, { ...machineClass("large"), providerSpec: { machineType: "large" } });
    await api().create(machineClassResource, { ...machineClass("unlucky"), providerSpec: { machineType: "medium" } });
    await api().create(machineDeploymentResource, machineDeployment("fleet", "small", REPLICAS));
    await change({ spec: { strategy: { rollingUpdate: { maxSurge: SURGE, maxUnavailable: 0 } } } });
    start();
    await reach("small");
    const seen = await watching(async () => {
      await changeClass("large");
      for (const done of [1, 3]) {
        await eventually(async () => expect((await ofClass("large")).length).toBeGreaterThanOrEqual(done), ROLLOUT_MS);
        await kill();
      }
      await reach("large");
    });
    expect([seen.least, seen.most]).toEqual([REPLICAS, REPLICAS + SURGE]);
  });

  it("stands still while it is paused, also for a new process, and goes on from there", async () => {
    const before = await uids();
    await changeClass("small", { paused: true });
    await eventually(async () => expect(await condition("RollingOut")).toContain("* Rollout is paused"));
    await kill();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(await uids()).toEqual(before);
    expect(await condition("Progressing")).toContain("Unknown DeploymentPaused");
    await change({ spec: { paused: false } });
    await reach("small");
  });

  it("goes back to the template before, when the new one does not work", async () => {
    const before = await uids();
    await withoutVms(async () => {
      await changeClass("unlucky");
      await eventually(async () => {
        const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
        expect(phases).toContain("CrashLoopBackOff");
      });
      await change({ spec: { rollbackTo: { revision: 0 } } });
      await reach("small");
    });
    expect((await deployment()).spec.rollbackTo ?? undefined).toBeUndefined();
    expect(await reasons()).toContain("DeploymentRollback");
    expect(await uids()).toEqual(before);
  });

  it("goes back by itself from a canary that fails", async () => {
    const prefix = "machine.millwright.dev/canary";
    const before = await uids();
    const annotations = { [`${prefix}-steps`]: "25%/1h", [`${prefix}-on-failure`]: "rollback" };
    await withoutVms(async () => {
      await change({ metadata: { annotations }, spec: { template: { spec: { class: { name: "unlucky" } } } } });
      await eventually(async () =>
        expect(await condition("RollingOut")).toContain("* Rollout waits at canary step 1 of 1"),
      );
      await eventually(async () => expect(await reasons()).toContain("CanaryFailed"), ROLLOUT_MS);
      await reach("small");
    });
    expect(await uids()).toEqual(before);
    await change({ metadata: { annotations: { [`${prefix}-steps`]: null, [`${prefix}-on-failure`]: null } } });
  });

  it("recreates: never VMs of both templates at once", async () => {
    const seen = await watching(async () => {
      await changeClass("large", { strategy: { type: "Recreate", rollingUpdate: null } });
      await reach("large");
    });
    expect(seen.most).toBeLessThanOrEqual(REPLICAS);
    expect(seen.types.filter((types) => types.includes("+"))).toEqual([]);
  });

  it("updates every machine in place, with its VM", async () => {
    const before = vms()
      .map(({ providerId }) => providerId)
      .toSorted();
    const inPlaceUpdate = { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto" };
    await changeClass("small", { strategy: { type: "InPlaceUpdate", inPlaceUpdate } });
    await eventually(async () => {
      await reportUpdates(api());
      expect((await machines()).map(({ spec }) => spec.class?.name)).toEqual(Array(REPLICAS).fill("small"));
    }, ROLLOUT_MS);
    await reach("small");
    expect(
      vms()
        .map(({ providerId }) => providerId)
        .toSorted(),
    ).toEqual(before);
    await change({
      spec: {
        strategy: { type: "RollingUpdate", inPlaceUpdate: null, rollingUpdate: { maxSurge: SURGE, maxUnavailable: 0 } },
      },
    });
  });

  it("freezes a set that somebody gave more machines, and lets it go when they are gone", async () => {
    const [old] = await ofClass("small");
    const owner = old?.metadata.ownerReferences?.[0];
    const set = await api().get<MachineSet>(machineSetResource, { namespace, name: owner?.name ?? "" });
    await Promise.all(
      Array.from({ length: 4 }, (_, index) =>
        api().create(machineResource, {
          apiVersion: "machine.sapcloud.io/v1alpha1",
          kind: "Machine",
          metadata: {
            namespace,
            name: `extra-${index}`,
            labels: { ...set.spec.template.metadata?.labels },
            ownerReferences: owner === undefined ? [] : [owner],
          },
          spec: { class: { kind: "MachineClass", name: "small" } },
        }),
      ),
    );
    await eventually(
      async () => expect(await reasons()).toEqual(expect.arrayContaining(["FrozeMachineSet", "UnfrozeMachineSet"])),
      ROLLOUT_MS,
    );
    await reach("small");
    await eventually(async () => {
      expect((await deployment()).metadata.labels ?? {}).not.toHaveProperty("freeze");
      expect(await condition("Frozen")).toContain("undefined");
    }, ROLLOUT_MS);
  });

  it("takes everything with it when it is deleted", async () => {
    await api().delete(machineDeploymentResource, ref);
    await eventually(async () => {
      expect([await machines(), vms()]).toEqual([[], []]);
      expect((await api().list(machineSetResource, { namespace })).items).toEqual([]);
      expect((await api().list(nodeResource)).items).toEqual([]);
    }, ROLLOUT_MS);
    expect(await controllers.stop("SIGTERM")).toBe(0);
  });
}
