import { type Machine, machineResource, machineSetResource } from "@millwright/core/machine-api";
import { ApiError } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import { aMachine, aMachineSet, inPhase, named, ownedBy, refOf, testNamespace } from "../testing/builders.ts";
import { failureOf, setOf, setRef, startSets, withSet } from "../testing/running-set.ts";

const quota = new ApiError({ status: 403, reason: "Forbidden", message: "exceeded quota: machines" });
const noAnswer = new ApiError({ status: 0, reason: "NoAnswer", message: "connection reset" });

/** A set of one machine, whose creation goes wrong the first time: `after` it was made, if so wanted. */
const withFailedCreation = (error: ApiError, phase: "before" | "after" = "before") =>
  startSets((api) => {
    api.seed(machineSetResource, aMachineSet({ spec: { replicas: 1 } }));
    api.inject({ verb: "create", phase, error });
  });

describe("a MachineSet that is refused something", () => {
  it("reports a rejected creation while it lasts, retries with backoff, and stops reporting it on success", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet());
      api.inject({ verb: "create", type: machineResource, error: quota, times: 3 });
    });
    expect(failureOf(cluster)).toMatchObject({
      status: "True",
      reason: "FailedCreate",
      message: "exceeded quota: machines",
    });
    expect(cluster.events).toContain("FailedCreate Error creating: exceeded quota: machines");
    // One write reports both that the machines are missing and why.
    expect(cluster.api.writes().filter(({ subresource }) => subresource === "status")).toHaveLength(1);
    const attempts = () => cluster.api.calls.filter(({ verb }) => verb === "create").length;
    // The second attempt is made by the reconcile that the changed status triggers.
    expect(attempts()).toBe(2);
    await cluster.settle(60_000);
    expect(cluster.machines()).toHaveLength(3);
    expect(failureOf(cluster)).toBeUndefined();
    expect(attempts()).toBe(6);
  });

  it("shows a refused deletion, and stops showing it when the machine is wanted again", async () => {
    const cluster = await withSet({ spec: { replicas: 1 } });
    cluster.api.inject({ verb: "delete", error: quota, times: 1_000 });
    cluster.api.change(machineSetResource, setRef, { spec: { replicas: 0 } });
    await cluster.settle();
    expect(failureOf(cluster)).toMatchObject({ reason: "FailedDelete" });
    expect(cluster.machines()[0]?.status).toBeUndefined();
    cluster.api.change(machineSetResource, setRef, { spec: { replicas: 1 } });
    await cluster.settle();
    expect(failureOf(cluster)).toBeUndefined();
  });

  it("lets what is refused for one machine keep it from no other", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 2 } }));
      for (const name of ["a", "b"])
        api.seed(machineResource, aMachine(named(name), inPhase("Failed"), ownedBy(aMachineSet())));
      api.inject({ verb: "delete", key: `${testNamespace}/a`, error: quota, times: 1_000 });
    });
    expect(failureOf(cluster)).toMatchObject({ reason: "FailedDelete", message: "exceeded quota: machines" });
    expect(cluster.api.peek<Machine>(machineResource, refOf("b"))?.metadata.deletionTimestamp).toBeDefined();
    expect(cluster.machines()).toHaveLength(3);
  });
});

describe("a MachineSet that gets a wrong answer, or none", () => {
  it("draws another name when the one it drew is taken", async () => {
    const first = await withSet({ spec: { replicas: 1 } });
    const taken = first.machines()[0]?.metadata.name ?? "";
    await first.stop();
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 1 } }));
      const other = api.seed(machineSetResource, aMachineSet(named("other"), { spec: { replicas: 1 } }));
      api.seed(machineResource, aMachine(named(taken), ownedBy(other)));
    });
    expect(cluster.machines()).toHaveLength(2);
    expect(failureOf(cluster)).toBeUndefined();
  });

  it("does not create a second time what was created although the answer got lost", async () => {
    const cluster = await withFailedCreation(
      new ApiError({ status: 504, reason: "Timeout", message: "late" }),
      "after",
    );
    await cluster.settle(60_000);
    expect(cluster.machines()).toHaveLength(1);
    expect(failureOf(cluster)).toBeUndefined();
  });

  it("asks again for what got no answer only when it is sure that nothing comes of it, and waits for that before it goes", async () => {
    const cluster = await withFailedCreation(noAnswer);
    await cluster.settle(80_000);
    expect(cluster.machines()).toEqual([]);
    await cluster.settle(20_000);
    expect(cluster.machines()).toHaveLength(1);
  });

  it("asks again at once for what a fault of the server kept from being made", async () => {
    const cluster = await withFailedCreation(
      new ApiError({ status: 503, reason: "ServiceUnavailable", message: "busy" }),
    );
    await cluster.settle(5_000);
    expect(cluster.machines()).toHaveLength(1);
    expect(failureOf(cluster)).toBeUndefined();
  });

  it("stays as long as a machine may still come of a creation without answer", async () => {
    const cluster = await withFailedCreation(noAnswer);
    await cluster.api.delete(machineSetResource, setRef);
    await cluster.settle(60_000);
    expect(setOf(cluster)).toBeDefined();
    await cluster.settle(5 * 60_000);
    expect(setOf(cluster)).toBeUndefined();
  });

  it("deletes no other machine while the result of a deletion without a response is unknown", async () => {
    const cluster = await startSets((api) => {
      api.seed(machineSetResource, aMachineSet({ spec: { replicas: 1 } }));
      for (const name of ["a", "b"])
        api.seed(machineResource, aMachine(named(name), inPhase("Running"), ownedBy(aMachineSet())));
      api.inject({ verb: "delete", error: noAnswer });
    });
    const going = () => cluster.machines().filter(({ metadata }) => metadata.deletionTimestamp !== undefined).length;
    await cluster.settle(60_000);
    expect(going()).toBe(0);
    await cluster.settle(60_000);
    expect(going()).toBe(1);
  });
});
