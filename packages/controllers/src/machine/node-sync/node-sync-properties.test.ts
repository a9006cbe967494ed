import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, aMachineClass } from "../../testing/builders.ts";
import { aSnapshot, itsNode, withVm } from "../../testing/snapshots.ts";
import type { MachineSnapshot } from "../state/snapshot.ts";
import { decideNodeSync } from "./decide-node-sync.ts";

const texts = fc.dictionary(fc.constantFrom("a", "b", "c", "constructor"), fc.constantFrom("1", "2"));
const taints = fc.uniqueArray(
  fc.record({
    key: fc.constantFrom("k", "l"),
    value: fc.constantFrom("", "v"),
    effect: fc.constantFrom("NoSchedule", "NoExecute"),
  }),
  { selector: ({ key, effect }) => `${key}:${effect}` },
);
const capacities = fc.dictionary(fc.constantFrom("a.com/x", "b.com/y"), fc.constantFrom("1", "1Gi", "1024Mi"));
const worlds = fc.record({ labels: texts, annotations: texts, taints, virtualCapacity: capacities }).map((draw) => ({
  machine: aMachine(withVm, {
    spec: {
      nodeTemplate: { metadata: { labels: draw.labels, annotations: draw.annotations }, spec: { taints: draw.taints } },
    },
  }),
  machineClass: aMachineClass({
    nodeTemplate: {
      capacity: { cpu: "1", gpu: "0", memory: "1" },
      instanceType: "i",
      region: "r",
      zone: "z",
      virtualCapacity: draw.virtualCapacity,
    },
  }),
}));
const startNodes = fc
  .record({ labels: texts, annotations: texts, taints, capacity: capacities })
  .map(({ labels, annotations, taints: own, capacity }) =>
    itsNode({
      metadata: { labels, annotations },
      spec: { taints: own },
      status: { capacity: { cpu: "4", ...capacity } },
    }),
  );

/** The node after a decision; `lost` requests never arrive, as when the process dies between two. */
function obey(node: Node, snapshot: MachineSnapshot, arrive = Number.POSITIVE_INFINITY): Node {
  let after: unknown = node;
  for (const action of decideNodeSync(snapshot).actions.slice(0, arrive)) {
    if (action.kind === "PatchNode") after = applyMergePatch(after, action.patch);
    if (action.kind === "PatchNodeStatus") after = applyMergePatch(after, { status: action.patch });
  }
  return after as Node;
}

describe("node sync, whatever node, template and class", () => {
  const snapshotOf = (
    { machine, machineClass }: { machine: MachineSnapshot["machine"]; machineClass: ReturnType<typeof aMachineClass> },
    node: Node,
  ) => aSnapshot({ machine, node, classView: { state: "usable", machineClass } });

  it("converges after two reconciles, even when the process died between its requests", () => {
    fc.assert(
      fc.property(startNodes, worlds, fc.nat(2), (start, world, arrived) => {
        let node = obey(start, snapshotOf(world, start), arrived);
        for (let round = 0; round < 2; round++) node = obey(node, snapshotOf(world, node));
        expect(decideNodeSync(snapshotOf(world, node)).actions).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves nothing of a removed template, and keeps everything of others", () => {
    fc.assert(
      fc.property(startNodes, fc.array(worlds, { minLength: 1, maxLength: 3 }), fc.nat(2), (start, past, arrived) => {
        const touched = {
          labels: new Set<string>(),
          annotations: new Set<string>(),
          taints: new Set<string>(),
          capacity: new Set<string>(),
        };
        let node = start;
        for (const world of past) {
          const { metadata, spec } = world.machine.spec.nodeTemplate ?? {};
          for (const key of Object.keys(metadata?.labels ?? {})) touched.labels.add(key);
          for (const key of Object.keys(metadata?.annotations ?? {})) touched.annotations.add(key);
          for (const { key, effect } of spec?.taints ?? []) touched.taints.add(`${key}:${effect}`);
          for (const key of Object.keys(world.machineClass.nodeTemplate?.virtualCapacity ?? {}))
            touched.capacity.add(key);
          node = obey(node, snapshotOf(world, node), arrived === 0 ? 1 : undefined);
        }
        const empty = { machine: aMachine(withVm), machineClass: aMachineClass() };
        for (let round = 0; round < 3; round++) node = obey(node, snapshotOf(empty, node));
        const untouched = (of: Readonly<Record<string, string>> | undefined, keys: ReadonlySet<string>) =>
          Object.fromEntries(Object.entries(of ?? {}).filter(([key]) => !keys.has(key)));
        expect(node.metadata.labels).toEqual({
          ...untouched(start.metadata.labels, touched.labels),
          "node.gardener.cloud/machine-name": "machine",
        });
        const { "node.machine.sapcloud.io/last-applied-anno-labels-taints": _, ...annotations } =
          node.metadata.annotations ?? {};
        expect(annotations).toEqual(untouched(start.metadata.annotations, touched.annotations));
        expect(node.spec?.taints ?? []).toEqual(
          (start.spec?.taints ?? []).filter(({ key, effect }) => !touched.taints.has(`${key}:${effect}`)),
        );
        expect(node.status?.capacity).toEqual(untouched(start.status?.capacity, touched.capacity));
      }),
      { numRuns: 1_000 },
    );
  });
});
