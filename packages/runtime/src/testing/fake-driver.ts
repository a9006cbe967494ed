import {
  defineDriver,
  type Driver,
  type DriverDefinition,
  MachineError,
  type StandardSchemaV1,
} from "@millwright/core";

/** A schema that takes what the function takes. */
export const schema = (
  validate: StandardSchemaV1<unknown, unknown>["~standard"]["validate"] = (value) => ({ value }),
): StandardSchemaV1<unknown, unknown> => ({ "~standard": { version: 1, vendor: "test", validate } });

/** A driver whose VMs are always found missing, can be made and can be deleted, unless changed. */
export const aDriver = (change: Partial<DriverDefinition<unknown>> = {}): Driver =>
  defineDriver({
    name: "mock",
    spec: schema(),
    createMachine: async ({ machine }) => ({ providerId: `vm-of-${machine.name}`, nodeName: machine.name }),
    deleteMachine: async () => ({}),
    getMachineStatus: () => Promise.reject(new MachineError("NotFound", "no VM")),
    ...change,
  });
