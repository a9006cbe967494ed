import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineFixture, type FixtureFactory } from "@millwright/conformance";
import type { Driver } from "@millwright/core";
import { connectDriver, serveDriver, startDriverProcess } from "@millwright/driver-rpc";

/** Drivers behind sockets, with all that has to be closed at the end. */
function createServers() {
  const ends: (() => Promise<void>)[] = [];
  return {
    /** Serves a driver on a socket, and connects to it. */
    async serve(driver: Driver): Promise<Driver> {
      const folder = await mkdtemp(join(tmpdir(), "millwright-served-"));
      const server = await serveDriver(driver, `unix://${folder}/driver.sock`);
      const connection = await connectDriver(server.address);
      ends.push(async () => {
        await connection.close();
        await server.close();
        await rm(folder, { recursive: true, force: true });
      });
      return connection.driver;
    },
    async close() {
      await Promise.all(ends.splice(0).map((end) => end()));
    },
  };
}

/** A fixture whose drivers are called over gRPC. */
export const overGrpc = (factory: FixtureFactory): FixtureFactory =>
  defineFixture(async () => {
    const servers = createServers();
    const { driver, createDriver, endpoint, close, ...fixture } = await factory();
    if (driver === undefined) throw new Error("the fixture has no driver");
    return {
      ...fixture,
      driver: await servers.serve(driver),
      ...(createDriver === undefined ? {} : { createDriver: async () => servers.serve(await createDriver()) }),
      ...(endpoint === undefined
        ? {}
        : {
            endpoint: {
              ...endpoint,
              through(url: string) {
                const { driver: other, ...rest } = endpoint.through(url);
                return {
                  ...rest,
                  ...(other === undefined ? {} : { driver: Promise.resolve(other).then(servers.serve) }),
                };
              },
            },
          }),
      async close() {
        await servers.close();
        await close?.();
      },
    };
  });

const bin = fileURLToPath(new URL("../../../packages/cli/src/bin.ts", import.meta.url));

/** A fixture whose driver, which is named as for `--provider`, runs in a process of its own. Its endpoint has to be in the class or the secret. */
export const inItsProcess = (name: string, factory: FixtureFactory): FixtureFactory =>
  defineFixture(async () => {
    const { createDriver: _, pendingClass: __, endpoint, close, ...fixture } = await factory();
    const lines: string[] = [];
    const connection = await startDriverProcess({
      command: [process.execPath, "--conditions=@millwright/source", bin, "driver", "serve", name],
      env: { PATH: process.env["PATH"] ?? "" },
      subject: name,
      onLine: (_stream, line) => lines.push(line),
      log: () => undefined,
    });
    return {
      ...fixture,
      driver: connection.driver,
      ...(endpoint === undefined
        ? {}
        : {
            endpoint: {
              ...endpoint,
              through(url: string) {
                const { driver: _driver, ...rest } = endpoint.through(url);
                return rest;
              },
            },
          }),
      async close() {
        await connection.close();
        await close?.();
        if (lines.length > 0) throw new Error(`the driver has printed: ${lines.join("\n")}`);
      },
    };
  });
