import { describe, expect, it } from "vitest";
import { orAborted } from "./or-aborted.ts";

const never = new Promise<never>(() => undefined);

describe("work that may be left alone", () => {
  it("gives its outcome where nothing aborts", async () => {
    const { signal } = new AbortController();
    await expect(orAborted(signal, Promise.resolve(5))).resolves.toBe(5);
    await expect(orAborted(signal, Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    await expect(orAborted(undefined, Promise.resolve(6))).resolves.toBe(6);
  });

  it("is left with the reason of the signal, also of one that had aborted before", async () => {
    const stop = new AbortController();
    const left = orAborted(stop.signal, never);
    stop.abort(new Error("too late"));
    await expect(left).rejects.toThrow("too late");
    await expect(orAborted(stop.signal, never)).rejects.toThrow("too late");
  });

  it("may fail after it was left", async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(orAborted(AbortSignal.abort(new Error("too late")), promise)).rejects.toThrow("too late");
    reject(new Error("unhandled by design"));
    await expect(promise).rejects.toThrow("unhandled");
  });
});
