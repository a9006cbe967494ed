import { customResourceDefinitionResource } from "@millwright/kube";
import { createFakeApi, serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { readClusterObjects } from "./read-cluster-objects.ts";

const name = "machines.machine.sapcloud.io";

it("reads a CRD once for all machines that are deleted with it", async () => {
  const control = createFakeApi();
  control.seed(customResourceDefinitionResource, { metadata: { name } });
  const { readCrd } = await readClusterObjects({ control, namespace: "default" });
  const found = await Promise.all([readCrd?.(name), readCrd?.(name), readCrd?.("other")]);
  expect(found.map((crd) => crd?.metadata.name)).toEqual([name, name, undefined]);
  const gets = control.calls.filter(({ verb }) => verb === "get");
  expect(gets).toHaveLength(2);
});

it("explains why a CRD cannot be read", async () => {
  const control = createFakeApi();
  const { readCrd } = await readClusterObjects({ control, namespace: "default" });
  control.inject({ verb: "get", type: customResourceDefinitionResource, error: serverError() });
  await expect(readCrd?.(name)).rejects.toThrow("the API server is unreachable");
});
