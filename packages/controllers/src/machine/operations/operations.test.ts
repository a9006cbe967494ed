import { MachineError } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { describe, expect, it, vi } from "vitest";
import type { DriverOutcome } from "../../model/driver-port.ts";
import type { OperationResult, PendingOperation } from "../../model/operation.ts";
import { createOperations, type OperationStart } from "./operations.ts";
import { fixed } from "../../model/live.ts";

type Outcome = DriverOutcome<OperationResult | PendingOperation>;

/** A call whose end the test decides. */
function aCall(kind: OperationStart["kind"] = "create") {
  const end = Promise.withResolvers<Outcome>();
  const signals: AbortSignal[] = [];
  const enqueue = vi.fn<() => void>();
  const run = vi.fn<OperationStart["run"]>((signal) => {
    signals.push(signal);
    return end.promise;
  });
  return { end, signals, enqueue, run, start: { kind, inputs: "v1", run, enqueue } };
}
const settle = () => new Promise((resolve) => setImmediate(resolve));
const error = new MachineError("ResourceExhausted", "quota", { retryAfterMs: 7, lastKnownState: "s" });

describe("operations", () => {
  it("run one call of a machine at a time, and calls of two machines side by side", () => {
    const operations = createOperations(createVirtualClock());
    const [first, second, other] = [aCall(), aCall("delete"), aCall()];
    operations.start("a", first.start);
    operations.start("a", second.start);
    operations.start("b", other.start);
    expect(operations.get("a")).toMatchObject({ kind: "create", state: "running" });
    expect([first.run, second.run, other.run].map((run) => run.mock.calls.length)).toEqual([1, 0, 1]);
    expect(operations.get("c")).toBeUndefined();
  });

  it("keep a success until it is acknowledged, and enqueue the machine once", async () => {
    const operations = createOperations(createVirtualClock());
    const call = aCall();
    operations.start("a", call.start);
    operations.acknowledge("a", operations.get("a"));
    expect(operations.get("a")?.state).toBe("running");
    call.end.resolve({ ok: true, value: { providerId: "vm-1" } });
    await settle();
    expect(call.enqueue).toHaveBeenCalledTimes(1);
    expect(operations.get("a")).toMatchObject({ kind: "create", state: "done", result: { providerId: "vm-1" } });
    operations.acknowledge("a", operations.get("a"));
    expect(operations.get("a")).toBeUndefined();
    operations.acknowledge("a", operations.get("a"));
  });

  it("keep a failure with all that a retry needs, also when it is acknowledged", async () => {
    const clock = createVirtualClock();
    const operations = createOperations(clock);
    const call = aCall("delete");
    operations.start("a", call.start);
    await clock.advance(1_000);
    call.end.resolve({ ok: false, error });
    await settle();
    const view = {
      kind: "delete",
      state: "failed",
      code: "ResourceExhausted",
      message: "quota",
      retryAfterMs: 7,
      lastKnownState: "s",
      endedAt: clock.now().getTime(),
      inputs: "v1",
      firstFailedAt: clock.now().getTime(),
      failures: 1,
      jitter: expect.any(Number),
      isAcknowledged: false,
    };
    expect(operations.get("a")).toEqual(view);
    operations.acknowledge("a", operations.get("a"));
    expect(operations.get("a")).toEqual({ ...view, isAcknowledged: true });
  });

  it("are replaced by a new call after they have ended", async () => {
    const operations = createOperations(createVirtualClock());
    const call = aCall("find");
    operations.start("a", call.start);
    call.end.resolve({ ok: true, value: {} });
    await settle();
    operations.start("a", aCall("delete").start);
    expect(operations.get("a")).toMatchObject({ kind: "delete", state: "running" });
  });

  it("abort the call of a deleted machine, and do not enqueue it", async () => {
    const operations = createOperations(createVirtualClock());
    const call = aCall();
    operations.start("a", call.start);
    operations.forget("a");
    operations.forget("a");
    expect(call.signals[0]?.reason).toMatchObject({ message: "the machine is deleted" });
    call.end.resolve({ ok: true, value: {} });
    await settle();
    expect(operations.get("a")).toBeUndefined();
    expect(call.enqueue).not.toHaveBeenCalled();
  });

  it("ignore the late end of a forgotten call", async () => {
    const operations = createOperations(createVirtualClock());
    const [old, fresh] = [aCall(), aCall("delete")];
    operations.start("a", old.start);
    operations.forget("a");
    operations.start("a", fresh.start);
    old.end.resolve({ ok: true, value: {} });
    await settle();
    expect(operations.get("a")).toMatchObject({ kind: "delete", state: "running" });
    expect(old.enqueue).not.toHaveBeenCalled();
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("bug"))],
    [
      "throws at once",
      () => {
        throw new Error("bug");
      },
    ],
  ])("turn a call that %s into a failure: a machine never waits for a call that is over", async (_, run) => {
    const operations = createOperations(createVirtualClock());
    const { start, enqueue } = aCall();
    operations.start("a", { ...start, run });
    await settle();
    expect(operations.get("a")).toMatchObject({ state: "failed", code: "Internal" });
    expect(enqueue).toHaveBeenCalledTimes(1);
  });

  it("close by aborting all calls, wait for their ends, and start none after that", async () => {
    const operations = createOperations(createVirtualClock());
    const [kept, forgotten, late] = [aCall(), aCall(), aCall()];
    operations.start("a", kept.start);
    operations.start("b", forgotten.start);
    operations.forget("b");
    let isClosed = false;
    const closing = operations.close().then(() => (isClosed = true));
    expect(kept.signals[0]?.reason).toMatchObject({ message: "the controller is stopping" });
    operations.start("c", late.start);
    expect(late.run).not.toHaveBeenCalled();
    kept.end.resolve({ ok: false, error });
    await settle();
    expect(isClosed).toBe(false);
    forgotten.end.resolve({ ok: false, error });
    await closing;
  });
});

