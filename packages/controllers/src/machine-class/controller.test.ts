import { finalizers, type MachineClass, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { conflictError, type FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import { aMachine, aMachineClass, annotated, inPhase, named, refOf } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { createMachineClassController } from "./controller.ts";

const ref = refOf("small");
const heldByAnotherClient = { metadata: { finalizers: ["theirs", finalizers.machine] } };
const start = (prepare: (api: FakeApi) => void): Promise<RunningControllers> =>
  runControllers((context) => [createMachineClassController(context, 1)], prepare);
const finalizersOf = ({ api }: RunningControllers) =>
  api.peek<MachineClass>(machineClassResource, ref)?.metadata.finalizers;

describe("MachineClass controller", () => {
  it("holds a class from its first machine to its last, and writes nothing in between", async () => {
    const cluster = await start((api) => {
      api.seed(machineClassResource, aMachineClass());
      api.seed(machineResource, aMachine({ spec: { class: null } }, named("classless")));
    });
    expect(cluster.api.writes()).toEqual([]);
    cluster.api.seed(machineResource, aMachine(named("a")));
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual([finalizers.machine]);

    await cluster.api.delete(machineClassResource, ref);
    cluster.api.calls.length = 0;
    cluster.api.seed(machineResource, aMachine(named("b")));
    cluster.api.change(machineResource, { ...ref, name: "a" }, inPhase("Running"));
    cluster.api.remove(machineResource, { ...ref, name: "a" });
    await cluster.settle();
    expect(cluster.api.writes()).toEqual([]);
    expect(cluster.events).toEqual(["StillInUse Cannot delete MachineClass small: still referenced by Machine a, b"]);

    cluster.api.remove(machineResource, { ...ref, name: "b" });
    await cluster.settle();
    expect(cluster.api.peek(machineClassResource, ref)).toBeUndefined();
  });

  it("has nothing to do for machines of a class that does not exist", async () => {
    const cluster = await start((api) => void api.seed(machineResource, aMachine()));
    expect(cluster.api.writes()).toEqual([]);
  });

  it("finds at its start what was missed: a class without machines, and one with machines", async () => {
    const cluster = await start((api) => {
      api.seed(machineClassResource, aMachineClass(heldByAnotherClient));
      api.seed(machineClassResource, aMachineClass(named("large")));
      api.seed(machineResource, aMachine({ spec: { class: { name: "large" } } }));
    });
    expect(finalizersOf(cluster)).toEqual(["theirs"]);
    const large = cluster.api.peek<MachineClass>(machineClassResource, { ...ref, name: "large" });
    expect(large?.metadata.finalizers).toEqual([finalizers.machine]);
  });

  it("keeps the class with which a VM was created although the machine names another one now", async () => {
    const intent = JSON.stringify({ token: "t", attempt: 1, class: "small", provider: "mock" });
    const cluster = await start((api) => {
      api.seed(machineClassResource, aMachineClass(heldByAnotherClient));
      const moved = aMachine({ spec: { class: { name: "large" } } });
      api.seed(machineResource, aMachine(moved, annotated({ "machine.millwright.dev/creation-intent": intent })));
    });
    expect(finalizersOf(cluster)).toEqual(["theirs", finalizers.machine]);
    cluster.api.remove(machineResource, { ...ref, name: "machine" });
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual(["theirs"]);
  });

  it("releases no class while there is a machine that cannot be read, for it may need any", async () => {
    const cluster = await start((api) => {
      api.seed(machineClassResource, aMachineClass(heldByAnotherClient));
      api.seed(machineResource, { ...aMachine(), spec: { class: 7 } } as never);
    });
    expect(cluster.api.writes()).toEqual([]);
    cluster.api.remove(machineResource, { ...ref, name: "machine" });
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual(["theirs"]);
  });

  it("reads the machines before it releases a class that is being deleted: the cache may lack some", async () => {
    const caches: ControllerContext["caches"][] = [];
    const cluster = await runControllers(
      (context) => {
        caches.push(context.caches);
        return [createMachineClassController(context, 1)];
      },
      (api) => {
        api.seed(machineClassResource, aMachineClass());
        api.seed(machineResource, aMachine(named("known")));
      },
    );
    await cluster.api.delete(machineClassResource, ref);
    cluster.api.inject({ verb: "watch", type: machineResource, error: new Error("lost"), times: 1_000 });
    cluster.api.endWatches();
    await cluster.settle();
    cluster.api.seed(machineResource, aMachine(named("unknown")));
    expect(caches[0]?.machines.store.size).toBe(1);
    const remove = async (name: string): Promise<void> => {
      const { uid } = cluster.api.peek(machineResource, { ...ref, name })?.metadata ?? {};
      cluster.api.remove(machineResource, { ...ref, name });
      caches[0]?.machines.store.applyDelete({ ...ref, name, uid });
      await cluster.settle();
    };
    await remove("known");
    expect(finalizersOf(cluster)).toEqual([finalizers.machine]);
    await remove("unknown");
    expect(cluster.api.peek(machineClassResource, ref)).toBeUndefined();
  });

  it("takes back what another process writes ten times, then every five seconds", async () => {
    const cluster = await start((api) => void api.seed(machineClassResource, aMachineClass(heldByAnotherClient)));
    expect(finalizersOf(cluster)).toEqual(["theirs"]);
    cluster.api.calls.length = 0;
    const writesAfter = async (seconds: number): Promise<number> => {
      for (let tenth = 0; tenth < 10 * seconds; tenth++) {
        cluster.api.change(machineClassResource, ref, heldByAnotherClient);
        await cluster.clock.advance(100);
        await cluster.settle();
      }
      return cluster.api.writes().length;
    };
    const burst = await writesAfter(10);
    expect(burst).toBeGreaterThanOrEqual(10);
    expect(burst).toBeLessThanOrEqual(12);
    expect((await writesAfter(60)) - burst).toBe(12);
  });

  it("loses no finalizer that another client adds at the same moment", async () => {
    const cluster = await start((api) => {
      api.seed(machineClassResource, aMachineClass());
      api.inject({ verb: "patch", error: conflictError() });
    });
    cluster.api.seed(machineResource, aMachine());
    await cluster.settle(1_000);
    expect(finalizersOf(cluster)).toEqual([finalizers.machine]);
    expect(cluster.api.writes()).toHaveLength(2);
    const patches = cluster.api.writes().filter(({ verb }) => verb === "patch");
    for (const { body } of patches) expect(body).toHaveProperty("metadata.resourceVersion");
  });
});
