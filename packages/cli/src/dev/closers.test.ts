import { describe, expect, it } from "vitest";
import { createClosers } from "./closers.ts";

describe("closers", () => {
  it("close the latest first, each once", async () => {
    const order: string[] = [];
    const closers = createClosers();
    closers.add(() => void order.push("first"));
    closers.add(async () => void order.push("second"));
    await closers.closeAll();
    await closers.closeAll();
    expect(order).toEqual(["second", "first"]);
  });

  it("close the rest when one fails, and then throw the first error", async () => {
    const order: string[] = [];
    const closers = createClosers();
    closers.add(() => void order.push("first"));
    closers.add(() => Promise.reject(new Error("second failed")));
    closers.add(() => {
      throw new Error("third failed");
    });
    await expect(closers.closeAll()).rejects.toThrow("third failed");
    expect(order).toEqual(["first"]);
  });
});