describe("operations that wait for their turn", () => {
  const launch = { name: "small/", isRepeated: false };
  const limits = fixed({ perGroup: 1, inAll: 10, exhaustedRetryMs: 600_000 });

  it("are waiting until the one before has ended, and running then", async () => {
    const clock = createVirtualClock();
    const operations = createOperations(clock, limits);
    const [first, second] = [aCall(), aCall()];
    operations.start("a", { ...first.start, launch });
    operations.start("b", { ...second.start, launch });
    const waiting = { kind: "create", state: "waiting", inputs: "v1", since: clock.now().getTime() };
    expect([operations.get("a")?.state, operations.get("b")]).toEqual(["running", waiting]);
    expect([...operations.unfinished()]).toMatchObject([{ kind: "create", state: "running" }, waiting]);
    operations.acknowledge("b", operations.get("b"));
    operations.start("b", { ...aCall().start, launch });
    first.end.resolve({ ok: true, value: {} });
    await settle();
    expect([second.run.mock.calls.length, operations.get("b")?.state]).toEqual([1, "running"]);
  });

  it("contain the backoff of their class, and enqueue their machine to report it", async () => {
    const operations = createOperations(createVirtualClock(), limits);
    const [first, second] = [aCall(), aCall()];
    operations.start("a", { ...first.start, launch });
    operations.start("b", { ...second.start, launch });
    first.end.resolve({ ok: false, error });
    await settle();
    expect(operations.get("b")).toMatchObject({
      state: "waiting",
      classBackoff: { code: "ResourceExhausted", message: "quota" },
    });
    // The second once because it has to wait, and once because the reason has changed.
    expect([first.enqueue.mock.calls.length, second.enqueue.mock.calls.length]).toEqual([1, 2]);
  });

  it("enqueue their machine to report it, also when their class was backed off before", async () => {
    const operations = createOperations(createVirtualClock(), limits);
    const [first, second] = [aCall(), aCall()];
    operations.start("a", { ...first.start, launch });
    expect(first.enqueue).not.toHaveBeenCalled();
    first.end.resolve({ ok: false, error });
    await settle();
    operations.start("b", { ...second.start, launch });
    expect(operations.get("b")).toMatchObject({ state: "waiting", classBackoff: { code: "ResourceExhausted" } });
    expect(second.enqueue).toHaveBeenCalledTimes(1);
  });

  it("are canceled before they start; a running one is not", async () => {
    const operations = createOperations(createVirtualClock(), limits);
    const [first, second, third] = [aCall(), aCall(), aCall()];
    operations.start("a", { ...first.start, launch });
    operations.start("b", { ...second.start, launch });
    operations.start("c", { ...third.start, launch });
    operations.cancel("b");
    operations.forget("c");
    operations.cancel("a");
    operations.cancel("unknown");
    first.end.resolve({ ok: true, value: {} });
    await settle();
    expect([operations.get("a")?.state, operations.get("b"), operations.get("c")]).toEqual([
      "done",
      undefined,
      undefined,
    ]);
    expect([second.run.mock.calls.length, third.run.mock.calls.length]).toEqual([0, 0]);
  });
});

