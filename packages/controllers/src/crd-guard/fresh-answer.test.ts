import { describe, expect, it } from "vitest";
import { shareFresh } from "./fresh-answer.ts";

describe("shareFresh", () => {
  it("asks once for all who come while a question is under way, and not before that one has ended", async () => {
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

  it("asks again after a failure, which those who waited for it alone are told", async () => {
    let asked = 0;
    const share = shareFresh(async () => {
      asked++;
      if (asked === 1) throw new Error("no answer");
    });
    const first = share();
    const second = share();
    await expect(first).rejects.toThrow("no answer");
    await expect(second).resolves.toBeUndefined();
    expect(asked).toBe(2);
  });
});
