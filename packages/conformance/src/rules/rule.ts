import type { DriverCapabilities } from "@millwright/core";

/** Levels of conformance, the lowest first. Each includes those before it. */
export const conformanceLevels = ["bronze", "silver", "gold"] as const;

/** A level of conformance. */
export type ConformanceLevel = (typeof conformanceLevels)[number];

/** Properties of clouds that some do not have, and what each means. A fixture declares those that its cloud lacks (`lacks`). */
export const cloudTraits = {
  endpoint: "The driver reaches its cloud over HTTP at an address that can be replaced.",
  credentials: "Calls are authenticated with values of the class secret.",
  tags: "VMs have tags or labels that other clients can read.",
  classTags: "The class can add tags to VMs.",
  references: "The class names things that may be missing, such as an image or a subnet.",
  quota: "Creations can fail for lack of quota or capacity.",
  duplicateVms: "Two VMs can have the tags of one machine.",
  otherClusters: "VMs of several clusters are in one account.",
  pages: "Lists come in pages.",
  parts: "A VM has other resources, such as disks, that can remain without it.",
  dataVolumes: "Volumes can be attached to a VM after its creation.",
  terminatingState: "A VM that is being deleted differs from one that was stopped.",
  terminationProtection: "A VM can be protected against deletion.",
  specHash: "A VM can be compared with the class that it was created from.",
} as const;

/** Name of a property of clouds that some do not have. */
export type CloudTrait = keyof typeof cloudTraits;

/** Parts of the contract, in the order of the contract page. */
export const ruleAreas = [
  "driver",
  "spec",
  "secret",
  "create",
  "node",
  "status",
  "delete",
  "list",
  "initialize",
  "volumes",
  "drift",
  "template",
  "class-check",
  "pending",
  "calls",
  "errors",
  "secrets",
  "network",
  "load",
  "run",
] as const;

/** A part of the contract: the first part of the ids of its rules. */
export type RuleArea = (typeof ruleAreas)[number];

/** One rule of the driver contract, and the head of its check. */
export interface ContractRule {
  /** Stable: `create.repeat-returns-same-vm`. Never used again for another rule. */
  readonly id: `${RuleArea}.${string}`;
  /** The rule as a claim of at most 10 words. */
  readonly title: string;
  /** A driver that violates a mandatory rule does not conform. Others are required for a higher level only. */
  readonly mandatory: boolean;
  /** The lowest level that requires the rule. */
  readonly level: ConformanceLevel;
  /** The rule holds for drivers with this capability only. */
  readonly capability?: keyof DriverCapabilities;
  /** The rule holds for clouds with this property only. */
  readonly trait?: CloudTrait;
  /** What drivers must do, and why. */
  readonly text: string;
}

/** A subject that other driver contracts have, and this one does not. */
export interface ExcludedSubject {
  readonly subject: string;
  readonly reason: string;
}
