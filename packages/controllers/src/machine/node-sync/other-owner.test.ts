import { type Machine, labelKeys } from "@millwright/core/machine-api";
import { describe, expect, it, test } from "vitest";
import { matchByProviderId } from "../../model/pick-node.ts";
import { aMachine, aNode, annotated, beingDeleted, createdAt, named } from "../../testing/builders.ts";
import { withVm } from "../../testing/snapshots.ts";
import { belongsToOther, otherMachineOf } from "./other-owner.ts";

const ofVm = (providerID: string) => ({ spec: { providerID } });
const node = aNode({ metadata: { creationTimestamp: "2026-01-01T00:10:00Z" } });
const namedBy = (name: string, providerID = "") =>
  aNode({ metadata: { labels: { [labelKeys.machineName]: name } }, spec: { providerID } });
const intent = annotated({
  "machine.millwright.dev/creation-intent": JSON.stringify({ attempt: 1, class: "small", provider: "mock" }),
});
const living = aMachine(withVm, ofVm("aws:///a/i-1"));
const terminating = aMachine(living, beingDeleted());
const elsewhere = aMachine(withVm, named("b"), ofVm("aws:///a/i-2"));

describe("otherMachineOf", () => {
  test.each<[string, Machine, ReturnType<typeof aNode>, "same" | "unknown", readonly Machine[], string | undefined]>([
    ["none where the node names none", terminating, node, "unknown", [], undefined],
    ["none where it names the machine", terminating, namedBy("machine"), "unknown", [], undefined],
    ["one of another namespace", terminating, namedBy("b"), "unknown", [], "b"],
    [
      "one of another namespace, whose VM the machine names",
      terminating,
      namedBy("b", "aws:///z/i-1"),
      "same",
      [],
      "b",
    ],
    ["one of the namespace", terminating, namedBy("b"), "unknown", [elsewhere], "b"],
    [
      "none of the namespace whose VM has another id",
      terminating,
      namedBy("b", "aws:///z/i-3"),
      "unknown",
      [elsewhere],
      undefined,
    ],
    [
      "none of the namespace where the ids prove the node to be the machine's",
      terminating,
      namedBy("b", "aws:///z/i-1"),
      "same",
      [elsewhere],
      undefined,
    ],
    [
      "one of another namespace, for a machine that lives and has never requested a VM",
      living,
      namedBy("b", "aws:///z/i-1"),
      "same",
      [],
      "b",
    ],
    [
      "none for a machine that lives and has requested a VM: its VM has the name of a deleted one",
      aMachine(living, intent),
      namedBy("b"),
      "unknown",
      [],
      undefined,
    ],
    ["none of the namespace, for a machine that lives", living, namedBy("b"), "unknown", [elsewhere], undefined],
  ])("finds %s", (_, machine, claimed, nodeMatch, others, expected) => {
    const machineNamed = (name: string) => others.find(({ metadata }) => metadata.name === name);
    expect(otherMachineOf(claimed, machine, { nodeMatch, match: matchByProviderId, machineNamed })).toBe(expected);
  });
});

describe("a node whose name links it to a terminating machine", () => {
  const belongs = (machine: Machine, other: Machine, change: { clockAheadMs?: number; of?: typeof node } = {}) =>
    belongsToOther(change.of ?? node, machine, {
      nodeMatch: "unknown",
      match: matchByProviderId,
      claimants: [machine, other],
      clockAheadMs: change.clockAheadMs ?? 0,
    });
  const stage = (description: string) => ({
    status: {
      currentStatus: { phase: "Terminating" as const, lastUpdateTime: "2026-01-01T00:00:00Z" },
      lastOperation: { type: "Delete", state: "Processing", description, lastUpdateTime: "2026-01-01T00:00:00Z" },
    },
  });
  const before = createdAt("2026-01-01T00:09:00Z");
  const after = createdAt("2026-01-01T00:11:00Z");
  const draining = aMachine(terminating, stage("Initiate node drain"));

  test.each<[string, Machine, Machine, boolean]>([
    ["is that of a machine whose VM is younger than the node's name", draining, aMachine(elsewhere, before), true],
    [
      "stays its own while it is drained, where the other machine is younger than the node",
      draining,
      aMachine(elsewhere, after),
      false,
    ],
    [
      "is left alone once the drain is over, whatever is younger",
      aMachine(terminating, stage("Initiate VM deletion")),
      aMachine(elsewhere, after),
      true,
    ],
    [
      "is left alone while it would be deleted, whatever is younger",
      aMachine(terminating, stage("Initiate node object deletion")),
      aMachine(elsewhere, after),
      true,
    ],
    [
      "is its own, where the other machine is terminating, too",
      draining,
      aMachine(elsewhere, before, beingDeleted()),
      false,
    ],
    ["is its own, where the other machine has no VM", draining, aMachine(elsewhere, before, ofVm("")), false],
    ["is its own, where there is no other machine", draining, draining, false],
  ])("%s", (_, machine, other, expected) => {
    expect(belongs(machine, other)).toBe(expected);
  });

  it("is compared by the clock of the machines", () => {
    expect(belongs(draining, aMachine(elsewhere, before), { clockAheadMs: 120_000 })).toBe(false);
  });

  it("is its own while the age of the node is not known", () => {
    const { creationTimestamp: _, ...metadata } = node.metadata;
    expect(belongs(draining, aMachine(elsewhere, before), { of: { ...node, metadata } })).toBe(false);
  });

  it("is that of a machine that is terminating, too, where ids prove it", () => {
    const ofOther = aNode({ spec: { providerID: "aws:///z/i-2" } });
    const unknown = aMachine(draining, ofVm("vm-1"));
    expect(belongs(unknown, aMachine(elsewhere, beingDeleted()), { of: ofOther })).toBe(true);
  });

  it("is its own where ids prove it", () => {
    const claims = { nodeMatch: "same", match: matchByProviderId, claimants: [elsewhere], clockAheadMs: 0 } as const;
    expect(belongsToOther(node, draining, claims)).toBe(false);
  });
});
