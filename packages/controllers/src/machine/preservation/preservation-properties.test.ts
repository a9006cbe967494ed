import { annotationKeys, type Machine, type MachinePhase, phaseOf, taintKeys } from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { isAtRest, type LivingMachine, reconcileOnce, untilAtRest } from "../../testing/living-machine.ts";
import { itsNode, testNow, withVm } from "../../testing/snapshots.ts";
import { decidePreservation } from "./decide-preservation.ts";
import { isToBePreserved, preserveValueOf, preserveAnnotationsOf } from "../../model/preserve-value.ts";

const { preserve: P, scaleDownDisabled, scaleDownDisabledByController } = annotationKeys;

/** What users and the cluster do between reconciles. */
type Deed =
  | { readonly kind: "annotateMachine" | "annotateNode"; readonly value: string | null }
  | { readonly kind: "phase"; readonly phase: MachinePhase }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "pods"; readonly names: readonly string[] }
  | { readonly kind: "podsGo" }
  | { readonly kind: "loseExpiry" }
  /** A reconcile; the process dies after this many writes. */
  | { readonly kind: "reconcile"; readonly writes: number };

const values = fc.constantFrom(null, "", "now", "when-failed", "auto-preserved", "false", "forever");
const deeds: fc.Arbitrary<Deed> = fc.oneof(
  fc.record({ kind: fc.constantFrom("annotateMachine" as const, "annotateNode" as const), value: values }),
  fc.record({
    kind: fc.constant("phase" as const),
    phase: fc.constantFrom<MachinePhase>("Running", "Unknown", "Failed", "InPlaceUpdating"),
  }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 60_000, 3_600_000, 5 * 86_400_000) }),
  fc.record({ kind: fc.constant("pods" as const), names: fc.subarray(["a", "b", "c"]) }),
  fc.constant({ kind: "podsGo" } as const),
  fc.constant({ kind: "loseExpiry" } as const),
  fc.record({ kind: fc.constant("reconcile" as const), writes: fc.nat(5) }),
  fc.constant({ kind: "reconcile", writes: 9 } as const),
  fc.constant({ kind: "reconcile", writes: 9 } as const),
);

interface State {
  readonly world: LivingMachine;
  readonly now: Date;
}

const annotate = <T extends Machine | Node>(object: T, value: string | null): T =>
  // Annotations do not change what an object is.
  applyMergePatch(object, { metadata: { annotations: { [P]: value } } }) as T;

function happen({ world, now }: State, deed: Deed): State {
  const { machine, node } = world;
  switch (deed.kind) {
    case "annotateMachine":
      return { world: { ...world, machine: annotate(machine, deed.value) }, now };
    case "annotateNode":
      return { world: { ...world, node: node === undefined ? undefined : annotate(node, deed.value) }, now };
    case "phase": {
      const currentStatus = { ...machine.status?.currentStatus, phase: deed.phase };
      return { world: { ...world, machine: { ...machine, status: { ...machine.status, currentStatus } } }, now };
    }
    case "wait":
      return { world, now: new Date(now.getTime() + deed.ms) };
    case "pods":
      return {
        world: { ...world, pods: deed.names.map((name) => ({ metadata: { name, uid: name, namespace: "default" } })) },
        now,
      };
    case "podsGo":
      return { world: { ...world, pods: [] }, now };
    case "loseExpiry": {
      const { preserveExpiryTime: _, ...currentStatus } = machine.status?.currentStatus ?? {};
      return { world: { ...world, machine: { ...machine, status: { ...machine.status, currentStatus } } }, now };
    }
    case "reconcile":
      return { world: reconcileOnce(world, decidePreservation, now, deed).world, now };
  }
}

const starts = fc
  .record({
    phase: fc.constantFrom<MachinePhase>("Running", "Failed", "Unknown"),
    hasNode: fc.constantFrom(true, true, true, false),
    isCordoned: fc.option(fc.boolean(), { nil: undefined }),
    own: fc.constantFrom(undefined, "true", "false"),
  })
  .map(({ phase, hasNode, isCordoned, own }): LivingMachine => ({
    machine: aMachine(withVm, inPhase(phase)),
    node: hasNode
      ? itsNode({
          metadata: { annotations: own === undefined ? {} : { [scaleDownDisabled]: own } },
          spec: {
            taints: [{ key: "theirs", effect: "NoExecute" }],
            ...(isCordoned === undefined ? {} : { unschedulable: isCordoned }),
          },
        })
      : undefined,
    pods: [],
  }));
const stories = fc.record({ start: starts, deeds: fc.array(deeds, { minLength: 3, maxLength: 16, size: "max" }) });

const endOf = (story: { readonly start: LivingMachine; readonly deeds: readonly Deed[] }): State =>
  story.deeds.reduce<State>(happen, { world: story.start, now: testNow });

const conditionOf = ({ node }: LivingMachine) => node?.status?.conditions?.find(({ type }) => type === "Preserved");
const isTainted = ({ node }: LivingMachine) =>
  node?.spec?.taints?.some(({ key }) => key === taintKeys.preserved) ?? false;
const isForeignValue = ({ machine, node }: LivingMachine): boolean =>
  preserveValueOf(preserveAnnotationsOf(machine, node)) === undefined;

