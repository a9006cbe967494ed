import { machineApiVersion } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { pool, set, small } from "../testing/planned-world.ts";
import { unknownFields } from "./unknown-fields.ts";

const remediesFor = (...args: Parameters<typeof unknownFields>): readonly string[] =>
  unknownFields(...args).map(({ path, message }) => `${path}: ${message.replace(/^.* rejects it: /, "")}`);

describe("unknownFields", () => {
  it("finds nothing in manifests that the API server accepts", () => {
    expect(unknownFields("MachineDeployment", pool())).toEqual([]);
    expect(unknownFields("MachineSet", set)).toEqual([]);
    expect(unknownFields("MachineClass", small)).toEqual([]);
  });

  it("suggests a sibling with a similar name", () => {
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSruge: 1 } };
    expect(unknownFields("MachineDeployment", pool({ strategy }))).toEqual([
      {
        path: "spec.strategy.rollingUpdate.maxSruge",
        message:
          "is not a field of MachineDeployment, and the API server rejects it: did you mean spec.strategy.rollingUpdate.maxSurge?",
        kind: "forbidden",
      },
    ]);
  });

  it("suggests the right places of a misplaced field", () => {
    expect(remediesFor("MachineDeployment", pool({ drainTimeout: "1h", strategy: { maxSurge: 1 } }))).toEqual([
      "spec.drainTimeout: did you mean spec.template.spec.drainTimeout?",
      "spec.strategy.maxSurge: did you mean spec.strategy.inPlaceUpdate.maxSurge or spec.strategy.rollingUpdate.maxSurge?",
    ]);
    expect(remediesFor("MachineDeployment", pool({ color: "red" }))).toEqual(["spec.color: remove it"]);
  });

  it("looks into lists, metadata and the object itself", () => {
    const expressions = [
      { key: "a", operator: "Exists" },
      { key: "a", operater: "Exists" },
    ];
    const { spec, ...rest } = pool({ selector: { matchExpressions: expressions } }, { lables: {} });
    expect(remediesFor("MachineDeployment", { ...rest, spec, specs: {} })).toEqual([
      "metadata.lables: did you mean metadata.labels?",
      "spec.selector.matchExpressions[1].operater: did you mean spec.selector.matchExpressions[1].operator?",
      "specs: did you mean spec?",
    ]);
  });

  it("accepts any fields in driver specs, template metadata, labels and annotations", () => {
    const any = { anything: { at: ["all"] } };
    const metadata = { name: "x", labels: { any: "x" }, annotations: { any: "x" }, managedFields: [any] };
    expect(unknownFields("MachineClass", { metadata, providerSpec: any, nodeTemplate: any })).toEqual([]);
    const template = { metadata: any, spec: { nodeTemplate: { metadata: any } } };
    expect(unknownFields("MachineSet", { metadata, spec: { template } })).toEqual([]);
  });

  it("ignores fields of the wrong type, which the reader of the object reports", () => {
    const raw = { metadata: "x", spec: { replicas: { a: 1 }, template: [{ a: 1 }], selector: "x" } };
    expect(unknownFields("MachineDeployment", raw)).toEqual([]);
  });

  it("does not take a property of every object for a field", () => {
    const names = ["constructor", "toString", "hasOwnProperty"];
    const raw = { spec: Object.fromEntries(names.map((name) => [name, 1])) };
    expect(unknownFields("MachineDeployment", raw).map(({ path }) => path)).toEqual(
      names.map((name) => `spec.${name}`),
    );
  });

  it("stops after twenty, for any number of fields and any length of their names", () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `${"x".repeat(200)}${index}`);
    const problems = unknownFields("Machine", { spec: Object.fromEntries(names.map((name) => [name, 1])) });
    expect(problems).toHaveLength(20);
    expect(problems.every(({ message }) => message.endsWith("remove it"))).toBe(true);
  });

  it.each(["Machine", "MachineClass", "MachineDeployment", "MachineSet"] as const)("knows %s", (kind) => {
    expect(unknownFields(kind, { apiVersion: machineApiVersion, kind, x: 1 })).toHaveLength(1);
  });
});