describe("a call whose operation is pending", () => {
  const answer: Outcome = { ok: true, value: { pending: { message: "wiping disks", checkAfterMs: 30_000 } } };
  const launch = { name: "small/", isRepeated: false };
  const failure: Outcome = { ok: false, error };

  it("is kept with the driver's message and the time of its next check, and resets the count of failures", async () => {
    const clock = createVirtualClock();
    const operations = createOperations(clock);
    const end = async (outcome: Outcome): Promise<void> => {
      const call = aCall();
      operations.start("a", call.start);
      call.end.resolve(outcome);
      await settle();
      expect(call.enqueue).toHaveBeenCalledTimes(1);
    };
    await end(failure);
    await clock.advance(1_000);
    await end(answer);
    const view = { kind: "create", state: "pending", message: "wiping disks", checkAt: clock.now().getTime() + 30_000 };
    expect(operations.get("a")).toEqual(view);
    operations.acknowledge("a", operations.get("a"));
    expect(operations.get("a")).toEqual(view);
    await end(failure);
    expect(operations.get("a")).toMatchObject({ state: "failed", failures: 1 });
  });

  it("does not block other machines, and is checked without being throttled", async () => {
    const operations = createOperations(createVirtualClock(), fixed({ perGroup: 1, inAll: 1, exhaustedRetryMs: 1 }));
    const [first, second, check] = [aCall(), aCall(), aCall()];
    operations.start("a", { ...first.start, launch });
    operations.start("b", { ...second.start, launch });
    expect(operations.get("b")?.state).toBe("waiting");
    first.end.resolve(answer);
    await settle();
    expect(operations.get("b")?.state).toBe("running");
    operations.start("a", { ...check.start, launch });
    expect(operations.get("a")?.state).toBe("running");
  });

  it("is dropped when it is canceled, or when the machine needs another call", async () => {
    const operations = createOperations(createVirtualClock(), fixed({ perGroup: 1, inAll: 1, exhaustedRetryMs: 1 }));
    for (const cancel of [() => operations.cancel("a"), () => operations.start("a", aCall("delete").start)]) {
      const [call, again] = [aCall(), aCall()];
      operations.start("a", { ...call.start, launch });
      call.end.resolve(answer);
      await settle();
      cancel();
      operations.start("b", { ...again.start, launch });
      expect([operations.get("a")?.state, operations.get("b")?.state]).not.toContain("pending");
      again.end.resolve({ ok: true, value: {} });
      await settle();
    }
  });

  it.each([true, false])("is undone when the machine is deleted before the answer: %s", async (isBefore) => {
    const operations = createOperations(createVirtualClock());
    const call = aCall();
    const undo = vi.fn<NonNullable<OperationStart["undo"]>>(async () => {});
    operations.start("a", { ...call.start, undo });
    if (isBefore) operations.forget("a");
    call.end.resolve(answer);
    await settle();
    if (!isBefore) operations.forget("a");
    expect(undo.mock.calls.map(([result]) => result)).toEqual([{}]);
  });
});

describe("a late result", () => {
  it("is undone when the machine is deleted, and enqueues nothing", async () => {
    const operations = createOperations(createVirtualClock());
    const call = aCall();
    const undo = vi.fn<NonNullable<OperationStart["undo"]>>(async () => {});
    operations.start("a", { ...call.start, undo });
    operations.forget("a");
    call.end.resolve({ ok: true, value: { providerId: "vm-1" } });
    await settle();
    expect(undo.mock.calls.map(([result]) => result)).toEqual([{ providerId: "vm-1" }]);
    expect([call.enqueue.mock.calls.length, operations.get("a")]).toEqual([0, undefined]);
  });

  it("is undone when the machine is deleted before it is stored, and not after", async () => {
    const operations = createOperations(createVirtualClock());
    const undo = vi.fn<NonNullable<OperationStart["undo"]>>(async () => {});
    for (const isStored of [false, true]) {
      const call = aCall();
      operations.start("a", { ...call.start, undo });
      call.end.resolve({ ok: true, value: { providerId: "vm-1" } });
      await settle();
      if (isStored) operations.acknowledge("a", operations.get("a"));
      operations.forget("a");
    }
    expect(undo.mock.calls.map(([result]) => result)).toEqual([{ providerId: "vm-1" }]);
  });

  it.each([
    ["it was rejected", new MachineError("InvalidArgument", "no", { tokenIsSpent: true }), []],
    ["it was aborted, since a VM may have been created", new MachineError("Aborted", "the machine is deleted"), [{}]],
  ])("that is a failure is undone only where a VM may exist: %s", async (_, failure, undone) => {
    for (const isEarly of [false, true]) {
      const operations = createOperations(createVirtualClock());
      const call = aCall();
      const undo = vi.fn<NonNullable<OperationStart["undo"]>>(async () => {});
      operations.start("a", { ...call.start, undo });
      if (isEarly) operations.forget("a");
      call.end.resolve({ ok: false, error: failure });
      await settle();
      if (!isEarly) operations.forget("a");
      expect(undo.mock.calls.map(([result]) => result)).toEqual(undone);
    }
  });

  it("proves nothing about its class when it was stopped from outside", async () => {
    const operations = createOperations(createVirtualClock(), fixed({ perGroup: 1, inAll: 1, exhaustedRetryMs: 1 }));
    const [first, second] = [aCall(), aCall()];
    const launch = { name: "small/", isRepeated: false };
    operations.start("a", { ...first.start, launch });
    operations.start("b", { ...second.start, launch });
    operations.forget("a");
    first.end.resolve({ ok: false, error });
    await settle();
    expect(operations.get("b")?.state).toBe("running");
  });
});

