import { ApiError, nodeResource } from "@millwright/kube";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aNode } from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { createNodePatcher } from "./patch-nodes.ts";

const labeled = { metadata: { labels: { seen: "yes" } } };
const condition = { type: "InPlaceUpdate", status: "True", reason: "CandidateForUpdate", message: "…" } as const;

/** Three nodes, and what writes to them. */
async function withNodes() {
  const cluster = createTestCluster();
  for (const name of ["a", "b", "c"]) cluster.api.seed(nodeResource, aNode({ metadata: { name } }));
  const context = cluster.newContext();
  const signal = new AbortController();
  const synced = cluster.run(context, signal.signal);
  for (let turn = 0; turn < 20; turn++) await cluster.clock.advance(0);
  await synced;
  const node = (name: string) => cluster.api.peek<Node>(nodeResource, { name });
  const cached = (name: string) => context.target?.caches.nodes.store.get(name);
  return { ...cluster, patch: createNodePatcher(context), node, cached, end: () => signal.abort() };
}

describe("the writes to nodes", () => {
  it("patch each node and set its condition", async () => {
    const { patch, node, end } = await withNodes();
    expect(
      await patch([
        { name: "a", patch: labeled, condition },
        { name: "b", condition },
      ]),
    ).toBe(false);
    expect(node("a")).toMatchObject({ metadata: { labels: { seen: "yes" } } });
    for (const name of ["a", "b"])
      expect(node(name)?.status?.conditions).toContainEqual(expect.objectContaining({ reason: "CandidateForUpdate" }));
    end();
  });

  it("skip a node that changed meanwhile, and report that", async () => {
    const { patch, node, end } = await withNodes();
    const stale = { metadata: { ...labeled.metadata, resourceVersion: "999" } };
    expect(
      await patch([
        { name: "a", patch: stale, condition },
        { name: "b", patch: labeled },
      ]),
    ).toBe(true);
    expect(node("a")?.metadata.labels).toBeUndefined();
    expect(node("b")?.metadata.labels).toEqual({ seen: "yes" });
    end();
  });

  // A watch may lag for minutes: each attempt until its event would be a conflict.
  it("read a node that changed meanwhile, and forget one that is gone", async () => {
    const { api, patch, cached, end } = await withNodes();
    end();
    const seen = { labels: { by: "another" } };
    await api.patch(nodeResource, { name: "a" }, { metadata: seen }, { kind: "merge" });
    const change = { name: "a", patch: { metadata: { ...labeled.metadata, resourceVersion: "1" } } };
    expect(cached("a")?.metadata.labels).toBeUndefined();
    expect(await patch([change])).toBe(true);
    expect(cached("a")?.metadata).toMatchObject(seen);
    const conflict = new ApiError({ status: 409, reason: "Conflict", message: "it was changed" });
    const missing = new ApiError({ status: 404, reason: "NotFound", message: "it is gone", details: { name: "b" } });
    api.inject({ verb: "patch", type: nodeResource, error: conflict });
    api.inject({ verb: "get", type: nodeResource, error: missing });
    expect(await patch([{ name: "b", patch: labeled }])).toBe(true);
    expect(cached("b")).toBeUndefined();
  });

  it("try all before they fail with what one of them met", async () => {
    const { api, patch, node, end } = await withNodes();
    const error = new ApiError({ status: 500, reason: "InternalError", message: "broken" });
    api.inject({ verb: "patch", type: nodeResource, error });
    await expect(patch(["a", "b", "c"].map((name) => ({ name, patch: labeled })))).rejects.toThrow("broken");
    expect(["a", "b", "c"].filter((name) => node(name)?.metadata.labels?.["seen"] === "yes")).toHaveLength(2);
    end();
  });

  it("have nothing to do with a node that is gone, or without a target cluster", async () => {
    const { patch, newContext, end } = await withNodes();
    expect(await patch([{ name: "gone", patch: labeled, condition }])).toBe(false);
    const { target: _, ...context } = newContext();
    expect(await createNodePatcher(context)([{ name: "a", patch: labeled }])).toBe(false);
    end();
  });
});
