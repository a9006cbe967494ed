import { type MachineSet, readMachineSet } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aMachineSet } from "../testing/builders.ts";
import { problemsOf, readInto, shapeProblemsOf } from "./readable.ts";

const read = readInto(readMachineSet, (metadata): MachineSet => ({ metadata, spec: { template: { spec: {} } } }));
const set = aMachineSet({ status: { replicas: 2 } });
/** What an API server with a laxer schema may hand out. */
const misshapen = (part: object): MachineSet => ({ ...set, ...part });

describe("readInto", () => {
  it("keeps an object that can be read, without unused fields", () => {
    expect(read(set)).toEqual(set);
    expect(shapeProblemsOf(read(set))).toEqual([]);
    const managed = { ...set, metadata: { ...set.metadata, managedFields: [{}] } };
    expect(read(managed).metadata).not.toHaveProperty("managedFields");
  });

  it("keeps the metadata and status of an object that cannot be read, and nothing of its spec", () => {
    const placeholder = read(misshapen({ spec: { ...set.spec, replicas: "three" } }));
    expect(placeholder).toEqual({
      apiVersion: set.apiVersion,
      kind: "MachineSet",
      metadata: set.metadata,
      spec: { template: { spec: {} } },
      status: { replicas: 2 },
    });
    expect(shapeProblemsOf(placeholder)).toMatchObject([{ path: "spec.replicas" }]);
  });

  it("keeps nothing but the metadata when the status cannot be read either", () => {
    const placeholder = read(misshapen({ status: { replicas: "two" } }));
    expect(placeholder).toEqual({ metadata: set.metadata, spec: { template: { spec: {} } } });
    expect(shapeProblemsOf(placeholder)).toMatchObject([{ path: "status.replicas" }]);
  });

  it("keeps of unreadable metadata what can be read, however deeply the rest is nested", () => {
    const deep: unknown = JSON.parse("[".repeat(20_000) + "]".repeat(20_000));
    const metadata = { ...set.metadata, labels: { a: 7 }, annotations: deep, finalizers: ["x"], ownerReferences: deep };
    const placeholder = read(misshapen({ metadata, spec: { ...set.spec, replicas: "three" } }));
    const { labels: _, annotations: __, ownerReferences: ___, ...good } = set.metadata;
    expect(placeholder.metadata).toEqual({ ...good, finalizers: ["x"] });
    expect(shapeProblemsOf(placeholder)).not.toEqual([]);
  });

  it("reads an object without a status", () => {
    const { status: _, ...young } = set;
    expect(read({ ...young, spec: { ...set.spec, replicas: 1.5 } })).not.toHaveProperty("status");
  });
});

describe("problemsOf", () => {
  it("are those of the shape when there are any, for there is nothing to validate then", () => {
    const problem = { path: "spec", message: "is odd", kind: "invalid" } as const;
    expect(problemsOf(read(set), () => [problem])).toEqual([problem]);
    expect(problemsOf(read(misshapen({ spec: { replicas: "three" } })), () => [problem])).toMatchObject([
      { path: "spec.replicas" },
    ]);
  });
});
