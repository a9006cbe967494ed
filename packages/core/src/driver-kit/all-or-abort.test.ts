import { createVirtualClock } from "@millwright/base/testing";
import { expect, it } from "vitest";
import { allOrAbort } from "./all-or-abort.ts";
import { deadlineOf, setDeadline } from "./call-deadline.ts";

const clock = createVirtualClock();
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

it("returns all results, in their order", async () => {
  const { signal } = new AbortController();
  const results = await allOrAbort({ clock, signal }, [async () => 1, async () => "b"]);
  expect(results).toEqual([1, "b"]);
});

it("aborts the others when one fails, and throws its error", async () => {
  const { signal } = new AbortController();
  let other: AbortSignal | undefined;
  const call = allOrAbort({ clock, signal }, [
    (context: { readonly signal: AbortSignal }) => {
      other = context.signal;
      return untilAborted(context.signal);
    },
    () => Promise.reject(new Error("throttled")),
  ]);
  await expect(call).rejects.toThrow("throttled");
  expect(other?.aborted).toBe(true);
  expect(signal.aborted).toBe(false);
});

it("ends all with the call, and keeps its deadline", async () => {
  const end = new AbortController();
  setDeadline(end.signal, () => 1_234);
  let remaining = 0;
  const call = allOrAbort({ clock, signal: end.signal }, [
    (context: { readonly signal: AbortSignal }) => {
      remaining = deadlineOf(context.signal, clock)();
      return untilAborted(context.signal);
    },
  ]);
  end.abort(new Error("the call is aborted"));
  await expect(call).rejects.toThrow("the call is aborted");
  expect(remaining).toBe(1_234);
});
