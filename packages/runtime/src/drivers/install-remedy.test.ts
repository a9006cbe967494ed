import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { installRemedy } from "./install-remedy.ts";

describe("installRemedy", () => {
  const elsewhere = mkdtempSync(join(tmpdir(), "no-checkout-"));
  afterAll(() => rmSync(elsewhere, { recursive: true }));

  it("installs all packages of a checkout, which contains the driver", () => {
    const root = fileURLToPath(new URL("../../../../", import.meta.url));
    expect(installRemedy("@millwright/provider-aws", "aws")).toBe(`npm ci in ${root}`);
  });

  it("installs the package of another driver, and outside of a checkout", () => {
    expect(installRemedy("@example/driver", undefined)).toBe("npm install @example/driver");
    expect(installRemedy("@millwright/provider-aws", "aws", pathToFileURL(`${elsewhere}/`))).toBe(
      "npm install @millwright/provider-aws",
    );
  });
});
