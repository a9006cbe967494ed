import {
  allowsTransition,
  inPlaceUpdateReasons,
  labelKeys,
  type MachinePhase,
  phaseOf,
} from "@millwright/core/machine-api";
import { applyMergePatch } from "@millwright/kube";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Node } from "../../model/node-objects.ts";
import { aMachine, inPhase } from "../../testing/builders.ts";
import { isAtRest, type LivingMachine, reconcileOnce, untilAtRest } from "../../testing/living-machine.ts";
import { itsNode, testNow, withVm } from "../../testing/snapshots.ts";
import { decideHealth } from "../health/decide-health.ts";
import { runSteps, type Step } from "../state/run-steps.ts";
import { decideInPlace } from "./decide-in-place.ts";
import { inPlaceReasonOf } from "../../model/in-place-state.ts";

/** What the deployment controller, the agent and time do between reconciles. */
type Deed =
  | { readonly kind: "label"; readonly key: string; readonly value: string | null }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "podsGo" }
  | { readonly kind: "ready"; readonly status: "True" | "False" }
  /** A reconcile; the process dies after this many writes. */
  | { readonly kind: "reconcile"; readonly writes: number };

const labels = fc.oneof(
  fc.record({
    kind: fc.constant("label" as const),
    key: fc.constantFrom(labelKeys.candidateForUpdate, labelKeys.selectedForUpdate),
    value: fc.constantFrom(null, "true"),
  }),
  fc.record({
    kind: fc.constant("label" as const),
    key: fc.constant(labelKeys.updateResult),
    value: fc.constantFrom(null, "successful", "failed", "great"),
  }),
);
const deeds: fc.Arbitrary<Deed> = fc.oneof(
  labels,
  fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 6 * 60_000, 30 * 60_000) }),
  fc.constant({ kind: "podsGo" } as const),
  fc.record({ kind: fc.constant("ready" as const), status: fc.constantFrom("True" as const, "False" as const) }),
  fc.record({ kind: fc.constant("reconcile" as const), writes: fc.nat(4) }),
  fc.constant({ kind: "reconcile", writes: 9 } as const),
);

interface State {
  readonly world: LivingMachine;
  readonly now: Date;
}

/** Health comes first, as in the controller. */
const step: Step = (snapshot, now) => runSteps(snapshot, now, [decideHealth, decideInPlace]);

const relabel = (node: Node | undefined, key: string, value: string | null): Node | undefined =>
  // Labels do not change what an object is.
  node === undefined ? undefined : (applyMergePatch(node, { metadata: { labels: { [key]: value } } }) as Node);

function happen({ world, now }: State, deed: Deed): State {
  const { node } = world;
  switch (deed.kind) {
    case "label":
      return { world: { ...world, node: relabel(node, deed.key, deed.value) }, now };
    case "wait":
      return { world, now: new Date(now.getTime() + deed.ms) };
    case "podsGo":
      return { world: { ...world, pods: [] }, now };
    case "ready": {
      const others = node?.status?.conditions?.filter(({ type }) => type !== "Ready") ?? [];
      const ready = { type: "Ready", status: deed.status, lastTransitionTime: now.toISOString() };
      return {
        world: {
          ...world,
          node: node === undefined ? undefined : { ...node, status: { conditions: [ready, ...others] } },
        },
        now,
      };
    }
    case "reconcile":
      return { world: reconcileOnce(world, step, now, deed).world, now };
  }
}

const starts = fc
  .record({
    phase: fc.constantFrom<MachinePhase>("Running", "Unknown", "InPlaceUpdating", "InPlaceUpdateFailed"),
    hasPod: fc.boolean(),
  })
  .map(({ phase, hasPod }): LivingMachine => ({
    machine: aMachine(withVm, inPhase(phase, "2026-01-01T00:09:00Z")),
    node: itsNode(),
    pods: hasPod ? [{ metadata: { name: "a", uid: "a", namespace: "default" } }] : [],
  }));
const stories = fc.record({ start: starts, deeds: fc.array(deeds, { maxLength: 20 }) });

