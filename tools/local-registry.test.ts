import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type LocalRegistry, startLocalRegistry } from "./local-registry.ts";

describe("the registry with the packages that are installed here", () => {
  let registry: LocalRegistry;
  beforeAll(async () => {
    registry = await startLocalRegistry(["@millwright/base", "nx"]);
  });
  afterAll(() => registry.close());

  it("serves whole files, also to requests for one that come at once", async () => {
    const [, tarball = ""] = /"tarball":"([^"]+)"/.exec(await (await fetch(`${registry.url}/nx`)).text()) ?? [];
    const requests = Array.from({ length: 20 }, async (_, index) => {
      await new Promise((resolve) => setTimeout(resolve, index * 100));
      return Buffer.from(await (await fetch(tarball)).arrayBuffer());
    });
    const [first, ...others] = await Promise.all(requests);
    expect(gunzipSync(first ?? "").byteLength).toBeGreaterThan(1_000_000);
    expect(others.filter((other) => first?.equals(other) !== true)).toEqual([]);
  });

  it("has no other packages", async () => {
    expect((await fetch(`${registry.url}/left-pad`)).status).toBe(404);
  });
});
