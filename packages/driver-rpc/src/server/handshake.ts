import type { Driver, StandardSchemaV1 } from "@millwright/core";
import type { ContractVersionRange } from "@millwright/core/driver-host";
import { jsonSchemaOf } from "@millwright/core/driver-kit";
import { toJson } from "../wire/json-text.ts";
import type { WireHandshakeResponse } from "../wire/messages.ts";

/** The JSON Schema of what a schema reads, as text; empty without one. */
function schemaText(schema: StandardSchemaV1 | undefined): string {
  const json = jsonSchemaOf(schema);
  return json === undefined ? "" : toJson(json);
}

const versionsOf = ({ contractVersion: declared }: Driver): ContractVersionRange =>
  typeof declared === "number" ? { min: declared, max: declared } : declared;

/** What a driver of this process answers to the first call. */
export const handshakeOf = (driver: Driver, version: string): WireHandshakeResponse => ({
  name: driver.name,
  version,
  minContractVersion: versionsOf(driver).min,
  maxContractVersion: versionsOf(driver).max,
  capabilities: {
    classValidation: true,
    secretValidation: driver.secret !== undefined,
    listMachines: driver.capabilities.listMachines,
    initializeMachine: driver.capabilities.initializeMachine,
    volumeIds: driver.capabilities.volumeIds,
    drift: driver.capabilities.drift,
    nodeTemplate: driver.capabilities.nodeTemplate,
    classChecks: driver.capabilities.classChecks,
  },
  providerSpecSchema: schemaText(driver.spec),
  secretSchema: schemaText(driver.secret),
  nodeMatch:
    driver.providerIdTemplates === undefined
      ? { rule: driver.matchNode === undefined ? 0 : 2 }
      : { rule: 1, templates: driver.providerIdTemplates },
});
