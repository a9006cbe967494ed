import {
  finalizers,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { eventually } from "./eventually.ts";
import { REPLICAS, ROLLOUT_MS, type RolloutStage, rolloutTrial, SURGE } from "./rollout-trial.ts";
import { reportUpdates } from "./update-agents.ts";

const namespace = "default";
const ref = { namespace, name: "fleet" };

/**
 * Whole rollouts of one MachineDeployment with four machines, one after another. Each ends with four running machines of one class and leaves no annotation or
 * taint on a node; the invariants are watched all the time.
 *
 * @param stage called when the suite starts
 */
export function rolloutScenarios(stage: () => RolloutStage): void {
  const trial = rolloutTrial(stage);
  const { api, vms, machines, change, changeClass, deployment, condition, reasons, uids, ofClass, untilRolledOut } =
    trial;

  /** Watches the VMs during `work`: their least and greatest number, and which types existed together. */
  async function watching(
    work: () => Promise<void>,
  ): Promise<{ readonly least: number; readonly most: number; readonly types: readonly string[] }> {
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

  /** The cloud creates no VM during `work`. */
  async function withoutVms(work: () => Promise<void>): Promise<void> {
    const { cloud } = stage().fleet;
    await cloud.addFault({ operation: "create", code: "Internal", times: 1_000_000 });
    try {
      await work();
    } finally {
      await cloud.clearFaults();
    }
  }

  it("rolls out an update within maxSurge and maxUnavailable while the controllers are killed twice", async () => {
    await trial.begin();
    const seen = await watching(() =>
      trial.whileRunning(REPLICAS, async () => {
        await changeClass("large");
        for (const done of [1, 3]) {
          await eventually(
            async () => expect((await ofClass("large")).length).toBeGreaterThanOrEqual(done),
            ROLLOUT_MS,
          );
          await trial.kill();
        }
        await untilRolledOut("large");
      }),
    );
    // The bounds are used in full.
    expect([seen.least, seen.most]).toEqual([REPLICAS, REPLICAS + SURGE]);
  });

  it("replaces no machine while the rollout is paused, also after a restart, and resumes", async () => {
    const before = await uids();
    await trial.whileRunning(REPLICAS, async () => {
      await changeClass("small", { paused: true });
      await eventually(async () => expect(await condition("RollingOut")).toContain("* Rollout is paused"));
      await trial.kill();
      await trial.untilReconciled();
      expect(await uids()).toEqual(before);
      expect(await condition("Progressing")).toContain("Unknown DeploymentPaused");
      await change({ spec: { paused: false } });
      await untilRolledOut("small");
    });
  });

  it("rolls back to the previous template when the new one fails", async () => {
    const before = await uids();
    await withoutVms(() =>
      trial.whileRunning(REPLICAS, async () => {
        await changeClass("unlucky");
        await eventually(async () => {
          const phases = (await machines()).map(({ status }) => status?.currentStatus?.phase);
          expect(phases).toContain("CrashLoopBackOff");
        }, ROLLOUT_MS);
        await change({ spec: { rollbackTo: { revision: 0 } } });
        await untilRolledOut("small");
      }),
    );
    expect((await deployment()).spec.rollbackTo ?? undefined).toBeUndefined();
    expect(await reasons()).toContain("DeploymentRollback");
    expect(await uids()).toEqual(before);
  });

  it("rolls back automatically when a canary fails", async () => {
    const prefix = "machine.millwright.dev/canary";
    const before = await uids();
    const annotations = { [`${prefix}-steps`]: "25%/1h", [`${prefix}-on-failure`]: "rollback" };
    await withoutVms(() =>
      trial.whileRunning(REPLICAS, async () => {
        await changeClass("unlucky", {}, annotations);
        await eventually(
          async () => expect(await condition("RollingOut")).toContain("* Rollout waits at canary step 1 of 1"),
          ROLLOUT_MS,
        );
        await eventually(async () => expect(await reasons()).toContain("CanaryFailed"), ROLLOUT_MS);
        await untilRolledOut("small");
      }),
    );
    expect(await uids()).toEqual(before);
    await change({ metadata: { annotations: { [`${prefix}-steps`]: null, [`${prefix}-on-failure`]: null } } });
  });

  it("never has VMs of both templates with the Recreate strategy", async () => {
    trial.invariants().allowVms(REPLICAS);
    const seen = await watching(async () => {
      await changeClass("large", { strategy: { type: "Recreate", rollingUpdate: null } });
      await untilRolledOut("large");
    });
    trial.invariants().allowVms(REPLICAS + SURGE);
    expect(seen.types.filter((types) => types.includes("+"))).toEqual([]);
  });

  it("updates every machine in place and keeps its VM", async () => {
    const before = vms()
      .map(({ providerId }) => providerId)
      .toSorted();
    const inPlaceUpdate = { maxSurge: 0, maxUnavailable: 1, orchestrationType: "Auto" };
    await trial.whileRunning(REPLICAS - 1, async () => {
      await changeClass("small", { strategy: { type: "InPlaceUpdate", inPlaceUpdate } });
      await eventually(async () => {
        await reportUpdates(api());
        expect((await machines()).map(({ spec }) => spec.class?.name)).toEqual(Array(REPLICAS).fill("small"));
      }, ROLLOUT_MS);
      await untilRolledOut("small");
    });
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

  it("freezes a set with too many machines, and unfreezes it once they are deleted", async () => {
    const owner = (await ofClass("small"))[0]?.metadata.ownerReferences?.[0];
    const set = await api().get<MachineSet>(machineSetResource, { namespace, name: owner?.name ?? "" });
    const extra = 4;
    trial.invariants().allowVms(REPLICAS + extra);
    await Promise.all(
      Array.from({ length: extra }, (_, index) =>
        api().create(machineResource, {
          apiVersion: "machine.sapcloud.io/v1alpha1",
          kind: "Machine",
          metadata: {
            namespace,
            name: `extra-${index}`,
            labels: { ...set.spec.template.metadata?.labels },
            // As of a set's machine. kube-apiserver may delete one that gets its finalizer while it is being deleted.
            finalizers: [finalizers.machine],
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
    await untilRolledOut("small");
    trial.invariants().allowVms(REPLICAS + SURGE);
    await eventually(async () => {
      expect((await deployment()).metadata.labels ?? {}).not.toHaveProperty("freeze");
      expect(await condition("Frozen")).toContain("undefined");
    }, ROLLOUT_MS);
  });

  it("deletes sets, machines, VMs and nodes with the deployment", async () => {
    await api().delete(machineDeploymentResource, ref);
    await eventually(async () => {
      expect([await machines(), vms()]).toEqual([[], []]);
      expect((await api().list(machineSetResource, { namespace })).items).toEqual([]);
      expect((await api().list(nodeResource)).items).toEqual([]);
    }, ROLLOUT_MS);
    expect(await trial.stop()).toBe(0);
  });
}
