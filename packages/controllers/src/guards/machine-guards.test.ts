import {
  annotationKeys,
  type Machine,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { afterAll, describe, expect, it } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import type { BudgetVerdict } from "../model/deletion-budget.ts";
import { judge } from "../model/hold.ts";
import type { OperationView } from "../model/operation.ts";
import {
  aMachine,
  aMachineDeployment,
  aMachineSet,
  annotated,
  beingDeleted,
  type Change,
  inPhase,
  ownedBy,
} from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { failed, running, succeeded, withVm } from "../testing/snapshots.ts";
import { enterGuards, machineGuards } from "./machine-guards.ts";

/** The order in which holds apply. */
const order = ["crd", "protection", "lost-owner", "budget", "unread-target", "conflict"] as const;
type Name = (typeof order)[number];

const stop = new AbortController();
afterAll(() => stop.abort());
const protectedMachine = annotated({ [annotationKeys.deletionProtection]: "true" });
const held: BudgetVerdict = {
  verdict: "held",
  held: {
    why: "share",
    cause: "machine",
    count: 20,
    scope: { kind: "Namespace", name: "default" },
    limit: 10,
    total: 20,
    loss: 0,
  },
  approver: { kind: "Machine", name: "machine" },
};

/** The guards of a process in which each of these holds a machine. */
async function guardsWith(
  holds: readonly Name[],
  {
    change = beingDeleted(),
    operation,
    protectsDeployment = false,
  }: {
    readonly change?: Change<Machine>;
    readonly operation?: OperationView;
    /** Protects the deployment instead of the machine. */
    readonly protectsDeployment?: boolean;
  } = {},
) {
  const { api, newContext, run } = createTestCluster();
  const isProtected = holds.includes("protection");
  const deployment = api.seed(
    machineDeploymentResource,
    aMachineDeployment(isProtected && protectsDeployment ? protectedMachine : {}),
  );
  const set = api.seed(machineSetResource, aMachineSet(ownedBy(deployment)));
  const machine = api.seed(
    machineResource,
    aMachine(
      withVm,
      inPhase("Running"),
      ownedBy(holds.includes("lost-owner") ? aMachineSet({ metadata: { uid: "former" } }) : set),
      isProtected && !protectsDeployment ? protectedMachine : {},
      change,
    ),
  );
  const { target, ...rest } = newContext();
  await run({ ...rest, target }, stop.signal);
  const entered: string[] = [];
  const isUnread = holds.includes("unread-target");
  const context = {
    ...rest,
    target: isUnread ? { ...target, isSeparate: true, caches: { nodes: { hasSynced: () => false } } } : target,
    crdGuard: {
      deletionVerdictOf: () =>
        holds.includes("crd")
          ? { verdict: "paused", crd: { name: "machines", state: "deleted" } }
          : { verdict: "proceed" },
      onChange: () => undefined,
    },
    deletionBudget: {
      ofMachine: () => (holds.includes("budget") ? held : { verdict: "proceed", isApproved: false, cause: "machine" }),
      enter: ({ metadata }: Machine) => void entered.push(metadata.name),
      onChange: () => undefined,
    },
  } as unknown as ControllerContext;
  const guards = machineGuards(context, {
    operationOf: () => operation,
    holderOf: () => (holds.includes("conflict") ? { name: "other", providerId: "vm-1" } : undefined),
  });
  const verdict = guards.find(({ name }) => name === "lost-owner")?.of(machine);
  if (typeof verdict === "object" && "read" in verdict) await verdict.read();
  return { guards, machine, entered };
}

const holdWith = async (...args: Parameters<typeof guardsWith>) => {
  const { guards, machine } = await guardsWith(...args);
  return judge(guards, machine).hold;
};

const pairs = order.flatMap((first, index) => order.slice(index + 1).map((second) => [first, second] as const));

describe("the order of the holds of a terminating machine", () => {
  it("is that of the list", async () => {
    const { guards } = await guardsWith([]);
    expect(guards.map(({ name }) => name)).toEqual(order);
  });

  it.each(pairs)("%s comes before %s", async (first, second) => {
    expect((await holdWith([first, second]))?.by).toBe(first);
    expect((await holdWith([second]))?.by).toBe(second);
    expect((await holdWith([first]))?.by).toBe(first);
  });

  it("has no hold where nothing holds", async () => {
    expect(await holdWith([])).toBeUndefined();
  });
});

describe("the holds of a living machine", () => {
  const living = { change: {} };
  it.each(pairs)("%s, %s: only what concerns more than its deletion", async (...both) => {
    const expected = both.find((name) => name === "unread-target" || name === "conflict");
    // The stubs of CRD guard and budget do not look at the machine.
    const judged = both.filter((name) => name !== "crd" && name !== "budget");
    expect((await holdWith(judged, living))?.by).toBe(expected);
  });

  it.each([
    ["without a VM has no node that may be unread", "unread-target"],
    ["without a VM has none of another machine", "conflict"],
  ] as const)("a machine %s", async (_, name) => {
    const change: Change<Machine> = { spec: { providerID: null }, status: { currentStatus: { phase: "" } } };
    expect(await holdWith([name], { change })).toBeUndefined();
  });
});

describe("a protected machine whose VM", () => {
  const inStage = (marker: string): Change<Machine> => ({
    ...beingDeleted(),
    status: {
      currentStatus: { phase: "Terminating" },
      lastOperation: { type: "Delete", state: "Processing", description: `VM deletion. ${marker}` },
    },
  });
  it.each<[string, string, OperationView | undefined, string | undefined]>([
    ["was to be deleted, which failed, is held", "Initiate VM deletion", failed("delete", "Internal"), "protection"],
    ["is being deleted is not held", "Initiate VM deletion", running("delete"), undefined],
    ["was deleted just now is not held", "Initiate VM deletion", succeeded("delete"), undefined],
    ["was deleted before is not held", "Initiate node object deletion", undefined, undefined],
    ["and Node were deleted is not held", "Initiate machine object finalizer removal", undefined, undefined],
  ])("%s", async (_, marker, operation, expected) => {
    const options = { change: inStage(marker), ...(operation === undefined ? {} : { operation }) };
    expect((await holdWith(["protection"], options))?.by).toBe(expected);
  });
});

it("reads set and deployment of a machine first, where its deployment is protected and may be deleted, too", async () => {
  const { guards, machine } = await guardsWith(["protection"], { protectsDeployment: true });
  const { hold, missing } = judge(guards, machine);
  expect([hold, missing.length]).toEqual([undefined, 1]);
  await missing[0]?.read();
  expect(judge(guards, machine)).toEqual({ missing: [] });
});

it("uses the budget for a machine that has passed it, whatever holds it later, and for no other", async () => {
  const enteredWith = async (holds: readonly Name[]) => {
    const { guards, machine, entered } = await guardsWith(holds);
    enterGuards(guards, machine, judge(guards, machine).hold?.by);
    return entered;
  };
  expect(await enteredWith([])).toEqual(["machine"]);
  expect(await enteredWith(["conflict"])).toEqual(["machine"]);
  for (const name of ["crd", "protection", "budget"] as const) expect(await enteredWith([name])).toEqual([]);
});
