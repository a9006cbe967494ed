import { describe, expect, it } from "vitest";
import {
  aDeployment,
  aMachine,
  aNode,
  aSet,
  failed,
  now,
  objectsOf,
  since,
  small,
} from "../testing/explained-objects.ts";
import { subjectNamed, why } from "./explain.ts";

const namespace = { kind: "Namespace", name: "default" } as const;

describe("why of a namespace", () => {
  it("is as desired when all of its objects are", async () => {
    const { explanation, remedies } = await why(namespace, objectsOf(), now);
    expect(explanation).toMatchObject({ state: "ok", summary: "0 of 1 objects are not as desired", children: [] });
    expect(remedies).toEqual([]);
  });

  it("lists what is not: deployments, what belongs to none, and classes that are being deleted", async () => {
    const alone = { ownerReferences: [] };
    const quota = failed("ResourceExhausted", "no quota");
    const machines = [
      aMachine("a", "CrashLoopBackOff", quota),
      aMachine("b", "Running"),
      aMachine("c", "CrashLoopBackOff", quota, alone),
      aMachine("d", "Running", {}, alone),
    ];
    const terminating = { ...small, metadata: { ...small.metadata, deletionTimestamp: since } };
    const objects = objectsOf({
      machines,
      classes: [terminating],
      sets: [aSet([], 1)],
      deployments: [aDeployment({ readyReplicas: 1 })],
      nodes: [aNode("b"), aNode("d")],
    });
    const { explanation, remedies } = await why(namespace, objects, now);
    expect(explanation.summary).toBe("3 of 4 objects are not as desired");
    expect(explanation.state).toBe("stuck");
    expect(explanation.children.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "MachineDeployment pool",
      "Machine c",
      "MachineClass small",
    ]);
    // Both machines need the same.
    expect(remedies.filter(({ text }) => text.startsWith("Raise the quota"))).toHaveLength(1);
  });
});

describe("an object without its kind", () => {
  it.each([
    ["pool", "MachineDeployment"],
    ["pool-s", "MachineSet"],
    ["small", "MachineClass"],
    ["other", "Node"],
    ["a", "Machine"],
  ])("%s is found as %s", (name, kind) => {
    expect(subjectNamed(name, objectsOf({ nodes: [aNode("a"), aNode("other")] }))).toEqual({ kind, name });
  });

  it("is named with all kinds where several have the name, and rejected where none has", () => {
    const classes = [{ ...small, metadata: { ...small.metadata, name: "pool" } }];
    expect(() => subjectNamed("pool", objectsOf({ classes }))).toThrow(
      'several objects have the name "pool": machinedeployment/pool, machineclass/pool; name one of them',
    );
    expect(() => subjectNamed("none", objectsOf({ nodes: "unread" }))).toThrow(
      'there is no deployment, set, machine, class or node "none" in namespace default',
    );
  });
});