/** Stories as they are meant to be, with noise between. */
const rollouts = fc
  .array(fc.array(deeds, { maxLength: 2 }), { minLength: 8, maxLength: 8 })
  .map((noise): readonly Deed[] => {
    const script: readonly Deed[] = [
      { kind: "label", key: labelKeys.candidateForUpdate, value: "true" },
      { kind: "reconcile", writes: 9 },
      { kind: "label", key: labelKeys.selectedForUpdate, value: "true" },
      { kind: "reconcile", writes: 9 },
      { kind: "reconcile", writes: 9 },
      { kind: "podsGo" },
      { kind: "reconcile", writes: 9 },
      { kind: "reconcile", writes: 9 },
    ];
    return script.flatMap((deed, index) => [deed, ...(noise[index] ?? [])]);
  });

const endOf = (start: LivingMachine, all: readonly Deed[]): State =>
  all.reduce<State>(happen, { world: start, now: testNow });

const order: readonly string[] = Object.values(inPlaceUpdateReasons);

describe("whatever deployment, agent and time do, wherever the process dies", () => {
  it("converges, and then a reconcile decides nothing", () => {
    fc.assert(
      fc.property(stories, ({ start, deeds: all }) => {
        const { world, now } = endOf(start, all);
        const { world: rest } = untilAtRest(world, step, now);
        const { decision } = reconcileOnce(rest, step, now);
        expect(isAtRest(rest, decision)).toBe(true);
        expect(decision.because).toEqual([]);
        expect(decision.requeueAfterMs ?? 1).toBeGreaterThan(0);
      }),
      { numRuns: 1_500 },
    );
  });

  it("takes only ways that the table has, and reasons in their order", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(starts, rollouts, fc.array(deeds, { maxLength: 12 }), (start, rollout, more) => {
        let state: State = { world: start, now: testNow };
        for (const deed of [...rollout, ...more]) {
          const before = state.world;
          state = happen(state, deed);
          if (deed.kind !== "reconcile") continue;
          const [from, to] = [phaseOf(before.machine) ?? "", phaseOf(state.world.machine) ?? ""];
          if (from !== to) seen.add(`${from}>${to}`);
          expect(allowsTransition(from, to), `${from} to ${to}`).toBe(true);
          const [old, next] = [inPlaceReasonOf(before.node), inPlaceReasonOf(state.world.node)];
          if (old === next || old === undefined) continue;
          seen.add(`${old}>${next}`);
          const isNewRound = old === "UpdateSuccessful" && next === "CandidateForUpdate";
          expect(isNewRound || order.indexOf(next ?? "") > order.indexOf(old) || next === "UpdateSuccessful").toBe(
            true,
          );
        }
      }),
      { numRuns: 2_000 },
    );
    for (const way of [
      "Running>InPlaceUpdating",
      "InPlaceUpdating>InPlaceUpdateSuccessful",
      "InPlaceUpdating>InPlaceUpdateFailed",
      "InPlaceUpdateFailed>InPlaceUpdateSuccessful",
      "InPlaceUpdateSuccessful>Running",
      "ReadyForUpdate>UpdateFailed",
      "UpdateSuccessful>CandidateForUpdate",
    ])
      expect([...seen]).toContain(way);
  });

  it("calls no node updated that was not handed to the agent first", () => {
    let updated = 0;
    fc.assert(
      fc.property(starts, rollouts, fc.array(deeds, { maxLength: 12 }), (start, rollout, more) => {
        let state: State = { world: start, now: testNow };
        let wasDrained = false;
        for (const deed of [...rollout, ...more]) {
          state = happen(state, deed);
          const reason = inPlaceReasonOf(state.world.node);
          if (reason === "CandidateForUpdate") wasDrained = false;
          if (reason === "DrainSuccessful") wasDrained = true;
          if (reason !== "UpdateSuccessful") continue;
          updated++;
          expect(wasDrained).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
    expect(updated).toBeGreaterThan(50);
  });
});
