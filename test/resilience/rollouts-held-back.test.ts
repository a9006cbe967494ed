import { annotationKeys, machineResource } from "@millwright/core/machine-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, startInstallation } from "../harness/installation.ts";
import { REPLICAS, ROLLOUT_MS, rolloutTrial, stageOn } from "../harness/rollout-trial.ts";

/** A maintenance window in half a year, and one that is always open. */
const closed = `0 0 1 ${((new Date().getUTCMonth() + 6) % 12) + 1} * 1m`;
const open = "* * * * * 1m";

/** All state of a paused rollout is in the objects: a new process waits for the same. */
describe("paused rollouts while the controllers are killed", () => {
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
  /** Waits until the message of `RollingOut` has a line that starts with the text, and resolves with the line. */
  const untilMessage = (text: string): Promise<string> =>
    eventually(async () => {
      const line = (await trial.condition("RollingOut")).split("\n").find((each) => each.startsWith(`* ${text}`));
      expect(line).toBeDefined();
      return line ?? "";
    }, ROLLOUT_MS);
  /** Waits until exactly these numbers of machines of each class run. */
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
  /** Kills the controllers; a new process reconciles everything, and replaces no machine. */
  const restartChangesNothing = async (): Promise<void> => {
    const before = await trial.uids();
    await trial.kill();
    await trial.untilReconciled();
    expect(await trial.uids()).toEqual(before);
  };

  it("pauses at each canary step until a user continues it", async () => {
    await trial.begin();
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("large", {}, { [annotationKeys.canarySteps]: "1/pause,3/pause" });
      const first = await untilMessage("Rollout is paused at canary step 1 of 2 with 1 new machine");
      await rest(1, 3);
      await restartChangesNothing();
      expect(await untilMessage("Rollout is paused")).toBe(first);
      const [revision] = /[^/ =]+(?=\/1$)/.exec(first) ?? [];
      await annotate({ [annotationKeys.canaryContinue]: `${revision}/1` });
      await count("large", 2);
      await trial.kill();
      await untilMessage("Rollout is paused at canary step 2 of 2 with 3 new machines");
      await rest(3, 1);
      await restartChangesNothing();
      await annotate({ [annotationKeys.canaryContinue]: `${revision}/2` });
      await trial.untilRolledOut("large");
    });
  });

  it("counts the pause of a canary step from when its machines were available, across restarts", async () => {
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("small", {}, { [annotationKeys.canarySteps]: "2/1h" });
      const first = await untilMessage("Rollout waits at canary step 1 of 1 with 2 new machines until ");
      await rest(2, 2);
      await restartChangesNothing();
      expect(await untilMessage("Rollout waits")).toBe(first);
      // They have been available for a second by now.
      await annotate({ [annotationKeys.canarySteps]: "2/1s" });
      await count("small", 3);
      await trial.kill();
      await trial.untilRolledOut("small");
    });
    await annotate({ [annotationKeys.canarySteps]: null, [annotationKeys.canaryContinue]: null });
  });

  it("replaces machines only when they are deleted, with the OnDelete annotation", async () => {
    await trial.changeClass("large", {}, { [annotationKeys.onDelete]: "true" });
    await trial.whileRunning(REPLICAS, async () => {
      await untilMessage("Old machines are replaced only when they are deleted");
      await restartChangesNothing();
      await rest(0, 4);
    });
    // A deleted machine is missing until its replacement runs.
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

  it("starts no replacement outside of maintenance windows, and completes those in progress", async () => {
    await trial.whileRunning(REPLICAS, async () => {
      await trial.changeClass("small", {}, { [annotationKeys.maintenanceWindows]: closed });
      await untilMessage("Rollout waits for the maintenance window that opens at ");
      await restartChangesNothing();
      await rest(4, 0);
      await annotate({ [annotationKeys.maintenanceWindows]: open });
      await count("small", 1);
      // A replacement is in progress.
      await annotate({ [annotationKeys.maintenanceWindows]: closed });
      await trial.kill();
      await untilMessage("Rollout waits for the maintenance window that opens at ");
      // The replacement completes: no machine is missing, and no surge is left.
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
