import { describe, expect, it } from "vitest";
import type { MachineSpec } from "../kinds/machine-spec.ts";
import { validateMachineSet } from "./validate-machine-set.ts";
import { validateMachine } from "./validate-machine.ts";

const good: MachineSpec = { class: { kind: "MachineClass", name: "c" } };

describe("validateMachine", () => {
  it("accepts a machine with a class reference and nothing else", () => {
    expect(problems({})).toEqual([]);
  });

  it("requires kind and name of the class", () => {
    expect(validateMachine({ metadata: { name: "m" }, spec: {} })).toMatchObject([
      { path: "spec.class.kind", kind: "required" },
      { path: "spec.class.name", kind: "required" },
    ]);
    expect(problems({ class: { kind: "MachineClass", name: "" } })).toMatchObject([{ path: "spec.class.name" }]);
  });

  it("refuses rules of a drain that cannot be read, before years later a drain ignores them", () => {
    const withRules = (text: string) =>
      validateMachine({
        metadata: { name: "m", annotations: { "machine.millwright.dev/drain-rules": text } },
        spec: good,
      });
    expect(withRules('[{"behavior":"Skip"}]')).toEqual([]);
    expect(withRules('[{"behavior":"Stay"}]')).toMatchObject([
      { path: "metadata.annotations[machine.millwright.dev/drain-rules][0].behavior" },
    ]);
  });

  it("refuses a class of another kind", () => {
    expect(problems({ class: { kind: "AWSMachineClass", name: "c" } })).toEqual([
      { path: "spec.class.kind", message: 'must be MachineClass, is "AWSMachineClass"', kind: "notSupported" },
    ]);
  });

  it.each(["creationTimeout", "drainTimeout", "healthTimeout", "inPlaceUpdateTimeout", "machinePreserveTimeout"])(
    "refuses a %s that is no duration",
    (field) => {
      for (const value of ["20", "-1m", "", "soon"]) {
        expect(problems({ [field]: value })).toEqual([
          {
            path: `spec.${field}`,
            message: `must be a duration of zero or more such as 90s, 20m or 1h30m, is "${value}"`,
            kind: "invalid",
          },
        ]);
      }
      expect(problems({ [field]: "1h30m" })).toEqual([]);
    },
  );

  it("refuses negative eviction retries", () => {
    expect(problems({ maxEvictRetries: -1 })).toMatchObject([{ path: "spec.maxEvictRetries" }]);
  });

  it("refuses labels and taints that no Node can have", () => {
    const nodeTemplate = {
      metadata: { labels: { "Upper.Case/x": "1" } },
      spec: {
        taints: [
          { key: "k", effect: "NoSchedule" },
          { key: "", value: "a b", effect: "noexecute" },
        ],
      },
    };
    expect(problems({ nodeTemplate }).map(({ path }) => path)).toEqual([
      "spec.nodeTemplate.metadata.labels[Upper.Case/x]",
      "spec.nodeTemplate.spec.taints[1].key",
      "spec.nodeTemplate.spec.taints[1].value",
      "spec.nodeTemplate.spec.taints[1].effect",
    ]);
  });

  it("refuses a name that does not fit into a label of the Node", () => {
    expect(validateMachine({ metadata: { name: "m".repeat(63) }, spec: good })).toEqual([]);
    expect(validateMachine({ metadata: { name: "m".repeat(64) }, spec: good })).toMatchObject([
      { path: "metadata.name", kind: "tooLong" },
    ]);
  });
});

describe("validateMachineSet", () => {
  const template = { metadata: { labels: { a: "1" } }, spec: good };

  it("accepts a set whose selector matches its template", () => {
    const spec = { replicas: 2, selector: { matchLabels: { a: "1" } }, template };
    expect(validateMachineSet({ metadata: { name: "s" }, spec })).toEqual([]);
  });

  it("reports numbers, selector and template", () => {
    const spec = { replicas: -2, selector: { matchLabels: { b: "1" } }, template: { spec: {} } };
    expect(validateMachineSet({ metadata: { name: "s" }, spec }).map(({ path }) => path)).toEqual([
      "spec.replicas",
      "spec.selector",
      "spec.template.spec.class.kind",
      "spec.template.spec.class.name",
    ]);
  });

  it("refuses to adopt every machine of the namespace", () => {
    expect(validateMachineSet({ metadata: { name: "s" }, spec: { template, selector: {} } })).toMatchObject([
      { path: "spec.selector", message: expect.stringContaining("every machine") },
    ]);
    expect(validateMachineSet({ metadata: { name: "s" }, spec: { template } })).toMatchObject([
      { path: "spec.selector", kind: "required" },
    ]);
  });
});

function problems(change: Partial<MachineSpec>) {
  return validateMachine({ metadata: { name: "m" }, spec: { ...good, ...change } });
}
