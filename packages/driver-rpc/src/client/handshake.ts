import { status } from "@grpc/grpc-js";
import { type Clock, ConfigError } from "@millwright/base";
import { negotiateContractVersion, supportedContractVersions } from "@millwright/core/driver-host";
import type { WireCapabilities, WireHandshakeResponse } from "../wire/messages.ts";
import { wireMethod } from "../wire/service.ts";
import { statusOf } from "./call.ts";
import type { Connection } from "./connection.ts";

/** How long a handshake may take, milliseconds. */
const HANDSHAKE_MS = 10_000;

/** How the host matches Nodes and VMs of a driver. */
export type NodeMatchRule =
  | { readonly kind: "providerId" }
  | { readonly kind: "names" }
  | { readonly kind: "templates"; readonly templates: readonly string[] };

/** What a driver reports of itself. */
export interface DriverInfo {
  readonly name: string;
  /** Empty if the driver reports none. */
  readonly version: string;
  readonly capabilities: WireCapabilities;
  readonly nodeMatch: NodeMatchRule;
  /** JSON Schema of providerSpec, as text; empty for none. */
  readonly providerSpecSchema: string;
}

/** More templates, or longer ones, than any cloud has forms of provider ids. */
const MAX_TEMPLATES = 20;
const MAX_TEMPLATE = 512;

function readNodeMatch(match: WireHandshakeResponse["nodeMatch"], subject: string): NodeMatchRule {
  const { rule = 0, templates = [] } = match ?? {};
  if (rule === 0) return { kind: "providerId" };
  if (rule === 1 && templates.length > 0) {
    if (templates.length > MAX_TEMPLATES || templates.some((template) => template.length > MAX_TEMPLATE))
      throw new ConfigError(`${subject}: more than ${MAX_TEMPLATES} templates of provider ids, or too long ones`);
    return { kind: "templates", templates };
  }
  // Also for rules of later versions: a name is what every version can decide by.
  return { kind: "names" };
}

/** @throws ConfigError when the host cannot use the driver */
export function readHandshake(response: WireHandshakeResponse, where: string): DriverInfo {
  const { name = "", version = "", minContractVersion = 0, maxContractVersion = 0, capabilities } = response;
  if (!/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/i.test(name))
    throw new ConfigError(`driver at ${where}: the name must be 1 to 63 letters, digits, dots or dashes`);
  const subject = `driver "${name}" at ${where}`;
  negotiateContractVersion({ min: minContractVersion, max: maxContractVersion }, subject);
  return {
    name,
    version: version.slice(0, 100),
    capabilities: capabilities ?? {},
    nodeMatch: readNodeMatch(response.nodeMatch, subject),
    providerSpecSchema: response.providerSpecSchema ?? "",
  };
}

/** Statuses of a server that will never be a driver, however long it is waited for. */
const final: ReadonlySet<status | undefined> = new Set([
  status.UNIMPLEMENTED,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
]);

/**
 * Makes the first call of a connection.
 *
 * @throws ConfigError when the server does not serve this contract; the `ServiceError` of gRPC when there is none yet
 */
export async function shakeHands(
  connection: Connection,
  where: string,
  clock: Clock,
  signal?: AbortSignal,
): Promise<DriverInfo> {
  const { min: minContractVersion, max: maxContractVersion } = supportedContractVersions;
  const range = { minContractVersion, maxContractVersion };
  try {
    const deadlineMs = clock.now().getTime() + HANDSHAKE_MS;
    return readHandshake(await connection.call(wireMethod("Handshake"), range, { signal, deadlineMs }), where);
  } catch (error) {
    if (!final.has(statusOf(error))) throw error;
    const details = error instanceof Error ? error.message : "";
    throw new ConfigError(`${where} does not serve drivers of Millwright: ${details}`, { cause: error });
  }
}
