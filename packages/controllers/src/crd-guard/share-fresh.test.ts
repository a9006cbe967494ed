import { describe, expect, it } from "vitest";
import { shareFresh } from "./share-fresh.ts";

describe("shareFresh", () => {
  it("sends one request for all callers that come while one is in flight, and not before that has ended", async () => {
    const ends: (() => void)[] = [];
    const share = shareFresh(() => new Promise((resolve) => void ends.push(resolve)));
    const first = share();
    const others = [share(), share(), share()];
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await first;
    await Promise.resolve();
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await Promise.all(others);
    expect(ends).toHaveLength(2);
    const late = share();
    expect(ends).toHaveLength(3);
    ends[2]?.();
    await late;
  });

  it("sends another request after a failure, which only those that waited for it get", async () => {
    let requests = 0;
    const share = shareFresh(async () => {
      requests++;
      if (requests === 1) throw new Error("no response");
    });
    const first = share();
    const second = share();
    await expect(first).rejects.toThrow("no response");
    await expect(second).resolves.toBeUndefined();
    expect(requests).toBe(2);
  });
});
