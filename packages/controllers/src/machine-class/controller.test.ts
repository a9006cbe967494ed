import { finalizers, type MachineClass, machineClassResource, machineResource } from "@millwright/core";
import type { FakeApi } from "@millwright/kube/testing";
import { afterEach, describe, expect, it } from "vitest";
import { aMachine, aMachineClass, inPhase, named, testNamespace } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { createMachineClassController } from "./controller.ts";

const ref = { namespace: testNamespace, name: "small" };
let running: RunningControllers | undefined;
afterEach(async () => running?.stop());

async function start(prepare: (api: FakeApi) => void): Promise<RunningControllers> {
  running = await runControllers((context) => [createMachineClassController(context, 1)], prepare);
  return running;
}
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

    cluster.api.remove(machineResource, { ...ref, name: "b" });
    await cluster.settle();
    expect(cluster.api.peek(machineClassResource, ref)).toBeUndefined();
  });

  it("has nothing to do for machines of a class that does not exist", async () => {
    const cluster = await start((api) => void api.seed(machineResource, aMachine()));
    expect(cluster.api.writes()).toEqual([]);
  });
});
