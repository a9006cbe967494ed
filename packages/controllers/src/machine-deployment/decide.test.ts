import { annotationKeys, type MachineDeployment } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import {
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  named,
  ownedBy,
} from "../testing/builders.ts";
import { decideMachineDeployment } from "./decide.ts";
import { deploymentSnapshot } from "../testing/deployment-snapshot.ts";
import {
  actionsOf,
  decide,
  desiredReplicas,
  line,
  maxReplicas,
  now,
  revision,
} from "../testing/deployment-decisions.ts";

const recreate = { spec: { strategy: { type: "Recreate", rollingUpdate: null } } };
/** New sizes, `name size`. */
const sizesOf = (...given: Parameters<typeof decide>): readonly string[] =>
  decide(...given).actions.flatMap((action) => {
    if (action.kind !== "PatchMachineSet") return action.kind === "CreateMachineSet" ? ["create"] : [];
    const spec = action.patch["spec"];
    return typeof spec === "object" && spec !== null && "replicas" in spec
      ? [`${action.name} ${String(spec.replicas)}`]
      : [];
  });

describe("decideMachineDeployment", () => {
  /** As {@link both}, but a machine of the old set exists that is to be deleted. */
  const withUndeleted = [
    { name: "old", replicas: 3, machines: 4 },
    { name: "new", replicas: 1 },
  ];
  const both = [
    { name: "old", replicas: 3 },
    { name: "new", replicas: 1 },
  ];

  it("writes the size that it had before anything else where the spec leaves it to an autoscaler", () => {
    const deployment = aMachineDeployment({ spec: { replicas: 4 } });
    const claim = { owned: [], adopt: [], release: [] };
    const observed = { deployment, assumedSize: "kept", claim, machines: new Map(), problems: [] } as const;
    const decision = decideMachineDeployment(deploymentSnapshot(observed), now);
    expect(decision).toEqual({ actions: [{ kind: "PatchDeployment", patch: { spec: { replicas: 4 } } }], because: [] });
  });

  it.each<[string, readonly string[], readonly string[]]>([
    ["sets its finalizer first", actionsOf({ metadata: { finalizers: null } }), ["AddFinalizer"]],
    ["creates the first set with all machines", actionsOf({}), ["CreateMachineSet of 3"]],
    ["creates an empty set for no replicas", actionsOf({ spec: { replicas: null } }), ["CreateMachineSet of 0"]],
    [
      "creates the set of a new template as large as the surge, and leaves the old one alone",
      actionsOf({}, [{ name: "old", replicas: 3 }]),
      ["CreateMachineSet of 1"],
    ],
    ["does nothing when all is as it should be", actionsOf({}, [{ name: "new", replicas: 3 }]), []],
    ["takes the next step of a rolling update", sizesOf({}, both), ["old 2"]],
    ["adopts sets before anything else", actionsOf({}, [], [aMachineSet(named("orphan"))]), ["AdoptMachineSet orphan"]],
    [
      "releases sets that it no longer selects",
      actionsOf({}, [{ name: "stray", replicas: 3, change: { metadata: { labels: null } } }]),
      ["ReleaseMachineSet stray"],
    ],
    [
      "leaves sets of others alone",
      actionsOf(
        {},
        [{ name: "new", replicas: 3 }],
        [aMachineSet(named("x"), ownedBy(aMachineDeployment(named("other"))))],
      ),
      [],
    ],
    [
      "takes no number for none",
      actionsOf({ spec: { replicas: null } }, [
        { name: "old", replicas: 0, change: { spec: { replicas: null } } },
        { name: "new", replicas: 0, noted: "0" },
      ]),
      [],
    ],
    ["follows no invalid spec", actionsOf({ spec: { strategy: { type: "Canary" } } }, both), []],
    [
      "rolls back before it rolls on",
      actionsOf({ spec: { rollbackTo: { revision: 9 } } }, both),
      ['PatchDeployment {"spec":{"rollbackTo":null}}'],
    ],
    ["recreates: empties the old sets", sizesOf(recreate, [{ name: "old", replicas: 5 }]), ["old 0"]],
    ["recreates: waits for the old machines", actionsOf(recreate, [{ name: "old", replicas: 0, machines: 1 }]), []],
    [
      "recreates: then creates the new set with all machines",
      actionsOf(recreate, [{ name: "old", replicas: 0 }]),
      ["CreateMachineSet of 3"],
    ],
    [
      "recreates: waits for the old machines although the new set is there",
      sizesOf(recreate, [
        { name: "old", replicas: 0, machines: 1 },
        { name: "new", replicas: 0 },
      ]),
      [],
    ],
    [
      "recreates: then fills the new set that is there",
      sizesOf(recreate, [
        { name: "old", replicas: 0 },
        { name: "new", replicas: 0 },
      ]),
      ["new 3"],
    ],
    [
      "goes on with a new set that is empty as far as the old machines let it",
      sizesOf({}, [
        { name: "old", replicas: 0, machines: 2 },
        { name: "new", replicas: 0 },
      ]),
      ["new 2"],
    ],
    ["scales before it rolls on", sizesOf({ spec: { replicas: 5 } }, both), ["new 3"]],
    [
      "scales as far as machines that are not deleted yet let it",
      sizesOf({ spec: { replicas: 5 } }, withUndeleted),
      ["new 2"],
    ],
    [
      "paused: scales at once, since it does nothing later",
      sizesOf({ spec: { paused: true, replicas: 5 } }, withUndeleted),
      ["new 3"],
    ],
    [
      "does not take missing notes for a changed size",
      sizesOf({ spec: { replicas: 5 } }, [{ name: "new", replicas: 3, noted: null }]),
      ["new 5"],
    ],
    [
      "creates the new set before it scales",
      actionsOf({ spec: { replicas: 5 } }, [{ name: "old", replicas: 3 }]),
      ["CreateMachineSet of 3"],
    ],
    ["paused: creates no set", actionsOf({ spec: { paused: true } }, [{ name: "old", replicas: 3 }]), []],
    ["paused: scales", sizesOf({ spec: { paused: true, replicas: 5 } }, [{ name: "old", replicas: 3 }]), ["old 5"]],
    ["paused: rolls nothing on", sizesOf({ spec: { paused: true } }, both), []],
    ["paused: rolls nothing back", actionsOf({ spec: { paused: true, rollbackTo: { revision: 1 } } }, both), []],
    [
      "deletes its sets, each once, while it is terminating",
      actionsOf(beingDeleted(), [
        { name: "old", replicas: 1, change: beingDeleted() },
        { name: "new", replicas: 1 },
      ]),
      ["DeleteMachineSet new uid-new"],
    ],
    [
      "is deleted after its last set, whether its spec is valid or not",
      actionsOf({ ...beingDeleted(), spec: { selector: null } }),
      ["RemoveFinalizer"],
    ],
    [
      "does nothing while terminating without its finalizer",
      actionsOf({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [] } }, both),
      [],
    ],
  ])("%s", (_, actions, expected) => {
    expect(actions).toEqual(expected);
  });

  it("notes its size on every active set when it scales", () => {
    const notes = decide({ spec: { replicas: 4 } }, both).actions.map(
      (action) => "patch" in action && action.patch["metadata"],
    );
    expect(notes).toEqual([
      { annotations: { [desiredReplicas]: "4", [maxReplicas]: "5" } },
      { annotations: { [desiredReplicas]: "4", [maxReplicas]: "5" } },
    ]);
  });

  it("reads no size out of a note that is none", () => {
    expect(
      sizesOf({ spec: { replicas: 5 } }, [
        { name: "new", replicas: 3, change: annotated({ [desiredReplicas]: "many" }) },
      ]),
    ).toEqual(["new 5"]);
    expect(
      sizesOf({ spec: { paused: true, replicas: 1 } }, [
        { name: "old", replicas: 2, change: annotated({ [maxReplicas]: "0" }) },
        { name: "new", replicas: 4 },
      ]),
    ).toEqual(["old 1", "new 1"]);
  });

  it("carries the revision of its newest set, paused or not", () => {
    const patch = { metadata: { annotations: { [revision]: "7" } } };
    const set = { name: "new", replicas: 3, change: annotated({ [revision]: "7" }) };
    expect(decide({}, [set]).actions).toEqual([{ kind: "PatchDeployment", patch }]);
    expect(decide({ spec: { paused: true } }, [set]).actions).toEqual([{ kind: "PatchDeployment", patch }]);
  });

  it("reports what it scales, and nothing about an empty set", () => {
    const messages = (...given: Parameters<typeof decide>) => decide(...given).because.map(({ message }) => message);
    expect(messages({}, both)).toEqual(["Scaled down machine set old to 2"]);
    expect(messages({ spec: { replicas: 5 } }, both)).toEqual(["Scaled up machine set new to 3"]);
    expect(messages({ spec: { replicas: 0 } })).toEqual([]);
  });

  it("forgets surplus history when complete or paused, not in between and not while a rollback waits", () => {
    const seen = { status: { observedGeneration: 1 } };
    const empty = [
      { name: "a", replicas: 0, change: seen },
      { name: "b", replicas: 0, change: seen },
    ];
    const deleted = (spec: Change<MachineDeployment["spec"]>, machines: number) =>
      actionsOf({ spec: { revisionHistoryLimit: 1, ...spec } }, [
        ...empty,
        { name: "new", replicas: 3, machines },
      ]).filter((each) => each.startsWith("Delete"));
    expect(deleted({}, 3)).toEqual(["DeleteMachineSet a uid-a"]);
    expect(deleted({}, 2)).toEqual([]);
    expect(deleted({ paused: true }, 2)).toEqual(["DeleteMachineSet a uid-a"]);
    expect(deleted({ paused: true, rollbackTo: { revision: 1 } }, 2)).toEqual([]);
  });

  it("requeues for its deadline", () => {
    const at = (lastUpdateTime: string) =>
      decide(
        {
          spec: { progressDeadlineSeconds: 60 },
          status: {
            replicas: 3,
            updatedReplicas: 1,
            conditions: [{ type: "Progressing", status: "True", reason: "MachineSetUpdated", lastUpdateTime }],
          },
        },
        both,
      ).requeueAfterMs;
    expect(at("2026-01-01T23:59:50Z")).toBe(50_000);
    expect(at("2026-01-01T00:00:00Z")).toBe(0);
    expect(decide({}, both).requeueAfterMs).toBeUndefined();
  });

  it("counts down in its status while it is deleted", () => {
    expect(decide(beingDeleted(), both).status?.replicas).toBe(4);
    expect(decide(beingDeleted()).status).toBeUndefined();
  });

  it("looks at sets by UID: one without a UID has no machines and is deleted by no name alone", () => {
    const deployment = aMachineDeployment(beingDeleted());
    const { uid: _, ...metadata } = aMachineSet().metadata;
    const { replicas: __, ...spec } = aMachineSet().spec;
    const owned = [{ ...aMachineSet(), metadata, spec }];
    const snapshot = deploymentSnapshot({
      deployment,
      claim: { owned, adopt: [], release: [] },
      machines: new Map(),
      problems: [],
    });
    expect(decideMachineDeployment(snapshot, now).actions).toEqual([
      { kind: "DeleteMachineSet", name: "set", uid: "" },
    ]);
  });

  it("marks the machines that the autoscaler chose before it does anything else, paused or not", () => {
    const chosen = annotated({
      [annotationKeys.triggerDeletion]: "old-0~2026-01-01T00:00:00Z,unknown~2026-01-01T00:00:00Z",
      [annotationKeys.lastReplicaChangeByScaler]: "2026-01-01T00:00:00Z",
    });
    const marks = {
      [annotationKeys.machinePriority]: "1",
      [annotationKeys.markedForDeletionTime]: "2026-01-01T00:00:00Z",
    };
    const kept = { [annotationKeys.triggerDeletion]: "old-0~2026-01-01T00:00:00Z" };
    for (const change of [chosen, { ...chosen, spec: { paused: true, replicas: 1 } }]) {
      expect(decide(change, both).actions).toEqual([
        { kind: "PatchMachine", name: "old-0", patch: { metadata: { annotations: marks } } },
        { kind: "PatchDeployment", patch: { metadata: { annotations: kept } } },
      ]);
    }
    // An annotation that is correct already is not written.
    expect(decide({ metadata: { annotations: { ...chosen.metadata?.annotations, ...kept } } }, both).actions).toEqual([
      { kind: "PatchMachine", name: "old-0", patch: { metadata: { annotations: marks } } },
    ]);
  });

  it("hands the autoscaler's time to every set that has machines", () => {
    const scaler = { [annotationKeys.lastReplicaChangeByScaler]: "2026-01-01T00:00:00Z" };
    const patched = decide({ ...annotated(scaler), spec: { paused: true } }, [
      ...both,
      { name: "empty", replicas: 0, noted: "0" },
    ]).actions.flatMap((action) =>
      action.kind === "PatchMachineSet" ? [[action.name, action.patch["metadata"]]] : [],
    );
    expect(patched).toEqual([
      ["old", { annotations: scaler }],
      ["new", { annotations: expect.objectContaining(scaler) }],
    ]);
  });

  it("lets no set grow while it is frozen, and lets them shrink", () => {
    const frozen = { metadata: { labels: { freeze: "True" } } };
    const set = { name: "new", replicas: 1, noted: "3", change: frozen };
    expect(sizesOf({ ...frozen, spec: { replicas: 5 } }, [{ name: "old", replicas: 3 }, set])).toEqual([]);
    expect(sizesOf(frozen, [{ name: "old", replicas: 3 }, set])).toEqual(["old 2"]);
    expect(sizesOf({ ...frozen, spec: { replicas: 0 } }, [{ name: "old", replicas: 3 }, set])).toEqual([
      "old 0",
      "new 0",
    ]);
    expect(actionsOf(frozen, [{ name: "old", replicas: 3, change: frozen }])).toEqual(["CreateMachineSet of 0"]);
    // The label follows the sets, in a pass of its own.
    expect(actionsOf({}, [{ name: "old", replicas: 3 }, set])).toEqual([
      'PatchDeployment {"metadata":{"labels":{"freeze":"True"}}}',
    ]);
  });

  it("requeues for the time at which its gates change", () => {
    const deployment = aMachineDeployment();
    const limits = { mayStart: false, requeueAt: new Date(now.getTime() + 5000) };
    const claim = { owned: [], adopt: [], release: [] };
    const decision = decideMachineDeployment(
      deploymentSnapshot({ deployment, claim, machines: new Map(), problems: [], limits }),
      now,
    );
    expect(decision.requeueAfterMs).toBe(5000);
    expect(decision.actions.map(line)).toEqual(["CreateMachineSet of 0"]);
  });
});
