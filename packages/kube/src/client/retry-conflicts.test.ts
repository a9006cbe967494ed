import { seededRandom, systemClock } from "@millwright/base";
import { describe, expect, it } from "vitest";
import { ApiError } from "./api-error.ts";
import { retryConflicts } from "./retry-conflicts.ts";

const conflict = new ApiError({ status: 409, reason: "Conflict", message: "the object has been modified" });

describe("a change that meets conflicts", () => {
  const tools = { clock: { ...systemClock, sleep: () => Promise.resolve() }, random: seededRandom(1) };

  it("is repeated until it meets none, however often", async () => {
    let left = 50;
    const attempt = async (): Promise<string> => {
      left -= 1;
      if (left > 0) throw conflict;
      return "changed";
    };
    const { signal } = new AbortController();
    await expect(retryConflicts(attempt, { ...tools, signal })).resolves.toBe("changed");
  });

  it("is not repeated for another error, nor once the signal aborts", async () => {
    const stop = new AbortController();
    let attempts = 0;
    const attempt = async (): Promise<never> => {
      attempts += 1;
      if (attempts === 3) stop.abort();
      throw attempts < 4 ? conflict : new Error("one too many");
    };
    await expect(retryConflicts(attempt, { ...tools, signal: stop.signal })).rejects.toBe(conflict);
    const other = new ApiError({ status: 409, reason: "AlreadyExists", message: "it exists" });
    const reject = (): Promise<never> => Promise.reject(other);
    await expect(retryConflicts(reject, { ...tools, signal: new AbortController().signal })).rejects.toBe(other);
  });
});
