import { fileURLToPath } from "node:url";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import type { WireMethods } from "./messages.ts";

/** The name of an rpc of the driver service. */
export type WireMethodName = keyof WireMethods;

const protos = fileURLToPath(new URL("../../proto", import.meta.url));

// 64-bit numbers of the contract are milliseconds: a number holds them. Everything larger goes as text.
const loaded = loadSync(["millwright/driver/v1/driver.proto", "grpc/health/v1/health.proto"], {
  includeDirs: [protos],
  longs: Number,
  arrays: true,
  objects: true,
});

const serviceNamed = (name: string): ServiceDefinition => {
  const service = loaded[name];
  if (service === undefined || "format" in service) throw new Error(`${name} must be a service of the proto files`);
  return service;
};

/** The service that a driver serves. */
export const driverService = serviceNamed("millwright.driver.v1.Driver");

/** The health service of gRPC, which a driver may serve. */
export const healthService = serviceNamed("grpc.health.v1.Health");

/** How the messages of an rpc are written and read. */
export type WireMethod<Name extends WireMethodName> = MethodDefinition<WireMethods[Name][0], WireMethods[Name][1]>;

function serviceMethod<Request, Response>(
  service: ServiceDefinition,
  name: string,
): MethodDefinition<Request, Response> {
  const method: unknown = service[name];
  if (method === undefined) throw new Error(`${name} must be an rpc of the proto files`);
  // The types are those of the proto files.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return method as MethodDefinition<Request, Response>;
}

/** An rpc of the driver service. */
export const wireMethod = <Name extends WireMethodName>(name: Name): WireMethod<Name> =>
  serviceMethod(driverService, name);

/** The rpc of the health service. */
export const healthCheck: MethodDefinition<object, object> = serviceMethod(healthService, "Check");

/** `SERVING` of the health service. */
export const SERVING = 1;
