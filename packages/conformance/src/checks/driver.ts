import { type Driver, type DriverCapabilities, defineDriver } from "@millwright/core";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";

/** A capability, its method, and a call of it. */
type Capability = readonly [keyof DriverCapabilities, keyof Driver, (t: CheckContext) => Promise<unknown>];

const capabilities: readonly Capability[] = [
  ["listMachines", "listMachines", ({ caller }) => caller.list()],
  ["initializeMachine", "initializeMachine", ({ caller, machine }) => caller.initialize(machine())],
  ["drift", "findDrift", ({ caller, machine }) => caller.drift(machine())],
  ["nodeTemplate", "getNodeTemplate", ({ caller }) => caller.template()],
  ["classChecks", "checkClass", ({ caller }) => caller.checkClass()],
];

/** Checks of a driver as a whole. */
export const driverChecks = {
  "driver.handshake": async ({ session: { driver } }) => {
    try {
      defineDriver(driver);
    } catch (error) {
      expect(false, describeError(error));
    }
  },

  "driver.capabilities-match": async (t) => {
    const { driver } = t.session;
    for (const [capability, method, call] of capabilities) {
      const isThere = typeof driver[method] === "function";
      if (driver.capabilities[capability]) expect(isThere, `The driver declares ${capability} and has no ${method}.`);
      else if (isThere) await expectFailure(`The undeclared ${method}`, call(t), "Unimplemented");
    }
    if (driver.capabilities.volumeIds) return;
    const { volumeIds } = await t.caller.volumeIds([{}, { csi: { driver: "other.example", volumeHandle: "v" } }]);
    expect(
      volumeIds.length === 2 && volumeIds.every((id) => id === undefined),
      "Without the capability volumeIds, getVolumeIds must return undefined for every volume.",
    );
  },

  "driver.idle-makes-no-calls": async ({ session, newDriver }) => {
    const before = session.connections.length;
    const driver = await session.scope.run(() => newDriver());
    await session.scope.run(async () =>
      driver.spec["~standard"].validate(session.caller.target.machineClass.providerSpec),
    );
    const opened = session.connections.slice(before);
    expect(opened.length === 0, `The driver connected to ${opened.join(", ")} before its first call.`);
  },

  "driver.newer-host": async (t) => {
    const future = { futureField: { nested: [1, "x"] } };
    const { driver } = t.caller.target;
    const caller = t.caller.with({
      driver: {
        ...driver,
        createMachine: ({ machine, ...request }, { signal, clock, log }) =>
          driver.createMachine({ ...request, machine: { ...machine, ...future }, ...future }, { signal, clock, log }),
        getMachineStatus: ({ machine, ...request }, { signal, clock, log }) =>
          driver.getMachineStatus(
            { ...request, machine: { ...machine, ...future }, ...future },
            { signal, clock, log },
          ),
        deleteMachine: ({ machine, ...request }, { signal, clock, log }) =>
          driver.deleteMachine({ ...request, machine: { ...machine, ...future }, ...future }, { signal, clock, log }),
      },
    });
    const machine = t.machine();
    const labels = { labels: { a: "b" }, annotations: { "example.com/x": "y" }, nodeAnnotations: {} };
    for (const each of [machine, { ...machine, ...labels }]) {
      const made = await outcomeOf(caller.create(each));
      expect(made.ok, `A request with unknown fields fails: ${made.ok ? "" : describeError(made.error)}`);
      await caller.status(each);
    }
    await caller.remove(machine);
  },
} as const satisfies CheckTable;
