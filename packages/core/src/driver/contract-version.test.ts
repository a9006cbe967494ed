import { ConfigError } from "@millwright/base";
import { describe, expect, it } from "vitest";
import { negotiateContractVersion } from "./contract-version.ts";

const host = { min: 2, max: 4 };
const negotiate = (declared: unknown): number => negotiateContractVersion(declared, 'driver "example"', host);

describe("the version of the contract between a driver and a host of 2 to 4", () => {
  it.each<[unknown, number]>([
    [2, 2],
    [4, 4],
    [{ min: 1, max: 3 }, 3],
    [{ min: 3, max: 9 }, 4],
    [{ min: 1, max: 9 }, 4],
    [{ min: 4, max: 4 }, 4],
  ])("of a driver that declares %j: %i", (declared, version) => {
    expect(negotiate(declared)).toBe(version);
  });

  it.each<[unknown, string]>([
    [
      5,
      'driver "example" implements driver contract 5; this version of Millwright supports contract 2 to 4: update Millwright',
    ],
    [
      { min: 5, max: 6 },
      'driver "example" implements driver contract 5 to 6; this version of Millwright supports contract 2 to 4: update Millwright',
    ],
    [
      { min: 1, max: 1 },
      'driver "example" implements driver contract 1; this version of Millwright supports contract 2 to 4: update the driver',
    ],
  ])("rejects a driver that declares %j, and names the side to update", (declared, message) => {
    expect(() => negotiate(declared)).toThrow(new ConfigError(message));
  });

  it.each([undefined, null, 0, -1, 1.5, "1", Number.NaN, {}, { min: 1 }, { min: 3, max: 2 }, { min: 0, max: 2 }])(
    "rejects %j, which is neither a version nor a range",
    (declared) => {
      expect(() => negotiate(declared)).toThrow(/"contractVersion" must be a whole number from 1, or a range/);
    },
  );
});
