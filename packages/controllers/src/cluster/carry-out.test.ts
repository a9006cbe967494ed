import {
  machineResource,
  type MachineSet,
  machineSetResource,
  type MachineSetStatus,
} from "@millwright/core/machine-api";
import { createVirtualClock } from "@millwright/core/testing";
import {
  ApiError,
  createRefusedWrites,
  createStore,
  createWriter,
  type EventRecord,
  type ObjectWrite,
} from "@millwright/kube";
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

  it("reports a write that is refused three times, in the status and as event of the object that depends on it", async () => {
    const { api, recorded, options } = setUp();
    const clock = createVirtualClock();
    const refused = createRefusedWrites(clock);
    const write: ObjectWrite = { verb: "patch", type: machineResource, ref: { namespace: "n", name: "m" } };
    const denied = new ApiError({ status: 403, reason: "Forbidden", message: "denied\nby a webhook" });
    const act = (): Promise<void> => refused.send(write, () => Promise.reject(denied));
    const refusedStatus = (): MachineSetStatus => ({ ...options.object.status, replicas: 7 });
    const decision = { actions: ["a"], because: [] };
    for (let attempt = 1; attempt <= 3; attempt++) {
      await expect(carryOut(decision, act, { ...options, refusedStatus })).rejects.toThrow("denied");
      expect([recorded.length, api.writes().length]).toEqual(attempt < 3 ? [0, 0] : [1, 1]);
      await clock.advance(1_000);
    }
    const message = "Failed to patch Machine m: 403 Forbidden: denied by a webhook";
    expect(recorded).toEqual([{ type: "Warning", reason: "WriteRefused", message }]);
    expect(api.peek(machineSetResource, at(options.object))?.["status"]).toMatchObject({ replicas: 7 });
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
