import { afterAll, beforeAll, describe, expect, it } from "vitest";

describe("a group whose last hook fails", () => {
  afterAll(() => {
    throw new Error("after");
  });
  it("passes", () => expect(1).toBe(1));
});

describe("a group whose first hook fails", () => {
  beforeAll(() => {
    throw new Error("before");
  });
  it("never runs", () => expect(1).toBe(2));
});
