import { annotationKeys, finalizers } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import type { Node } from "../model/node-objects.ts";
import { aNode } from "../testing/builders.ts";
import { testNow } from "../testing/snapshots.ts";
import { decideUnmanagedNode, missingForMs, type NodeSnapshot } from "./decide-unmanaged-node.ts";

const MINUTE = 60_000;
const ago = (ms: number): string => new Date(testNow.getTime() - ms).toISOString();
const old = (more: object = {}): Node =>
  aNode({ metadata: { resourceVersion: "7", creationTimestamp: ago(60 * MINUTE), ...more } });
const ours = { finalizers: ["other", finalizers.node] };
const mark = { annotations: { [annotationKeys.notManaged]: "1" } };
const patchOf = (change: Partial<NodeSnapshot>): unknown => {
  const { actions, requeueAfterMs } = decideUnmanagedNode(
    {
      node: old(ours),
      machines: 0,
      withoutForMs: missingForMs,
      isMarkedByUs: false,
      doubt: undefined,
      creationTimeoutMs: 20 * MINUTE,
      ...change,
    },
    testNow,
  );
  return requeueAfterMs === undefined ? actions.map(({ patch }) => patch) : requeueAfterMs;
};

describe("a Node without Machine", () => {
  it("gets MCM's annotation and loses our finalizer, in one patch of the version that was read", () => {
    expect(patchOf({})).toEqual([
      { metadata: { resourceVersion: "7", finalizers: ["other"], annotations: { [annotationKeys.notManaged]: "1" } } },
    ]);
    expect(patchOf({ node: old() })).toEqual([
      { metadata: { resourceVersion: "7", annotations: { [annotationKeys.notManaged]: "1" } } },
    ]);
    expect(patchOf({ node: old({ ...ours, ...mark }) })).toEqual([
      { metadata: { resourceVersion: "7", finalizers: ["other"] } },
    ]);
  });

  it("is left alone once it is marked, and where another controller took back what this process did", () => {
    expect(patchOf({ node: old(mark) })).toEqual([]);
    expect(patchOf({ isMarkedByUs: true })).toEqual([]);
  });

  it("is left alone within the creation timeout, and until the Machine has been missing for five minutes", () => {
    const young = aNode({ metadata: { ...ours, creationTimestamp: ago(15 * MINUTE) } });
    expect(patchOf({ node: young })).toBe(5 * MINUTE);
    expect(patchOf({ withoutForMs: 2 * MINUTE })).toBe(3 * MINUTE);
    expect(patchOf({ withoutForMs: undefined })).toBe(5 * MINUTE);
  });

  it("is left alone while the list of Machines proves nothing", () => {
    expect(patchOf({ doubt: "the list of machines is not up to date" })).toBe(MINUTE);
  });
});

describe("a Node with a Machine", () => {
  it("loses the annotation, and keeps the finalizer", () => {
    const expected = [{ metadata: { resourceVersion: "7", annotations: { [annotationKeys.notManaged]: null } } }];
    expect(patchOf({ node: old({ ...ours, ...mark }), machines: 1 })).toEqual(expected);
    expect(patchOf({ machines: 1 })).toEqual([]);
  });

  it("stays as it is when there are several", () => {
    expect(patchOf({ node: old({ ...ours, ...mark }), machines: 2 })).toEqual([]);
  });
});
