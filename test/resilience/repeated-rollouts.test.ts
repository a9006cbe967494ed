import { annotationKeys, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";
import { REPLICAS, ROLLOUT_MS, rolloutTrial, stageOn, SURGE } from "../harness/rollout-trial.ts";

const { canarySteps, canaryContinue, canaryOnFailure, revision, rollout } = annotationKeys;

/** A second canary of a template is held as the first was: what a rollout started from is recorded, and survives the controllers. */
describe("rollouts of templates that were rolled out before, while the controllers are killed", () => {
  let installation: Installation;

  beforeAll(async () => {
    installation = await startInstallation();
  });
  afterAll(async () => {
    await installation.close();
  });

  const trial = rolloutTrial(() => stageOn(installation));
  const annotate = (annotations: Readonly<Record<string, string | null>>): Promise<unknown> =>
    trial.change({ metadata: { annotations } });
  const annotation = async (key: string): Promise<string | undefined> =>
    (await trial.deployment()).metadata.annotations?.[key];
  /** Waits until exactly these machines of each class run, and no others exist. */
  const rest = (numbers: Readonly<Record<string, number>>): Promise<void> =>
    eventually(async () => {
      const classes = (await trial.machines()).map(
        ({ spec, status }) => `${spec.class?.name} ${status?.currentStatus?.phase}`,
      );
      const wanted = Object.entries(numbers).flatMap(([name, count]) => Array<string>(count).fill(`${name} Running`));
      expect(classes.toSorted()).toEqual(wanted.toSorted());
    }, ROLLOUT_MS);
  const untilPhase = (phase: string): Promise<void> =>
    eventually(
      async () => expect((await trial.machines()).map(({ status }) => status?.currentStatus?.phase)).toContain(phase),
      ROLLOUT_MS,
    );
  const untilHeld = (text: string): Promise<void> =>
    eventually(async () => expect(await trial.condition("RollingOut")).toContain(text), ROLLOUT_MS);

  it("leave a second canary at once, and grow in the template that served", async () => {
    await trial.begin();
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("large");
      await trial.untilRolledOut("large");
      await trial.changeClass("small");
      await trial.untilRolledOut("small");
      await trial.changeClass("large", {}, { [canarySteps]: "1/pause,3/1h", [canaryOnFailure]: "rollback" });
      await untilHeld("Rollout is paused at canary step 1 of 2");
      await trial.kill();
      await trial.untilReconciled();
      trial.invariants().allowVms(REPLICAS + 2 + SURGE);
      await trial.change({ spec: { replicas: REPLICAS + 2 } });
      await rest({ large: 1, small: REPLICAS + 1 });
      await trial.changeClass("small");
      await rest({ small: REPLICAS + 2 });
      await trial.change({ spec: { replicas: REPLICAS } });
      await trial.untilRolledOut("small");
      trial.invariants().allowVms(REPLICAS + SURGE);
    });
    await eventually(async () => expect(await annotation(rollout)).toBeUndefined());
  });

  it("pause again, whatever was answered before", async () => {
    await annotate({ [canarySteps]: "1/pause,3/pause" });
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("large");
      await untilHeld("Rollout is paused at canary step 1 of 2");
      const first = `${await annotation(revision)}/1`;
      await annotate({ [canaryContinue]: first });
      await untilHeld("Rollout is paused at canary step 2 of 2");
      await trial.changeClass("small");
      await trial.untilRolledOut("small");
      await eventually(async () => expect(await annotation(canaryContinue)).toBeUndefined());
      // As a manifest would bring it back.
      await annotate({ [canaryContinue]: first });
      await trial.changeClass("large");
      await untilHeld("Rollout is paused at canary step 1 of 2");
      await untilHeld(`${canaryContinue}=${first} has no effect`);
      await trial.kill();
      await rest({ large: 1, small: REPLICAS - 1 });
    });
  });

  it("go back to the template that served when a correction fails, and not to the canary before it", async () => {
    const { cloud } = installation;
    await trial.whileRunning(REPLICAS, async () => {
      await cloud.addFault({ operation: "create", code: "Internal", times: 1_000_000 });
      await trial.changeClass("unlucky");
      await eventually(async () => expect(await trial.reasons()).toContain("CanaryFailed"), ROLLOUT_MS);
      await cloud.clearFaults();
      await trial.untilRolledOut("small");
    });
    await annotate({ [canarySteps]: null, [canaryOnFailure]: null });
  });

  it("leave the old template and the newest canary, however often it is corrected", async () => {
    const names = ["second", "third", "fourth"];
    for (const name of names) await trial.api().create(machineClassResource, machineClass(name));
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("large", {}, { [canarySteps]: "1/1h" });
      for (const name of names) {
        await untilHeld("Rollout waits at canary step 1 of 1 with 1 new machine");
        await trial.changeClass(name);
        await untilHeld("until 1 new machine is available");
      }
      await rest({ small: REPLICAS - 1, fourth: 1 });
      await trial.changeClass("small");
      await trial.untilRolledOut("small");
      expect(await trial.ofClass("small")).toHaveLength(REPLICAS);
    });
  });

  it("go back when the canary never serves, also while an old machine without quota uses up the remediation budget", async () => {
    const { cloud } = installation;
    const [victim] = await trial.machines();
    const ref = { namespace: "default", name: victim?.metadata.name ?? "" };
    const set = ref.name.slice(0, ref.name.lastIndexOf("-"));
    await trial.whileRunning(REPLICAS - 1, async () => {
      await cloud.addFault({ operation: "create", code: "ResourceExhausted", times: 1_000_000, match: set });
      await trial.api().delete(machineResource, ref);
      await untilPhase("CrashLoopBackOff");
      // The agent that takes the taint away is broken.
      const taints = [{ key: "readiness.k8s.io/cni", value: "pending", effect: "NoSchedule" }];
      const broken = { class: { kind: "MachineClass", name: "large" }, nodeTemplate: { spec: { taints } } };
      const annotations = { [canarySteps]: "1/1h", [canaryOnFailure]: "rollback" };
      await trial.change({ metadata: { annotations }, spec: { template: { spec: broken } } });
      await eventually(
        async () => expect((await trial.deployment()).spec.template.spec.class?.name).toBe("small"),
        ROLLOUT_MS,
      );
      await cloud.clearFaults();
    });
    await trial.untilRolledOut("small");
    await annotate({ [canarySteps]: null, [canaryOnFailure]: null });
  });

  it("touch no machine for a class that does not exist, without surge, until it is there", async () => {
    const before = await trial.uids();
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("absent", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } });
      await untilHeld('Rollout waits for MachineClass absent: spec.class.name: MachineClass "absent" does not exist');
      await trial.kill();
      await trial.untilReconciled();
      expect(await trial.uids()).toEqual(before);
    });
    await trial.whileRunning(REPLICAS - 1, async () => {
      await trial.api().create(machineClassResource, machineClass("absent"));
      await trial.untilRolledOut("absent");
    });
  });
});
