import type { Driver } from "@millwright/core";
import {
  type Machine,
  machineApiVersion,
  machineClassResource,
  machineResource,
  phaseOf,
} from "@millwright/core/machine-api";
import { type ApiClient, createApiClient, eventResource, loadKubeConfig } from "@millwright/kube";
import { createManager, loadDriver } from "@millwright/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Installation, machineClass, startInstallation } from "../harness/installation.ts";

const namespace = "default";

/** What a driver makes of the right answer about a VM. */
type Odd = (reply: Readonly<Record<string, unknown>>) => unknown;

const withName =
  (nodeName: unknown): Odd =>
  (reply) => ({ ...reply, nodeName });
const withId =
  (providerId: unknown): Odd =>
  (reply) => ({ ...reply, providerId });
const throwingOn =
  (...keys: readonly string[]): Odd =>
  (reply) => {
    const get = (): never => {
      throw new Error("hostile getter");
    };
    return Object.defineProperties({ ...reply }, Object.fromEntries(keys.map((key) => [key, { get }])));
  };
const hostile: Odd = () =>
  new Proxy(
    {},
    {
      get: (_, key) => {
        // An answer of a promise is awaited.
        if (key === "then") return undefined;
        throw new Error("hostile proxy");
      },
    },
  );
const address = { type: "InternalIP", address: "10.0.0.1" };

/** The phase of a machine whose id could not be stored; its VM is found by its tags alone. */
const refused = "CrashLoopBackOff";

/** What is odd, and the phase of the machine in spite of it. */
type OddCase = readonly [string, Odd, string];

const cases: readonly OddCase[] = [
  ["a node name of more than 63 characters", withName(`ip-10-0-0-1.${"a".repeat(60)}.internal`), "Running"],
  ["a node name as long as a book", withName("n".repeat(1_000_000)), "Running"],
  ["a node name that is no value of a label", withName("a/b c"), "Running"],
  ["an empty node name", withName(""), "Running"],
  ["no node name", withName(undefined), "Running"],
  ["a node name with control characters", withName("a\n\u0000b"), "Running"],
  ["a node name that throws", throwingOn("nodeName"), "Running"],
  [
    "huge addresses",
    (reply) => ({ ...reply, addresses: Array.from({ length: 100_000 }, () => ({ ...address, type: "x".repeat(90) })) }),
    "Running",
  ],
  [
    "an address as long as a book",
    (reply) => ({ ...reply, addresses: [{ ...address, address: "1".repeat(4e6) }] }),
    "Running",
  ],
  ["addresses, state and progress that throw", throwingOn("addresses", "lastKnownState", "pending"), "Running"],
  ["a prototype that has the fields", (reply) => Object.create(reply) as unknown, "Running"],
  [
    "an id of absurd length",
    ({ providerId, ...reply }) => ({ ...reply, providerId: `${String(providerId)}${"x".repeat(1e6)}` }),
    refused,
  ],
  ["an id with control characters", withId("mock:///eu-1/\u0000\n"), refused],
  ["an id with half of a character", withId("mock:///eu-1/\ud800"), refused],
  ["no id", withId(undefined), refused],
  ["an id that throws", throwingOn("providerId"), refused],
  ["nothing", () => undefined, refused],
  ["a proxy that throws", hostile, refused],
];
const nameOf = (index: number): string => `odd-${index}`;

let installation: Installation;
const stop = new AbortController();
let control: ApiClient;
let managing: Promise<unknown>;

/** The mock driver, all of whose answers about a VM that exists are odd. */
function oddDriver(mock: Driver, name: string, [, odd, phase]: OddCase): Driver {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- that is its point
  const change = (reply: object): never => odd({ ...reply }) as never;
  return {
    ...mock,
    name,
    createMachine: async (request, context) => change(await mock.createMachine(request, context)),
    getMachineStatus: async (request, context) => change(await mock.getMachineStatus(request, context)),
    // Where no id is stored, the end of a VM that is not reported is believed only after minutes.
    ...(phase === refused
      ? {}
      : { deleteMachine: async (request, context) => change(await mock.deleteMachine(request, context)) }),
  };
}

beforeAll(async () => {
  installation = await startInstallation();
  const { api } = installation;
  const mock = await loadDriver("mock");
  const drivers = cases.map((each, index) => oddDriver(mock, nameOf(index), each));
  control = createApiClient(await loadKubeConfig({ file: installation.controllersKubeconfig }));
  managing = createManager({ control, target: control, namespace, drivers }).start(stop.signal);
  for (const [index] of cases.entries()) {
    const name = nameOf(index);
    await api.create(machineClassResource, { ...machineClass(name), provider: name });
    await api.create(machineResource, {
      apiVersion: machineApiVersion,
      kind: "Machine",
      metadata: { namespace, name },
      spec: { class: { kind: "MachineClass", name } },
    });
  }
});

afterAll(async () => {
  stop.abort(new Error("the test is over"));
  await managing.catch(() => undefined);
  await control.close();
  await installation.close();
});

const vmsOf = (name: string): number => installation.cloud.vms().filter((vm) => vm.name === name).length;

test.each(cases.map(([what, , phase], index) => [what, nameOf(index), phase] as const))(
  "a machine whose driver answers with %s has a status, and its VM is gone after its deletion",
  async (_, name, phase) => {
    const { api } = installation;
    const ref = { namespace, name };
    const read = (): Promise<Machine> => api.get<Machine>(machineResource, ref);
    await eventually(async () => expect([phaseOf(await read()), vmsOf(name)]).toEqual([phase, 1]));
    const { spec, status } = await read();
    expect((spec.providerID ?? "") === "").toBe(phase === refused);
    const expected = phase === refused ? "of the driver answered" : "successfully joined the cluster";
    expect(status?.lastOperation?.description).toContain(expected);
    await api.delete(machineResource, ref);
    await eventually(async () => {
      expect((await installation.machines()).map(({ metadata }) => metadata.name)).not.toContain(name);
      expect(vmsOf(name)).toBe(0);
    });
  },
);

test("the names that cannot be stored were reported as events", async () => {
  const { items } = await installation.api.list(eventResource, { namespace });
  const reported = JSON.stringify(items);
  expect(reported).toContain("UnusableNodeName");
  expect(reported).toContain("The driver returned no node name. The Node is found only by its provider id");
});