/** Nothing on the node speaks of a preservation; answers what is seen. */
function expectNoMarks(rest: LivingMachine): string {
  const condition = conditionOf(rest);
  expect(isTainted(rest)).toBe(false);
  expect(condition?.reason ?? "Preservation stopped.").toBe("Preservation stopped.");
  return condition === undefined ? "never" : "stopped";
}

/** Everything on the node speaks of a preservation until `expiry`; answers what is seen. */
function expectMarks(rest: LivingMachine, start: LivingMachine, expiry: string): string {
  const { machine, node, pods } = rest;
  if (node === undefined) return "without node";
  const phase = phaseOf(machine);
  const condition = conditionOf(rest);
  expect(condition?.message).toContain(`Machine preserved until ${expiry}.`);
  expect(isTainted(rest) || phase !== "Failed").toBe(true);
  expect(isTainted(rest) && phase === "Running").toBe(false);
  const isUsers = start.node?.metadata.annotations?.[scaleDownDisabled] !== undefined;
  expect(node.metadata.annotations?.[scaleDownDisabled]).toBeDefined();
  expect(node.metadata.annotations?.[scaleDownDisabledByController] === "true").toBe(!isUsers);
  if (phase !== "Failed" || pods.length > 0) return "preserved";
  expect(condition).toMatchObject({ status: "True" });
  expect(condition?.message).toContain("Preserved node drained successfully.");
  return "drained";
}

describe("whatever happens to a machine and its node, wherever the process dies", () => {
  it("converges, and then a reconcile decides nothing", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { world, now } = endOf(story);
        const { world: rest } = untilAtRest(world, decidePreservation, now);
        const { decision } = reconcileOnce(rest, decidePreservation, now);
        expect(isAtRest(rest, decision)).toBe(true);
        expect(decision.because.filter(({ reason }) => reason !== "InvalidPreserveValue")).toEqual([]);
      }),
      { numRuns: 1_500 },
    );
  });

  it("keeps taint, annotations and condition consistent with the expiry", () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(stories, (story) => {
        const { world, now } = endOf(story);
        if (isForeignValue(world)) return;
        const { world: rest } = untilAtRest(world, decidePreservation, now);
        const { machine } = rest;
        const expiry = machine.status?.currentStatus?.preserveExpiryTime ?? undefined;
        const value = preserveValueOf(preserveAnnotationsOf(machine, rest.node));
        const isDue =
          isToBePreserved(preserveAnnotationsOf(machine, rest.node)) &&
          (value === "now" || phaseOf(machine) === "Failed");
        expect(expiry !== undefined).toBe(isDue);
        expect(expiry === undefined || Date.parse(expiry) > now.getTime()).toBe(true);
        const kind = expiry === undefined ? expectNoMarks(rest) : expectMarks(rest, story.start, expiry);
        seen.set(kind, (seen.get(kind) ?? 0) + 1);
      }),
      { numRuns: 3_000 },
    );
    // The property is worth something only if all of it is seen.
    for (const kind of ["preserved", "drained", "stopped"]) expect(seen.get(kind) ?? 0, kind).toBeGreaterThan(50);
  });

  it("never changes a user's cordon, a user's annotation for the autoscaler, the taints of others, phases or their times", () => {
    fc.assert(
      fc.property(stories, ({ start, deeds: all }) => {
        let state: State = { world: start, now: testNow };
        for (const deed of [...all, { kind: "reconcile", writes: 9 } as const]) {
          const before = state.world;
          state = happen(state, deed);
          if (deed.kind !== "reconcile") continue;
          const { machine, node } = state.world;
          expect(node?.spec?.unschedulable).toBe(start.node?.spec?.unschedulable);
          expect(node?.spec?.taints?.filter(({ key }) => key !== taintKeys.preserved)).toEqual(
            start.node?.spec?.taints,
          );
          const own = start.node?.metadata.annotations?.[scaleDownDisabled];
          const annotations = node?.metadata.annotations;
          const isKept =
            annotations?.[scaleDownDisabled] === own && annotations?.[scaleDownDisabledByController] === undefined;
          expect(own === undefined || isKept).toBe(true);
          const { preserveExpiryTime: _, ...after } = machine.status?.currentStatus ?? {};
          const { preserveExpiryTime: __, ...was } = before.machine.status?.currentStatus ?? {};
          expect(after).toEqual(was);
        }
      }),
      { numRuns: 1_500 },
    );
  });

  it("requeues at the expiry, and never in the past", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { world, now } = endOf(story);
        if (isForeignValue(world)) return;
        const { world: rest, decision } = untilAtRest(world, decidePreservation, now);
        const expiry = rest.machine.status?.currentStatus?.preserveExpiryTime;
        const leftMs = expiry == null ? Number.POSITIVE_INFINITY : Date.parse(expiry) - now.getTime();
        const requeueAfterMs = decision.requeueAfterMs ?? Number.POSITIVE_INFINITY;
        expect(requeueAfterMs).toBeGreaterThan(0);
        expect(requeueAfterMs).toBeLessThanOrEqual(leftMs);
      }),
      { numRuns: 1_000 },
    );
  });
});
