import { machineApiVersion } from "@millwright/core";
import { describe, expect, it } from "vitest";
import { pool, set, small } from "../testing/planned-world.ts";
import { unknownFields } from "./unknown-fields.ts";

const told = (...args: Parameters<typeof unknownFields>): readonly string[] =>
  unknownFields(...args).map(({ path, message }) => `${path}: ${message.replace(/^.* refuses it: /, "")}`);

describe("unknownFields", () => {
  it("finds nothing in manifests that the API server takes", () => {
    expect(unknownFields("MachineDeployment", pool())).toEqual([]);
    expect(unknownFields("MachineSet", set)).toEqual([]);
    expect(unknownFields("MachineClass", small)).toEqual([]);
  });

  it("names the field beside it that was meant", () => {
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSruge: 1 } };
    expect(unknownFields("MachineDeployment", pool({ strategy }))).toEqual([
      {
        path: "spec.strategy.rollingUpdate.maxSruge",
        message:
          "is no field of a MachineDeployment, and the API server refuses it: write spec.strategy.rollingUpdate.maxSurge if that is meant",
        kind: "forbidden",
      },
    ]);
  });

  it("names the places in which a field stands that was put in the wrong one", () => {
    expect(told("MachineDeployment", pool({ drainTimeout: "1h", strategy: { maxSurge: 1 } }))).toEqual([
      "spec.drainTimeout: write spec.template.spec.drainTimeout if that is meant",
      "spec.strategy.maxSurge: write spec.strategy.inPlaceUpdate.maxSurge or spec.strategy.rollingUpdate.maxSurge if that is meant",
    ]);
    expect(told("MachineDeployment", pool({ colour: "red" }))).toEqual(["spec.colour: take it away"]);
  });

  it("looks into lists, metadata and the object itself", () => {
    const expressions = [
      { key: "a", operator: "Exists" },
      { key: "a", operater: "Exists" },
    ];
    const { spec, ...rest } = pool({ selector: { matchExpressions: expressions } }, { lables: {} });
    expect(told("MachineDeployment", { ...rest, spec, specs: {} })).toEqual([
      "metadata.lables: write metadata.labels if that is meant",
      "spec.selector.matchExpressions[1].operater: write spec.selector.matchExpressions[1].operator if that is meant",
      "specs: write spec if that is meant",
    ]);
  });

  it("leaves free what drivers and templates may hold, labels and annotations", () => {
    const any = { anything: { at: ["all"] } };
    const metadata = { name: "x", labels: { any: "x" }, annotations: { any: "x" }, managedFields: [any] };
    expect(unknownFields("MachineClass", { metadata, providerSpec: any, nodeTemplate: any })).toEqual([]);
    const template = { metadata: any, spec: { nodeTemplate: { metadata: any } } };
    expect(unknownFields("MachineSet", { metadata, spec: { template } })).toEqual([]);
  });

  it("leaves what has the wrong type to whoever reads it", () => {
    const raw = { metadata: "x", spec: { replicas: { a: 1 }, template: [{ a: 1 }], selector: "x" } };
    expect(unknownFields("MachineDeployment", raw)).toEqual([]);
  });

  it("takes no name for a field because every object has it", () => {
    const names = ["constructor", "toString", "hasOwnProperty"];
    const raw = { spec: Object.fromEntries(names.map((name) => [name, 1])) };
    expect(unknownFields("MachineDeployment", raw).map(({ path }) => path)).toEqual(
      names.map((name) => `spec.${name}`),
    );
  });

  it("stops after twenty, however many there are and however long their names", () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `${"x".repeat(200)}${index}`);
    const problems = unknownFields("Machine", { spec: Object.fromEntries(names.map((name) => [name, 1])) });
    expect(problems).toHaveLength(20);
    expect(problems.every(({ message }) => message.endsWith("take it away"))).toBe(true);
  });

  it.each(["Machine", "MachineClass", "MachineDeployment", "MachineSet"] as const)("knows %s", (kind) => {
    expect(unknownFields(kind, { apiVersion: machineApiVersion, kind, x: 1 })).toHaveLength(1);
  });
});
