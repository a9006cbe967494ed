import { type MachineSet, machineSetResource } from "@millwright/core";
import { createStore, type EventRecord, createWriter } from "@millwright/kube";
import { createFakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import { aMachineSet } from "../testing/builders.ts";
import { carryOut, type CarryOutOptions } from "./carry-out.ts";

function setUp() {
  const api = createFakeApi();
  const store = createStore<MachineSet>();
  const object = api.seed(machineSetResource, aMachineSet({ status: { replicas: 1, readyReplicas: 1 } }));
  const recorded: EventRecord[] = [];
  const logged: string[] = [];
  const options: CarryOutOptions<MachineSet> = {
    object,
    writer: createWriter({ api, type: machineSetResource, store }),
    events: {
      record: (_, event) => void recorded.push(event),
      flush: async () => {},
      close: () => {},
      counts: () => ({ sent: 0, dropped: 0 }),
    },
    log: (level, message) => void logged.push(`${level} ${message}`),
  };
  return { api, recorded, logged, options };
}

const at = ({ metadata: { namespace, name } }: MachineSet) => ({ namespace, name });
const nothing = { actions: [], because: [] };
const noAction = async (): Promise<void> => {};

describe("carryOut", () => {
  it("carries out the actions in order, then writes the status, then records the events", async () => {
    const { api, recorded, logged, options } = setUp();
    const order: string[] = [];
    const because = [
      { type: "Normal", reason: "Grown", message: "two more" },
      { type: "Warning", reason: "Odd", message: "look here" },
    ] as const;
    const decision = { actions: ["a", "b"], status: { replicas: 2, readyReplicas: 1 }, because };
    await carryOut(
      decision,
      async (action) => {
        await Promise.resolve();
        order.push(`${action} before ${api.writes().length} writes and ${recorded.length} events`);
      },
      options,
    );
    expect(order).toEqual(["a before 0 writes and 0 events", "b before 0 writes and 0 events"]);
    expect(api.writes()).toMatchObject([
      { subresource: "status", body: [{ path: "/metadata/uid" }, { op: "add", path: "/status/replicas", value: 2 }] },
    ]);
    expect(recorded).toEqual(because);
    expect(logged).toEqual(["info Grown", "warn Odd"]);
  });

  it("carries out what follows the status when that is written and reported, so that a failure prevents neither", async () => {
    const { api, recorded, options } = setUp();
    const because = [{ type: "Normal", reason: "Grown", message: "two more" }] as const;
    const seen: number[] = [];
    const fails = async (action: string): Promise<void> => {
      seen.push(api.writes().length, recorded.length);
      throw new Error(`${action} failed`);
    };
    const decision = { actions: [], because, status: { replicas: 2, readyReplicas: 1 }, afterStatus: ["a", "b"] };
    await expect(carryOut(decision, fails, options)).rejects.toThrow("a failed");
    expect(seen).toEqual([1, 1]);
    expect(api.peek(machineSetResource, at(options.object))?.["status"]).toMatchObject({ replicas: 2 });
  });

  it("writes no status that the next reconcile replaces at once", async () => {
    const { api, options } = setUp();
    const order: string[] = [];
    const decision = { actions: ["a"], because: [], status: { replicas: 2 }, isStatusBrief: true };
    await carryOut(decision, async (action) => void order.push(action), options);
    expect([order, api.writes()]).toEqual([["a"], []]);
  });

  it("writes no status that is as it was, and none when the decision has none", async () => {
    const { api, options } = setUp();
    await carryOut({ ...nothing, status: { replicas: 1, readyReplicas: 1 } }, noAction, options);
    await carryOut(nothing, noAction, options);
    expect(api.calls).toEqual([]);
  });

  it("removes fields that the status no longer has", async () => {
    const { api, options } = setUp();
    await carryOut({ ...nothing, status: { replicas: 1 } }, noAction, options);
    expect(api.peek(machineSetResource, at(options.object))?.["status"]).toEqual({ replicas: 1 });
  });

  it("ends with the first failed action: nothing is written or reported that did not happen", async () => {
    const { api, recorded, options } = setUp();
    const done: string[] = [];
    const decision = {
      actions: ["a", "b", "c"],
      status: { replicas: 9 },
      because: [{ type: "Normal", reason: "Done", message: "" }] as const,
    };
    const outcome = carryOut(
      decision,
      async (action) => {
        await Promise.resolve();
        if (action === "b") throw new Error("refused");
        done.push(action);
      },
      options,
    );
    await expect(outcome).rejects.toThrow("refused");
    expect([done, api.calls, recorded]).toEqual([["a"], [], []]);
  });

  it("lets the results of the actions change the one write of the status", async () => {
    const { api, options } = setUp();
    const done: string[] = [];
    const statusAfter = (status: { replicas: number } | undefined) => ({
      replicas: (status?.replicas ?? 0) + done.length,
    });
    const decision = { actions: ["a", "b"], status: { replicas: 7 }, because: [] };
    await carryOut(decision, async (action) => void done.push(action), { ...options, statusAfter });
    expect(api.writes()).toHaveLength(1);
    expect(api.peek(machineSetResource, at(options.object))?.["status"]).toEqual({ replicas: 9 });
  });

  it("requeues when the decision requests it", async () => {
    const { options } = setUp();
    expect(await carryOut(nothing, noAction, options)).toEqual({ done: true });
    expect(await carryOut({ ...nothing, requeueAfterMs: 5 }, noAction, options)).toEqual({ requeueAfterMs: 5 });
  });
});
