import { machineResource } from "@millwright/core/machine-api";
import { nodeResource } from "@millwright/kube";
import { expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, annotated, createdAt, labeled, named, refOf } from "../../testing/builders.ts";
import { aFleet, nodeOf } from "../../testing/machine-fleet.ts";

it("a node that two machines claim is reconciled by the other one as soon as the first releases it", async () => {
  const intent = JSON.stringify({ attempt: 1, class: "small", provider: "mock" });
  const { labels } = labeled({ node: nodeOf("first").name }).metadata;
  const { annotations } = annotated({ "machine.millwright.dev/creation-intent": intent }).metadata;
  const { api, clock } = await aFleet({
    first: createdAt("2025-01-01T00:00:00Z"),
    second: { metadata: { labels, annotations }, spec: { providerID: "vm-first" } },
  });
  await clock.advance(1_000);
  const owner = () =>
    api.peek<Node>(nodeResource, nodeOf("first"))?.metadata.labels?.["node.gardener.cloud/machine-name"];
  expect(owner()).toBe("first");
  api.remove(machineResource, refOf("first"));
  await clock.advance(1_000);
  expect(owner()).toBe("second");
});

it("a node is not drained, and not deleted, with a machine that only claims it while the VM belongs to another", async () => {
  const { api, clock, driver } = await aFleet({ first: {} });
  driver.fail("ensureVm", "ResourceExhausted", 1_000);
  api.seed(machineResource, aMachine(named("second"), labeled({ node: nodeOf("first").name })));
  await clock.advance(1_000);
  await api.delete(machineResource, refOf("second"));
  await clock.advance(60_000);
  expect(api.peek(machineResource, refOf("second"))).toBeUndefined();
  const node = api.peek<Node>(nodeResource, nodeOf("first"));
  expect(node).toBeDefined();
  expect(node?.spec?.unschedulable).not.toBe(true);
  expect(node?.metadata.deletionTimestamp).toBeUndefined();
  expect(node?.status?.conditions?.map(({ type }) => type)).not.toContain("Terminating");
});
