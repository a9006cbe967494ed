import { annotationKeys, machineResource } from "@millwright/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { REPLICAS, ROLLOUT_MS, rolloutTrial, stageOn } from "../harness/rollout-trial.ts";

/** A window that is half a year off, and one that is always open. */
const closed = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} * 1m`;
const open = "* * * * * 1m";

/** What people hold rollouts back by lives in the objects: a process that is killed in the middle is succeeded by one that waits for the same. */
describe("rollouts that are held back, with controllers that are killed", () => {
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
  const count = (name: string, atLeast: number): Promise<void> =>
    eventually(async () => expect((await trial.ofClass(name)).length).toBeGreaterThanOrEqual(atLeast), ROLLOUT_MS);
  /** Waits until `RollingOut` says so, and resolves with the line. */
  const untilMessage = (words: string): Promise<string> =>
    eventually(async () => {
      const line = (await trial.condition("RollingOut")).split("\n").find((each) => each.startsWith(`* ${words}`));
      expect(line).toBeDefined();
      return line ?? "";
    }, ROLLOUT_MS);
  /** Waits until so many machines of each class run, and none else is there. */
  const rest = (large: number, small: number): Promise<void> =>
    eventually(async () => {
      const classes = (await trial.machines()).map(
        ({ spec, status }) => `${spec.class?.name} ${status?.currentStatus?.phase}`,
      );
      expect(classes.toSorted()).toEqual([
        ...Array(large).fill("large Running"),
        ...Array(small).fill("small Running"),
      ]);
      expect(trial.vms()).toHaveLength(large + small);
    }, ROLLOUT_MS);
  /** Kills the controllers; a new process looks at everything, and leaves it as it is. */
  const restartChangesNothing = async (): Promise<void> => {
    const before = await trial.uids();
    await trial.kill();
    await trial.untilReconciled();
    expect(await trial.uids()).toEqual(before);
  };

  it("pauses at a canary step until somebody says that it goes on, and at the next", async () => {
    await trial.begin();
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("large", {}, { [annotationKeys.canarySteps]: "1/pause,3/pause" });
      const first = await untilMessage("Rollout is paused at canary step 1 of 2 with 1 new machine");
      await rest(1, 3);
      await restartChangesNothing();
      expect(await untilMessage("Rollout pauses")).toBe(first);
      const [set] = /[^/ =]+(?=\/1$)/.exec(first) ?? [];
      await annotate({ [annotationKeys.canaryContinue]: `${set}/1` });
      await count("large", 2);
      await trial.kill();
      await untilMessage("Rollout is paused at canary step 2 of 2 with 3 new machines");
      await rest(3, 1);
      await restartChangesNothing();
      await annotate({ [annotationKeys.canaryContinue]: `${set}/2` });
      await trial.untilRolledOut("large");
    });
  });

  it("bakes from when the machines began to serve, whichever process looks at them", async () => {
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("small", {}, { [annotationKeys.canarySteps]: "2/1h" });
      const said = await untilMessage("Rollout waits at canary step 1 of 1 with 2 new machines until ");
      await rest(2, 2);
      await restartChangesNothing();
      expect(await untilMessage("Rollout stays")).toBe(said);
      // They have served for a second by now.
      await annotate({ [annotationKeys.canarySteps]: "2/1s" });
      await count("small", 3);
      await trial.kill();
      await trial.untilRolledOut("small");
    });
    await annotate({ [annotationKeys.canarySteps]: null, [annotationKeys.canaryContinue]: null });
  });

  it("replaces machines on deletion only, one for one", async () => {
    await trial.changeClass("large", {}, { [annotationKeys.onDelete]: "true" });
    await trial.whileRunning(REPLICAS, async () => {
      await untilMessage("Old machines are replaced only when they are deleted");
      await restartChangesNothing();
      await rest(0, 4);
    });
    // What somebody deletes is missing until its successor serves.
    await trial.whileRunning(REPLICAS - 1, async () => {
      const [name = ""] = (await trial.machines()).map(({ metadata }) => metadata.name);
      await trial.api().delete(machineResource, { namespace: "default", name });
      await trial.kill();
      await rest(1, 3);
      expect((await trial.machines()).map(({ metadata }) => metadata.name)).not.toContain(name);
    });
    await trial.whileRunning(REPLICAS, async () => {
      await restartChangesNothing();
      await annotate({ [annotationKeys.onDelete]: null });
      await count("large", 2);
      await trial.kill();
      await trial.untilRolledOut("large");
    });
  });

  it("begins nothing outside of maintenance windows, and ends what has begun", async () => {
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("small", {}, { [annotationKeys.maintenanceWindows]: closed });
      await untilMessage("Rollout waits for the maintenance window that opens at ");
      await restartChangesNothing();
      await rest(4, 0);
      await annotate({ [annotationKeys.maintenanceWindows]: open });
      await count("small", 1);
      // In the middle of a replacement.
      await annotate({ [annotationKeys.maintenanceWindows]: closed });
      await trial.kill();
      await untilMessage("Rollout waits for the maintenance window that opens at ");
      // What has begun ends: none is missing, and no surge is left over.
      await eventually(async () => {
        expect(await trial.machines()).toHaveLength(REPLICAS);
        expect(trial.vms()).toHaveLength(REPLICAS);
        expect([...(await trial.ofClass("small")), ...(await trial.ofClass("large"))]).toHaveLength(REPLICAS);
      }, ROLLOUT_MS);
      const { length } = await trial.ofClass("small");
      await restartChangesNothing();
      await rest(REPLICAS - length, length);
      await annotate({ [annotationKeys.maintenanceWindows]: open });
      await trial.untilRolledOut("small");
    });
  });
});
