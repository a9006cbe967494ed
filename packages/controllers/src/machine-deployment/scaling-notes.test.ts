import { isRecord } from "@millwright/base";
import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { expect, it } from "vitest";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  type Change,
  createdAt,
  inPhase,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { applyMergePatch } from "@millwright/kube";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import { decideMachineDeployment } from "./decide.ts";

const { desiredReplicas, maxReplicas, revision } = annotationKeys;
const now = new Date("2026-01-02T00:00:00Z");
const names = ["oldest", "older", "new"];

/** Sizes after one pass, and the notes `desired/max` of every set that has one: `1 3 8, 10/12`. */
function after(change: Change<MachineDeployment>, sizes: readonly number[], note: string): string {
  const deployment = aMachineDeployment(annotated({ [revision]: "3" }), change);
  const [desired = "", most = ""] = note.split("/");
  const sets = sizes.map((replicas, index) => {
    const name = names[index + names.length - sizes.length] ?? "";
    return aMachineSet(
      named(name),
      ownedBy(deployment),
      createdAt(`2026-01-01T00:0${index}:00Z`),
      annotated({ [desiredReplicas]: desired, [maxReplicas]: most, [revision]: String(index + 4 - sizes.length) }),
      { spec: { replicas } },
      name === "new" ? {} : { spec: { template: { spec: { class: { name } } } } },
    );
  });
  const machines = new Map(
    sets.map(({ metadata, spec }) => [
      metadata.uid ?? "",
      Array.from({ length: spec.replicas ?? 0 }, (_, index) =>
        aMachine(named(`${metadata.name}-${index}`), inPhase("Running")),
      ),
    ]),
  );
  const claim = { owned: sets, adopt: [], release: [] };
  const { actions } = decideMachineDeployment(deploymentSnapshot({ deployment, claim, machines, problems: [] }), now);
  const patched = sets.map((set) =>
    actions.reduce<unknown>(
      (object, action) =>
        action.kind === "PatchMachineSet" && action.name === set.metadata.name
          ? applyMergePatch(object, action.patch)
          : object,
      set,
    ),
  );
  const inside = (object: unknown, ...path: readonly string[]): unknown =>
    path.reduce((value, key) => (isRecord(value) ? value[key] : undefined), object);
  const noteOf = (set: unknown): string =>
    [desiredReplicas, maxReplicas].map((key) => inside(set, "metadata", "annotations", key)).join("/");
  return `${patched.map((set) => inside(set, "spec", "replicas")).join(" ")}, ${[...new Set(patched.map(noteOf))].join(" and ")}`;
}

const surge = (replicas: number, maxSurge: number): Change<MachineDeployment> => ({
  spec: { replicas, strategy: { rollingUpdate: { maxSurge, maxUnavailable: 0 } } },
});
const paused: Change<MachineDeployment> = { spec: { paused: true } };

// Cases of MCM, `pkg/controller/deployment_sync_test.go` scale: sizes, and the annotations that proportions are computed from.
it.each<[string, string, () => string]>([
  ["42: lets only the newest grow", "1 3 8, 10/12", () => after(surge(10, 2), [1, 3, 5], "7/9")],
  ["43: shares a reduction out", "1 2 2, 3/5", () => after(surge(3, 2), [1, 3, 5], "7/9")],
  ["44: shares another one out", "1 2 4, 5/7", () => after(surge(5, 2), [1, 3, 6], "8/10")],
  [
    "45: leaves what is as it should be",
    "1 3 5, 7/9",
    () => after({ spec: { ...surge(7, 2).spec, ...paused.spec } }, [1, 3, 5], "7/9"),
  ],
  ["46: notes the size on the only set, which has it already", "1, 1/3", () => after(surge(1, 2), [1], "2/3")],
  ["47: scales the newest where none has machines", "0 0 4, 9/9 and 4/5", () => after(surge(4, 1), [0, 0, 0], "9/9")],
  ["48: empties the old sets when the new one serves all", "0 5, 5/7", () => after(surge(5, 2), [2, 5], "4/6")],
  ["49: empties all for no replicas", "0 0 0, 0/2", () => after(surge(0, 2), [1, 3, 5], "7/9")],
])("%s", (_, expected, given) => {
  expect(given()).toBe(expected);
});
