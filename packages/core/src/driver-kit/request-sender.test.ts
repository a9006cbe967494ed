import { describe, expect, it } from "vitest";
import { seededRandom } from "@millwright/base";
import { createVirtualClock } from "@millwright/base/testing";
import type { ApiCall } from "../driver/api-call.ts";
import { failureOf } from "../testing/driver-call.ts";
import { setDeadline } from "./call-deadline.ts";
import { type AttemptFailure, createRequestSender, mayHaveSucceededBefore } from "./request-sender.ts";

const signal = new AbortController().signal;

/** An error that carries the failure a test expects. */
class CloudError extends Error {
  readonly failure: AttemptFailure;
  constructor(failure: AttemptFailure) {
    super(failure.outcome);
    this.failure = failure;
  }
}

const throttled = (retryAfterMs?: number): CloudError =>
  new CloudError({ outcome: "Slow", kind: "throttled", retryAfterMs });
const transient = (retryAfterMs?: number): CloudError =>
  new CloudError({ outcome: "Broken", kind: "transient", retryAfterMs });
const final = new CloudError({ outcome: "No", kind: "final" });

function aSender(maxInFlight = 20) {
  const clock = createVirtualClock();
  const calls: ApiCall[] = [];
  const send = createRequestSender({
    cloud: "Cloud",
    clock,
    random: seededRandom(1),
    maxInFlight,
    reportApiCall: (call) => void calls.push(call),
    readFailure: (error) => (error instanceof CloudError ? error.failure : { outcome: "unknown", kind: "final" }),
  });
  return { clock, send, calls };
}

/** A cloud that fails in this order, and then answers; every attempt takes a second. */
function answers(clock: ReturnType<typeof createVirtualClock>, ...failures: readonly Error[]) {
  const left = [...failures];
  return async (): Promise<string> => {
    await clock.sleep(1_000);
    const failure = left.shift();
    if (failure !== undefined) throw failure;
    return "answer";
  };
}

describe("the sender of requests", () => {
  it("repeats what may pass, at most twice, and reports every attempt with the time that it took", async () => {
    const { clock, send, calls } = aSender();
    const good = send({ service: "get", signal }, answers(clock, transient(), transient()));
    const bad = failureOf(send({ service: "get", signal }, answers(clock, transient(), transient(), transient())));
    await clock.advance(10_000);
    await expect(good).resolves.toBe("answer");
    expect(await bad).toMatchObject({ message: "Broken" });
    expect(calls.map(({ outcome }) => outcome).toSorted()).toEqual([...Array<string>(5).fill("Broken"), "ok"]);
    expect(calls.every(({ seconds }) => seconds === 1)).toBe(true);
  });

  it("repeats nothing that stays as it is, or that has to wait long", async () => {
    const { clock, send, calls } = aSender();
    const failures = [final, transient(5_000)];
    const all = failures.map((failure) => failureOf(send({ service: "get", signal }, answers(clock, failure))));
    await clock.advance(1_000);
    expect(await Promise.all(all)).toEqual(failures);
    expect(calls).toHaveLength(2);
  });

  it("knows that an earlier attempt may have had its effect, but for those that were throttled", async () => {
    const { clock, send } = aSender();
    const outcomeOf = (...failures: readonly Error[]) =>
      send({ service: "create", signal }, answers(clock, ...failures)).catch((error: unknown) =>
        mayHaveSucceededBefore(error),
      );
    const refusal = (): CloudError => new CloudError({ outcome: "Exists", kind: "final" });
    const both = [outcomeOf(transient(), refusal()), outcomeOf(throttled(), refusal())];
    await clock.advance(20_000);
    expect(await Promise.all(both)).toEqual([true, false]);
  });

  it("counts failures that are answers as ok", async () => {
    const { clock, send, calls } = aSender();
    const get = send({ service: "get", signal, isAnswer: (error) => error === final }, answers(clock, final));
    const failure = failureOf(get);
    await clock.advance(1_000);
    expect(await failure).toBe(final);
    expect(calls.map(({ outcome }) => outcome)).toEqual(["ok"]);
  });

  it("holds no place in flight while a request waits for its turn", async () => {
    const { clock, send } = aSender(1);
    const slow = send({ service: "create", signal }, answers(clock, throttled(30_000)));
    await clock.advance(1_000);
    const other = send({ service: "get", signal }, answers(clock));
    await clock.advance(1_000);
    await expect(other).resolves.toBe("answer");
    await clock.advance(60_000);
    await expect(slow).resolves.toBe("answer");
  });

  it("slows requests of one action together, whatever they are for, and no others", async () => {
    const { clock, send } = aSender();
    const sent: string[] = [];
    const ask = (service: string, action: string, ...failures: readonly Error[]) => {
      const answer = answers(clock, ...failures);
      return send({ service, action, signal }, () => {
        sent.push(service);
        return answer();
      });
    };
    const first = ask("by-name", "List", throttled(60_000));
    await clock.advance(1_000);
    const others = [ask("by-id", "List"), ask("create", "Create")];
    await clock.advance(10_000);
    expect(sent).toEqual(["by-name", "create"]);
    await clock.advance(120_000);
    await Promise.all([first, ...others]);
    expect(sent).toEqual(["by-name", "create", "by-name", "by-id"]);
  });

  it("ends with the call: at its deadline when it waits for its turn, and at once when its signal aborts", async () => {
    const { clock, send } = aSender();
    const hasty = new AbortController();
    setDeadline(hasty.signal, () => 20_000 - clock.monotonicMs());
    const late = failureOf(send({ service: "create", signal: hasty.signal }, answers(clock, throttled(30_000))));
    await clock.advance(1_000);
    expect(await late).toMatchObject({ code: "Unavailable" });
    const stop = new AbortController();
    const stopped = failureOf(send({ service: "create", signal: stop.signal }, answers(clock)));
    stop.abort(new Error("stop"));
    expect(await stopped).toMatchObject({ message: "stop" });
    expect(clock.pending()).toBe(0);
  });
});
