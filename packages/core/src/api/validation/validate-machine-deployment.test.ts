import { describe, expect, it } from "vitest";
import { withMachineDeploymentDefaults } from "../kinds/defaults.ts";
import type { MachineDeployment, MachineDeploymentStrategy } from "../kinds/machine-deployment.ts";
import { validateMachineDeployment } from "./validate-machine-deployment.ts";

type Spec = MachineDeployment["spec"];

const good: Spec = {
  replicas: 3,
  selector: { matchLabels: { name: "w" } },
  template: {
    metadata: { labels: { name: "w", more: "x" } },
    spec: { class: { kind: "MachineClass", name: "w-4f1a2" } },
  },
};

/** A template as kubectl exports it from a set. */
const exported: Spec["template"] = {
  metadata: { labels: { name: "w", more: "x", "machine-template-hash": "123" } },
  spec: good.template.spec,
};

describe("validateMachineDeployment", () => {
  it("accepts a deployment with defaults left open", () => {
    expect(problems({})).toEqual([]);
  });

  it("accepts what Gardener writes", () => {
    const strategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 0 } };
    expect(problems({ minReadySeconds: 500, strategy })).toEqual([]);
  });

  it("accepts a long name as Gardener makes them, and refuses one that leaves no room for a set's", () => {
    expect(validateMachineDeployment({ metadata: { name: "w".repeat(247) }, spec: good })).toEqual([]);
    expect(validateMachineDeployment({ metadata: { name: "w".repeat(248) }, spec: good })).toEqual([
      { path: "metadata.name", message: expect.stringContaining("at most 247"), kind: "tooLong" },
    ]);
  });

  it.each(["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds", "autoPreserveFailedMachineMax"])(
    "refuses a negative, broken or too great %s",
    (field) => {
      for (const value of [-1, 1.5, 2 ** 31, Number.NaN]) {
        expect(problems({ [field]: value })).toEqual([
          {
            path: `spec.${field}`,
            message: `must be a whole number from 0 to 2147483647, is ${value}`,
            kind: "invalid",
          },
        ]);
      }
      expect(problems({ [field]: 0 })).toEqual([]);
    },
  );

  it("accepts revision 0 for a rollback and refuses a negative one", () => {
    expect(problems({ rollbackTo: { revision: 0 } })).toEqual([]);
    expect(problems({ rollbackTo: { revision: -1 } })).toMatchObject([{ path: "spec.rollbackTo.revision" }]);
  });

  it.each<[string, MachineDeploymentStrategy]>([
    ["spec.strategy.type", { type: "OnDelete" }],
    ["spec.strategy.type", { type: "rollingUpdate" }],
    ["spec.strategy.rollingUpdate.maxSurge", { rollingUpdate: { maxSurge: -1 } }],
    ["spec.strategy.rollingUpdate.maxSurge", { rollingUpdate: { maxSurge: "5" } }],
    ["spec.strategy.rollingUpdate.maxSurge", { rollingUpdate: { maxSurge: 0.5 } }],
    ["spec.strategy.rollingUpdate.maxUnavailable", { rollingUpdate: { maxUnavailable: "-5%" } }],
    ["spec.strategy.rollingUpdate.maxUnavailable", { rollingUpdate: { maxSurge: 0, maxUnavailable: "all" } }],
    ["spec.strategy.rollingUpdate", { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } }],
    ["spec.strategy.rollingUpdate", { type: "RollingUpdate", rollingUpdate: { maxSurge: "0%", maxUnavailable: 0 } }],
    [
      "spec.strategy.inPlaceUpdate",
      { type: "InPlaceUpdate", inPlaceUpdate: { maxSurge: 0, maxUnavailable: 0, orchestrationType: "Auto" } },
    ],
    ["spec.strategy.inPlaceUpdate.orchestrationType", { type: "InPlaceUpdate" }],
    [
      "spec.strategy.inPlaceUpdate.orchestrationType",
      { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "auto" } },
    ],
  ])("points at %s for the strategy %j", (path, strategy) => {
    expect(problems({ strategy })).toMatchObject([{ path }]);
  });

  it("accepts every strategy that defaulting can complete", () => {
    const strategies: MachineDeploymentStrategy[] = [
      {},
      { type: "" },
      { type: "Recreate", rollingUpdate: { maxSurge: -1 } },
      { rollingUpdate: { maxSurge: 0 } },
      { type: "InPlaceUpdate", inPlaceUpdate: { orchestrationType: "Manual" } },
    ];
    for (const strategy of strategies) {
      const spec = { ...good, strategy };
      expect(validateMachineDeployment({ metadata: { name: "d" }, spec })).toEqual([]);
      expect(() => withMachineDeploymentDefaults({ metadata: { name: "d" }, spec })).not.toThrow();
    }
  });

  it("reports a missing selector instead of falling over it", () => {
    const { selector: _, ...spec } = good;
    expect(validateMachineDeployment({ metadata: { name: "d" }, spec })).toEqual([
      { path: "spec.selector", message: expect.stringContaining("is required"), kind: "required" },
    ]);
  });

  it.each([{}, { matchLabels: {} }, { matchExpressions: [] }])(
    "refuses the selector %j, which selects everything",
    (selector) => {
      expect(problems({ selector })).toMatchObject([
        { path: "spec.selector", message: expect.stringContaining("every machine") },
      ]);
    },
  );

  it("refuses a selector that does not match the template, expressions included", () => {
    const selector = {
      matchLabels: { name: "other" },
      matchExpressions: [{ key: "more", operator: "NotIn", values: ["x"] }],
    };
    expect(problems({ selector })).toEqual([
      {
        path: "spec.selector",
        message: "must match spec.template.metadata.labels, which do not fulfill name=other and more NotIn (x)",
        kind: "invalid",
      },
    ]);
  });

  it.each<NonNullable<Spec["selector"]>>([
    { matchLabels: { name: "w", "machine-template-hash": "123" } },
    {
      matchLabels: { name: "w" },
      matchExpressions: [{ key: "machine-template-hash", operator: "NotIn", values: ["4"] }],
    },
  ])("refuses the selector %j, which its own MachineSets would not match", (selector) => {
    expect(problems({ selector, template: exported })).toEqual([
      {
        path: "spec.selector",
        message: "must not require a value of label machine-template-hash: each MachineSet gets its own",
        kind: "invalid",
      },
    ]);
  });

  it("refuses a selector of sets without a template hash", () => {
    const matchExpressions = [{ key: "machine-template-hash", operator: "DoesNotExist" }];
    expect(problems({ selector: { matchLabels: { name: "w" }, matchExpressions } })).toMatchObject([
      { path: "spec.selector" },
    ]);
  });

  it("accepts a template hash among the labels of an exported template, and a selector of sets that have any", () => {
    expect(problems({ template: exported })).toEqual([]);
    const matchExpressions = [{ key: "machine-template-hash", operator: "Exists" }];
    expect(problems({ template: exported, selector: { matchLabels: { name: "w" }, matchExpressions } })).toEqual([]);
  });

  it("refuses a selector that does not parse", () => {
    expect(problems({ selector: { matchExpressions: [{ key: "name", operator: "Is" }] } })).toMatchObject([
      { path: "spec.selector.matchExpressions[0].operator", kind: "notSupported" },
    ]);
  });

  it("refuses a template whose machines the API server would refuse", () => {
    const template = {
      metadata: { labels: { name: "w", bad: "two words" }, annotations: { "a b": "" }, finalizers: ["-"] },
      spec: good.template.spec,
    };
    expect(problems({ template }).map(({ path }) => path)).toEqual([
      "spec.template.metadata.labels.bad",
      "spec.template.metadata.annotations[a b]",
      "spec.template.metadata.finalizers[0]",
    ]);
  });

  it("names the field of a list of startup taints that cannot be read, and what it must contain", () => {
    const annotations = { "machine.millwright.dev/startup-taints": "gpu=pending:NoSchedule" };
    const template = { metadata: { labels: { name: "w" }, annotations }, spec: good.template.spec };
    const [problem] = problems({ template });
    expect(problem?.path).toBe("spec.template.metadata.annotations[machine.millwright.dev/startup-taints]");
    expect(problem?.message).toContain("must list keys of taints without value and effect");
  });

  it("reports all problems in the order of the fields", () => {
    const found = validateMachineDeployment({
      metadata: { name: "d" },
      spec: { replicas: -1, strategy: { type: "x" }, selector: {}, template: { spec: { drainTimeout: "soon" } } },
    });
    expect(found.map(({ path }) => path)).toEqual([
      "spec.replicas",
      "spec.strategy.type",
      "spec.selector",
      "spec.template.spec.class.kind",
      "spec.template.spec.class.name",
      "spec.template.spec.drainTimeout",
    ]);
  });

  it.each([-1, 1.5, 100_001, 1e9, 2 ** 31, Number.NaN])("rejects %d replicas", (replicas) => {
    expect(problems({ replicas })).toEqual([
      { path: "spec.replicas", message: `must be a whole number from 0 to 100000, is ${replicas}`, kind: "invalid" },
    ]);
    expect(problems({ replicas: 100_000 })).toEqual([]);
  });

  it("does not put a text of any length into a message", () => {
    const [problem] = problems({ strategy: { type: "x".repeat(100_000) } });
    expect(problem?.message.length).toBeLessThan(200);
  });
});

function problems(change: Partial<Spec>) {
  return validateMachineDeployment({ metadata: { name: "d" }, spec: { ...good, ...change } });
}
