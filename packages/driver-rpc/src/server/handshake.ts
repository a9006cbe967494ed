import type { ContractVersionRange, Driver, StandardSchemaV1 } from "@millwright/core";
import { toJson } from "../wire/json-text.ts";
import type { WireHandshakeResponse } from "../wire/messages.ts";

/** The JSON Schema of what a schema reads, where its library makes one (https://standardschema.dev/json-schema); empty otherwise. */
function jsonSchemaOf(schema: StandardSchemaV1 | undefined): string {
  try {
    const maker: unknown = Reflect.get(schema?.["~standard"] ?? {}, "jsonSchema");
    const input: unknown = typeof maker === "object" && maker !== null ? Reflect.get(maker, "input") : undefined;
    return typeof input === "function" ? toJson(input({ target: "draft-2020-12" })) : "";
  } catch {
    // A schema that JSON Schema cannot express, such as one with transformations.
    return "";
  }
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
  providerSpecSchema: jsonSchemaOf(driver.spec),
  secretSchema: jsonSchemaOf(driver.secret),
  nodeMatch:
    driver.providerIdTemplates === undefined
      ? { rule: driver.matchNode === undefined ? 0 : 2 }
      : { rule: 1, templates: driver.providerIdTemplates },
});
