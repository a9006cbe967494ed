import { crds } from "@millwright/core/machine-api";
import { createApiServer } from "@millwright/devcluster";
import { type ApiClient, createApiClient, customResourceDefinitionResource } from "@millwright/kube";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { applyCrds } from "@millwright/runtime";
import { statusOf } from "./change-crds.ts";

const name = "machines.machine.sapcloud.io";

describe("applyCrds", () => {
  const server = createApiServer();
  let api: ApiClient;
  beforeEach(async () => {
    const { url } = await server.listen();
    api = createApiClient({ server: url });
  });
  afterEach(async () => {
    await api.close();
    await server.close();
  });

  const states = async (isDryRun: boolean): Promise<readonly string[]> =>
    (await applyCrds(api, { isDryRun })).map(({ state }) => state);

  it("reports, creates and restores, and a dry run changes nothing", async () => {
    expect(await states(true)).toEqual(crds().map(() => "missing"));
    expect(await states(true)).toEqual(crds().map(() => "missing"));
    expect(await states(false)).toEqual(crds().map(() => "missing"));
    expect(await states(true)).toEqual(crds().map(() => "same"));

    const patch = [{ op: "remove", path: "/spec/versions/0/additionalPrinterColumns/0" }];
    await api.patch(customResourceDefinitionResource, { name }, patch, { kind: "json" });
    for (const isDryRun of [true, true, false]) {
      const reports = await applyCrds(api, { isDryRun });
      expect(reports.filter(({ state }) => state !== "same")).toEqual([
        { name, state: "different", paths: ["spec.versions[0].additionalPrinterColumns"] },
      ]);
    }
    expect(await states(true)).toEqual(crds().map(() => "same"));
  });

  it("reports one that is being deleted, although its fields are the same", async () => {
    await states(false);
    await api.patch(
      customResourceDefinitionResource,
      { name },
      { metadata: { finalizers: ["example.com/keep"] } },
      { kind: "merge" },
    );
    await api.delete(customResourceDefinitionResource, { name });
    for (const isDryRun of [true, false]) {
      const reports = await applyCrds(api, { isDryRun });
      expect(reports.filter(({ state }) => state !== "same")).toEqual([{ name, state: "terminating", paths: [] }]);
    }
  });
});

it.each([
  ["diff", "same", 0],
  ["diff", "different", 3],
  ["diff", "terminating", 3],
  ["apply", "different", 0],
  ["apply", "terminating", 1],
] as const)("ends %s of a CRD that is %s with status %i", (action, state, status) => {
  expect(statusOf(action, [{ name, state, paths: [] }])).toBe(status);
});
