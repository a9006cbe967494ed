import { describe, expect, it } from "vitest";
import { apiVersionsOf, defaultApiVersions, requireApiVersions, resourceTypes } from "./api-versions.ts";

describe("api-versions", () => {
  it("are older than a year by default", () => {
    // The year in which the driver came out.
    for (const type of resourceTypes) expect(defaultApiVersions[type] < "2025").toBe(true);
    expect(apiVersionsOf()).toEqual(defaultApiVersions);
  });

  it("of the class have precedence over those of the driver, and a type over its provider", () => {
    const versions = apiVersionsOf(
      { "microsoft.compute": "2022-08-01", "MICROSOFT.COMPUTE/disks": "2022-07-02" },
      { "Microsoft.Compute/disks": "2021-01-01", "Microsoft.Network": "2022-05-01" },
    );
    expect(versions).toEqual({
      ...defaultApiVersions,
      "Microsoft.Compute/disks": "2022-07-02",
      "Microsoft.Compute/locations/publishers": "2022-08-01",
      "Microsoft.Compute/skus": "2022-08-01",
      "Microsoft.Compute/virtualMachines": "2022-08-01",
      "Microsoft.Network/networkInterfaces": "2022-05-01",
    });
  });

  it.each([
    [
      { "Microsoft.Compute/vms": "2023-07-01" },
      /apiVersions\.Microsoft\.Compute\/vms must be one of Microsoft\.Compute,/,
    ],
    [
      { "Microsoft.Compute": "latest" },
      /apiVersions\.Microsoft\.Compute must be an API version, for example 2023-07-01/,
    ],
  ])("%j is rejected as an option of the driver", (overrides, message) => {
    expect(() => requireApiVersions(overrides)).toThrow(message);
  });
});
