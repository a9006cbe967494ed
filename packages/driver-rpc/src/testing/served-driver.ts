import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, systemClock } from "@millwright/base";
import {
  defineDriver,
  type Driver,
  type DriverContext,
  type DriverDefinition,
  MachineError,
  type MachineRequest,
  type StandardSchemaV1,
} from "@millwright/core";
import { connectDriver, type ConnectDriverOptions, type DriverConnection } from "../client/connect-driver.ts";
import { type DriverServer, serveDriver, type ServeDriverOptions } from "../server/serve-driver.ts";

/** A schema that accepts anything. */
export const anything: StandardSchemaV1<unknown, unknown> = {
  "~standard": { version: 1, vendor: "test", validate: (value) => ({ value }) },
};

/** A driver whose methods fail, apart from those given. */
export const driverWith = (parts: Partial<DriverDefinition<unknown>> = {}): Driver =>
  defineDriver<unknown>({
    name: "example",
    spec: anything,
    createMachine: () => Promise.reject(new MachineError("Unimplemented", "no createMachine")),
    deleteMachine: () => Promise.reject(new MachineError("Unimplemented", "no deleteMachine")),
    getMachineStatus: () => Promise.reject(new MachineError("Unimplemented", "no getMachineStatus")),
    ...parts,
  });

/** A request about a machine. */
export const request: MachineRequest<unknown> = {
  machine: { name: "m-1", namespace: "default", uid: "uid-1" },
  machineClass: { name: "small", spec: { size: 1 } },
  secret: { token: Secret.of("canary") },
};

/** A context whose functions do nothing. */
export const contextWith = (parts: Partial<DriverContext> = {}): DriverContext => ({
  signal: new AbortController().signal,
  clock: systemClock,
  log: () => undefined,
  ...parts,
});

/** A driver with its server and a client. */
export interface ServedDriver extends DriverConnection {
  readonly server: DriverServer;
  readonly address: string;
  end(): Promise<void>;
}

/** A socket in a new folder, which `remove` removes. */
export async function temporarySocket(): Promise<{ readonly address: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), "driver-rpc-"));
  return { address: `unix://${join(folder, "driver.sock")}`, remove: () => rm(folder, { recursive: true }) };
}

/** Serves a driver on a socket and connects to it. */
export async function serveAndConnect(
  driver: Driver,
  options: ServeDriverOptions & ConnectDriverOptions = {},
): Promise<ServedDriver> {
  const { address, remove } = await temporarySocket();
  const server = await serveDriver(driver, address, options);
  const connection = await connectDriver(address, options);
  return {
    ...connection,
    server,
    address,
    async end() {
      await connection.close();
      await server.close();
      await remove();
    },
  };
}
