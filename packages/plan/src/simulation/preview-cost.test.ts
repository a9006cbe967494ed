import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  aNode,
  type Change,
  inPhase,
  labeled,
  named,
  ofClass,
  ownedBy,
} from "@millwright/controllers/testing";
import { annotationKeys, type Machine, type MachineDeployment } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import { previewChange } from "./preview-change.ts";

/** An object that reports when its parts are read. */
const watched = <T extends object>(object: T, onRead: () => void): T =>
  new Proxy(object, {
    get(target, key, receiver) {
      onRead();
      return Reflect.get(target, key, receiver);
    },
  });

/** Looks at the machines and nodes that are there in the middle of a rollout, from there to its end. */
function readsOf(machineCount: number, change: Change<MachineDeployment>): number {
  let reads = 0;
  const onRead = (): void => void reads++;
  const half = { spec: { replicas: machineCount / 2 } };
  const noted = annotated({ [annotationKeys.desiredReplicas]: String(machineCount) });
  const deployment = aMachineDeployment(ofClass("big"), { spec: { replicas: machineCount } }, change);
  const old = aMachineSet(named("old"), ownedBy(deployment), noted, half);
  const fresh = aMachineSet(named("fresh"), ownedBy(deployment), noted, half, {
    spec: { template: { spec: { class: { name: "big" } } } },
  });
  const machines = [old, fresh].flatMap((set) =>
    Array.from({ length: machineCount / 2 }, (_, index): Machine => {
      const name = `${set.metadata.name}-${index}`;
      return aMachine(named(name), ownedBy(set), inPhase("Running"), labeled({ node: name }), {
        spec: { providerID: `vm-${name}` },
      });
    }),
  );
  const { outcome, steps } = previewChange(
    {
      deployments: [deployment],
      sets: [old, fresh],
      machines: machines.map((machine) => watched(machine, onRead)),
      nodes: machines.map(({ metadata: { name } }) => watched(aNode({ metadata: { name } }), onRead)),
    },
    { kind: "MachineDeployment", name: "pool" },
    { now: new Date("2026-03-01T12:00:00Z"), durations: { joinMs: 60_000, deletionMs: 60_000 } },
  );
  expect(outcome).toBe("completes");
  expect(steps.length).toBeGreaterThanOrEqual(machineCount);
  return reads;
}

it.each<[string, Change<MachineDeployment>]>([
  ["one by one", {}],
  ["one by one in canary steps", annotated({ [annotationKeys.canarySteps]: "10%/1s,90%/1s" })],
  [
    "one by one with machines that count when they have served for a while",
    { metadata: { annotations: { [annotationKeys.honorMinReadySeconds]: "true" } }, spec: { minReadySeconds: 30 } },
  ],
])("looks at each machine a few times in a rollout %s, however many there are", (_, change) => {
  const [few, many] = [readsOf(20, change), readsOf(100, change)];
  if (process.env["SHOW_COST"] !== undefined) process.stdout.write(`${few} ${many}\n`);
  // Five times as many machines: five times as many looks, where every moment looked at all of them it would be 25.
  expect(many / few).toBeLessThan(7.5);
});
