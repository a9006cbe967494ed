import type { MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineDeployment, type Change } from "../testing/builders.ts";
import { isComplete, progressOf, untilDeadline } from "./progress.ts";

const now = new Date("2026-01-01T00:01:00Z");
const secondsAgo = (seconds: number): string => new Date(now.getTime() - seconds * 1000).toISOString();
const counters = { replicas: 3, updatedReplicas: 3, readyReplicas: 3, availableReplicas: 3, unavailableReplicas: 0 };
const status = { ...counters };
const progressing = (reason: string, conditionStatus = "True", updated = secondsAgo(11)) => ({
  type: "Progressing",
  status: conditionStatus,
  reason,
  lastUpdateTime: updated,
});
const withCondition = (
  condition: ReturnType<typeof progressing> | undefined,
  ...changes: readonly Change<MachineDeployment>[]
) =>
  aMachineDeployment(
    { status: { ...status, availableReplicas: 2, ...(condition === undefined ? {} : { conditions: [condition] }) } },
    { spec: { progressDeadlineSeconds: 10 } },
    ...changes,
  );
/** What `Progressing` turns to: `True Reason message`, with a `!` where its time is renewed. */
const progress = (
  deployment: MachineDeployment,
  change: Partial<typeof counters> = { availableReplicas: 2 },
  newSet: string | undefined = "new",
  isNewSetCreated = false,
): string | undefined => {
  const found = progressOf({ deployment, counters: { ...counters, ...change }, newSet, isNewSetCreated }, now);
  return found && `${found.state.status} ${found.state.reason} ${found.state.message}${found.touch ? " !" : ""}`;
};

describe("isComplete", () => {
  it.each<[Partial<typeof counters>, boolean]>([
    [{}, true],
    [{ updatedReplicas: 2 }, false],
    [{ replicas: 4 }, false],
    [{ availableReplicas: 2 }, false],
  ])("with %j is %s", (change, expected) => {
    expect(isComplete(aMachineDeployment(), { ...counters, ...change })).toBe(expected);
  });

  it("wants none without spec.replicas", () => {
    const none = { replicas: 0, updatedReplicas: 0, availableReplicas: 0 };
    expect(isComplete(aMachineDeployment({ spec: { replicas: null } }), none)).toBe(true);
  });
});