it("count the failures of one kind of call in a row, until it succeeds", async () => {
  const operations = createOperations(createVirtualClock());
  const fail = async (kind: OperationStart["kind"]) => {
    const call = aCall(kind);
    operations.start("a", call.start);
    call.end.resolve({ ok: false, error: new MachineError("Internal", "no", { tokenIsSpent: true }) });
    await settle();
    const view = operations.get("a");
    return view?.state === "failed" ? [view.failures, view.isTokenSpent] : undefined;
  };
  expect([await fail("create"), await fail("create"), await fail("find"), await fail("create")]).toEqual([
    [1, true],
    [2, true],
    [1, true],
    [1, true],
  ]);
  const call = aCall();
  operations.start("a", call.start);
  call.end.resolve({ ok: true, value: {} });
  await settle();
  expect(await fail("create")).toEqual([1, true]);
});

it("remember, while a creation waits, that the attempt before was rejected", async () => {
  const clock = createVirtualClock();
  const operations = createOperations(clock, fixed({ perGroup: 1, inAll: 1, exhaustedRetryMs: 1 }));
  const launch = { name: "small/", isRepeated: false };
  const [rejected, other] = [aCall(), aCall()];
  operations.start("a", { ...rejected.start, launch });
  rejected.end.resolve({ ok: false, error: new MachineError("ResourceExhausted", "no", { tokenIsSpent: true }) });
  await settle();
  await clock.advance(60_000);
  operations.start("b", { ...other.start, launch });
  operations.start("a", { ...aCall().start, launch });
  operations.start("c", { ...aCall().start, launch });
  expect(operations.get("a")).toMatchObject({ state: "waiting", isUnasked: true });
  expect(operations.get("c")).not.toHaveProperty("isUnasked");
});

it("keeps an outcome that is not the one that was stored", async () => {
  const clock = createVirtualClock();
  const operations = createOperations(clock);
  const start = (): void =>
    operations.start("a", { kind: "find", inputs: "1", run: async () => ({ ok: true, value: {} }), enqueue: () => {} });
  start();
  await clock.advance(0);
  const stored = operations.get("a");
  start();
  await clock.advance(0);
  operations.acknowledge("a", stored);
  expect(operations.get("a")?.state).toBe("done");
  operations.acknowledge("a", operations.get("a"));
  expect(operations.get("a")).toBeUndefined();
});

it("keeps how long a machine waits when the wall clock jumps", async () => {
  const virtual = createVirtualClock();
  let jumpMs = 0;
  const clock = { ...virtual, now: () => new Date(virtual.now().getTime() + jumpMs) };
  const operations = createOperations(clock);
  const value = { pending: { message: "installing", checkAfterMs: 60_000 } };
  operations.start("a", { kind: "create", inputs: "1", run: async () => ({ ok: true, value }), enqueue: () => {} });
  await virtual.advance(0);
  for (const ms of [3_600_000, -3_600_000]) {
    jumpMs = ms;
    const view = operations.get("a");
    expect(view?.state === "pending" ? view.checkAt - clock.now().getTime() : undefined).toBe(60_000);
  }
});

describe("failures that are not those of the driver", () => {
  const credential = { driver: "mock", secret: "cloud", machineClass: "small" };
  const failed = (code: "Unavailable" | "PermissionDenied"): Outcome => ({
    ok: false,
    error: new MachineError(code, "cannot create a bootstrap token"),
    isOutsideDriver: true,
  });

  it.each(["Unavailable", "PermissionDenied"] as const)(
    "open no circuit of the credential, so that deletions go on, after %s",
    async (code) => {
      const opened = vi.fn<() => void>();
      const operations = createOperations(createVirtualClock(), undefined, { opened, closed: () => undefined });
      for (let index = 0; index < 20; index++) {
        const creation = aCall();
        operations.start(`m-${index}`, { ...creation.start, credential });
        creation.end.resolve(failed(code));
      }
      await settle();
      expect(operations.get("m-0")).toMatchObject({ state: "failed", code });
      expect([opened.mock.calls.length, operations.openCircuits()]).toEqual([0, []]);
      const deletion = aCall("delete");
      operations.start("deleted", { ...deletion.start, credential });
      expect(deletion.run).toHaveBeenCalledOnce();
    },
  );
});
