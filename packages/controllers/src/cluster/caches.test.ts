import { volumeAttachmentResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { createTestCluster } from "../testing/cluster.ts";
import type { VolumeAttachment } from "../model/node-objects.ts";

it("finds attachments of volumes that are no object, as of in-tree plug-ins, by their node and by no volume", async () => {
  const cluster = createTestCluster();
  const inline = { metadata: { name: "inline" }, spec: { nodeName: "node", source: { inlineVolumeSpec: {} } } };
  const bare = { metadata: { name: "bare" } };
  const own: VolumeAttachment = {
    metadata: { name: "own" },
    spec: { nodeName: "node", source: { persistentVolumeName: "pv" } },
  };
  for (const attachment of [inline, bare, own]) cluster.api.seed(volumeAttachmentResource, attachment);
  const context = cluster.newContext();
  const stop = new AbortController();
  await cluster.run(context, stop.signal);
  const { store } = context.target.caches.attachments;
  const names = (index: "node" | "volume", key: string) =>
    store.byIndex(index, key).map(({ metadata }) => metadata.name);
  expect(names("node", "node").toSorted()).toEqual(["inline", "own"]);
  expect(names("volume", "pv")).toEqual(["own"]);
  expect([names("node", ""), names("volume", "")]).toEqual([[], []]);
  stop.abort();
});
