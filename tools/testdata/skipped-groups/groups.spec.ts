import { describe, expect, it } from "vitest";

/** What the tests need. */
const hasIt = false;

describe("outer", () => {
  describe.runIf(hasIt)("a group that needs what is not there", () => {
    it("first", () => expect(true).toBe(true));
    it("second", () => expect(true).toBe(true));
  });
  describe("a group with one test that is skipped", () => {
    it("a test that runs", () => expect(true).toBe(true));
    it.runIf(hasIt)("a test that does not", () => expect(true).toBe(true));
  });
});
