import { type ListedMachine, MachineError } from "@millwright/core";
import { type Machine, machineClassResource, machineResource } from "@millwright/core/machine-api";
import { type ApiClient, secretResource } from "@millwright/kube";
import { notFoundError, serverError } from "@millwright/kube/testing";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { ControllerContext } from "../cluster/context.ts";
import { aMachine, aMachineClass, inPhase, named, testNamespace } from "../testing/builders.ts";
import { runControllers } from "../testing/running-controllers.ts";
import { createVmLists } from "../vm-lists/vm-lists.ts";
import { collectOrphans } from "./collector.ts";

const MINUTE = 60_000;
const userData = Buffer.from("#cloud-config").toString("base64");
const owners = ["a", "b", "c", "d"];
const ownedVms = owners.map((name) => ({ providerId: `vm-${name}`, machineName: name, machineUid: `uid-${name}` }));
const lost: ListedMachine = { providerId: "vm-lost", machineName: "lost", machineUid: "uid-lost" };

type Lie = "none" | "empty" | "short" | "error";

/** What each source answers for some minutes. The cache cannot fail. */
interface Step {
  readonly cache: Lie;
  readonly list: Lie;
  readonly get: Lie;
  readonly cloud: Lie;
  readonly minutes: number;
}

function answer<T>(lie: Lie, all: readonly T[]): readonly T[] {
  if (lie === "error") throw serverError();
  return lie === "empty" ? [] : lie === "short" ? all.slice(0, 1) : all;
}

const lie = fc.constantFrom<Lie>("none", "none", "empty", "short", "error");
const step: fc.Arbitrary<Step> = fc
  .record({
    cache: fc.constantFrom<Lie>("none", "none", "empty", "short"),
    list: lie,
    get: lie,
    cloud: lie,
    minutes: fc.integer({ min: 1, max: 60 }),
  })
  // When all of them are wrong in the same way, for an hour, no one can know.
  .filter(({ cache, list, get }) => [cache, list, get].some((each) => each === "none" || each === "error"));

/** The sources of a process, with lies. */
function withLies(context: ControllerContext, now: () => Step): ControllerContext {
  const { caches, control } = context;
  const { store } = caches.machines;
  const api: ApiClient = {
    ...control,
    list: async (type, options, call) => {
      const found = await control.list<never>(type, options, call);
      return type === machineResource && options?.limit !== undefined
        ? { ...found, items: [...answer(now().list, found.items)] }
        : found;
    },
    get: async (type, ref, options) => {
      if (type === machineResource && answer(now().get, [1, 2]).length < 2) throw notFoundError();
      return control.get<never>(type, ref, options);
    },
  };
  const machines = {
    ...caches.machines,
    store: { ...store, list: (of?: string) => answer(now().cache, store.list(of)) },
  };
  return { ...context, control: api, caches: { ...caches, machines } };
}

/** Names of the machines whose VMs were deleted while the sources answered as in the steps, one after the other. */
async function deletedIn(steps: readonly Step[]): Promise<readonly string[]> {
  const deleted: string[] = [];
  let current: Step = { cache: "none", list: "none", get: "none", cloud: "none", minutes: 0 };
  const cluster = await runControllers(
    (plain) => {
      const context = withLies(plain, () => current);
      const driver = {
        missingDriver: () => undefined,
        listsVms: () => true,
        listVms: async () => {
          if (current.cloud === "error") return { ok: false, error: new MachineError("Unavailable", "busy") } as const;
          return { ok: true, value: answer(current.cloud, [...ownedVms, lost]) } as const;
        },
        deleteVm: async ({ machine }: { readonly machine: Machine }) => {
          deleted.push(machine.metadata.name);
          return { ok: true, value: {} } as const;
        },
      };
      const lists = createVmLists(context, driver);
      collectOrphans(context, driver, lists, {
        mode: "collect",
        minAgeMs: 20 * MINUTE,
        quarantineMs: 15 * MINUTE,
        drainTimeoutMs: 120 * MINUTE,
      });
      return [lists.controller];
    },
    (api) => {
      api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: { userData } });
      api.seed(machineClassResource, aMachineClass());
      for (const name of owners)
        api.seed(machineResource, aMachine(named(name), { spec: { providerID: `vm-${name}` } }, inPhase("Running")));
    },
  );
  for (const each of steps) {
    current = each;
    await cluster.settle(each.minutes * MINUTE);
  }
  await cluster.stop();
  return deleted;
}

it("no VM with a machine is deleted, whatever is empty, short or in error, and whenever", async () => {
  let deletions = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), async (steps) => {
      const deleted = await deletedIn(steps);
      deletions += deleted.length;
      expect(deleted.filter((name) => name !== "lost")).toEqual([]);
    }),
    {
      numRuns: 60,
      // One source is right, and for hours.
      examples: (["cache", "list", "get"] as const).map((right): [Step[]] => {
        const wrong: Step = { cache: "empty", list: "empty", get: "empty", cloud: "none", minutes: 50 };
        return [Array.from({ length: 4 }, () => ({ ...wrong, [right]: "none" }))];
      }),
    },
  );
  // Otherwise this shows nothing.
  expect(deletions).toBeGreaterThan(0);
});
