import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

const known = ["maxSurge", "maxUnavailable", "type", "replicas"];

describe("nearestName", () => {
  it.each([
    ["maxSruge", "maxSurge"],
    ["maxSurg", "maxSurge"],
    ["maxSurgee", "maxSurge"],
    ["maxsurge", "maxSurge"],
    ["MaxUnavailible", "maxUnavailable"],
    ["tpye", "type"],
    ["replica", "replicas"],
  ])("takes %s for %s", (written, meant) => {
    expect(nearestName(written, known)).toBe(meant);
  });

  it.each(["", "t", "size", "minSize", "x".repeat(100_000)])("takes %.10s for none of them", (written) => {
    expect(nearestName(written, known)).toBeUndefined();
    expect(nearestName(written, [])).toBeUndefined();
  });
});
