import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { isRegion, regionPatterns } from "./regions.ts";

/** The SDK's own file: it exports what looks a partition up, but not the list, and takes an unknown region for one of the partition `aws`. */
function partitionsOfTheSdk(): { readonly patterns: readonly string[]; readonly regions: readonly string[] } {
  const ec2 = createRequire(import.meta.url).resolve("@aws-sdk/client-ec2");
  const core = createRequire(ec2).resolve("@aws-sdk/core/package.json");
  const file = new URL("dist-es/submodules/client/util-endpoints/lib/aws/partitions.js", `file://${core}`);
  const text = readFileSync(file, "utf8");
  const patterns = [...text.matchAll(/"regionRegex": (".*")/g)].map(([, quoted = ""]) => String(JSON.parse(quoted)));
  const regions = [...text.matchAll(/^ +"([a-z-]+-\d+)": \{/gm)].map(([, name = ""]) => name);
  return { patterns, regions };
}

describe("regions", () => {
  it("have the patterns that the SDK ships", () => {
    const { patterns } = partitionsOfTheSdk();
    expect(regionPatterns.map(({ source }) => source)).toEqual(
      patterns.map((pattern) => new RegExp(pattern.replaceAll("\\-", "-")).source),
    );
    expect(patterns.length).toBeGreaterThan(5);
  });

  it("that the SDK lists are known", () => {
    const { regions } = partitionsOfTheSdk();
    expect(regions).toContain("eu-west-1");
    expect(regions.filter((region) => !isRegion(region))).toEqual([]);
  });

  it.each(["eu-west-1", "us-gov-east-1", "cn-north-1", "eusc-de-east-1", "us-iso-east-1", "ap-atlantis-7"])(
    "%s is known",
    (name) => expect(isRegion(name)).toBe(true),
  );

  it.each(["", "moon-1", "eu-west", "eu-west-1a", "aws-global", "EU-WEST-1", "eu-west-1\n", "eu west 1"])(
    "%j is not",
    (name) => expect(isRegion(name)).toBe(false),
  );
});