describe("progressOf", () => {
  const paused = { spec: { paused: true } };
  it.each<[string, () => string | undefined, string | undefined]>([
    [
      "reports the creation of the new set",
      () => progress(withCondition(undefined), {}, "new", true),
      'True NewMachineSetCreated Created new machine set "new"',
    ],
    [
      "reports that all machines are there",
      () => progress(withCondition(progressing("MachineSetUpdated")), {}),
      'True NewMachineSetAvailable MachineSet "new" has successfully progressed.',
    ],
    [
      "reports completion even after the deadline",
      () => progress(withCondition(progressing("ProgressDeadlineExceeded", "False")), {}),
      'True NewMachineSetAvailable MachineSet "new" has successfully progressed.',
    ],
    [
      "does not take a machine that breaks later for a rollout",
      () => progress(withCondition(progressing("NewMachineSetAvailable"))),
      undefined,
    ],
    [
      "does not take another size for a rollout",
      () =>
        progress(withCondition(progressing("NewMachineSetAvailable")), {
          replicas: 4,
          updatedReplicas: 4,
          availableReplicas: 3,
        }),
      undefined,
    ],
    [
      "takes another template for a rollout, before anything has come of it",
      () =>
        progress(withCondition(progressing("NewMachineSetAvailable")), { updatedReplicas: 0, availableReplicas: 2 }),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "sees progress in more updated machines",
      () => progress(withCondition(progressing("NewMachineSetCreated"), { status: { updatedReplicas: 2 } })),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "sees progress in fewer old machines",
      () => progress(withCondition(progressing("NewMachineSetCreated"), { status: { replicas: 4 } })),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "sees progress in more ready machines",
      () => progress(withCondition(progressing("NewMachineSetCreated"), { status: { readyReplicas: 2 } })),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "sees progress in more available machines",
      () => progress(withCondition(progressing("NewMachineSetCreated"), { status: { availableReplicas: 1 } })),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "sees progress in the very first machines",
      () => progress(aMachineDeployment(), { availableReplicas: 1, replicas: 1 }),
      'True MachineSetUpdated MachineSet "new" is progressing. !',
    ],
    [
      "reports that the deadline has passed",
      () => progress(withCondition(progressing("MachineSetUpdated"))),
      'False ProgressDeadlineExceeded MachineSet "new" has timed out progressing.',
    ],
    [
      "waits for the deadline",
      () => progress(withCondition(progressing("MachineSetUpdated", "True", secondsAgo(9)))),
      undefined,
    ],
    [
      "has no deadline where none is set",
      () => progress(withCondition(progressing("MachineSetUpdated"), { spec: { progressDeadlineSeconds: null } })),
      undefined,
    ],
    [
      "reports an exceeded deadline once",
      () => progress(withCondition(progressing("ProgressDeadlineExceeded", "False"))),
      undefined,
    ],
    [
      "reports a set that was found and not created",
      () => progress(withCondition(undefined)),
      'True FoundNewMachineSet Found new machine set "new"',
    ],
    [
      "reports the pause",
      () => progress(withCondition(progressing("MachineSetUpdated"), paused)),
      "Unknown DeploymentPaused Deployment is paused",
    ],
    [
      "reports the end of the pause",
      () => progress(withCondition(progressing("DeploymentPaused", "Unknown"))),
      "Unknown DeploymentResumed Deployment is resumed",
    ],
    [
      "reports an exceeded deadline rather than a pause",
      () => progress(withCondition(progressing("ProgressDeadlineExceeded", "False"), paused)),
      undefined,
    ],
    [
      "applies the deadline again after a pause",
      () => progress(withCondition(progressing("DeploymentResumed", "Unknown"))),
      'False ProgressDeadlineExceeded MachineSet "new" has timed out progressing.',
    ],
  ])("%s", (_, found, expected) => {
    expect(found()).toBe(expected);
  });

  it("speaks of the deployment while there is no new set, and finds none", () => {
    const of = (deployment: MachineDeployment) =>
      progressOf(
        { deployment, counters: { ...counters, availableReplicas: 2 }, newSet: undefined, isNewSetCreated: false },
        now,
      );
    expect(of(withCondition(progressing("MachineSetUpdated")))?.state.message).toBe(
      'Machine Deployment "pool" has timed out progressing.',
    );
    expect(of(withCondition(undefined))).toBeUndefined();
  });
});

describe("untilDeadline", () => {
  it.each<[string, MachineDeployment, number | undefined]>([
    ["is what is left of it", withCondition(progressing("MachineSetUpdated", "True", secondsAgo(8))), 2000],
    ["is negative when it is over", withCondition(progressing("MachineSetUpdated", "True", secondsAgo(11))), -1000],
    ["goes on after a pause", withCondition(progressing("DeploymentResumed", "Unknown", secondsAgo(8))), 2000],
    [
      "does not exist without a deadline",
      withCondition(progressing("MachineSetUpdated"), { spec: { progressDeadlineSeconds: null } }),
      undefined,
    ],
    ["does not exist before the condition was set", withCondition(undefined), undefined],
    [
      "does not exist after it was exceeded",
      withCondition(progressing("ProgressDeadlineExceeded", "False")),
      undefined,
    ],
    ["does not exist when the rollout is complete", withCondition(progressing("NewMachineSetAvailable")), undefined],
    ["does not run in a pause", withCondition(progressing("DeploymentPaused", "Unknown")), undefined],
  ])("%s", (_, deployment, expected) => {
    expect(untilDeadline(deployment, now)).toBe(expected);
  });
});
