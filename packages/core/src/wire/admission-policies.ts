import { annotationKeys } from "./annotations.ts";
import { goTrueTexts } from "./go-boolean.ts";

/** A ValidatingAdmissionPolicy of `admissionregistration.k8s.io/v1`, or its binding; plain JSON. */
export interface AdmissionObject {
  readonly apiVersion: "admissionregistration.k8s.io/v1";
  readonly kind: "ValidatingAdmissionPolicy" | "ValidatingAdmissionPolicyBinding";
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

const name = "millwright-deletion-protection";
const key = annotationKeys.deletionProtection;

const apiVersion = "admissionregistration.k8s.io/v1";

/**
 * A ValidatingAdmissionPolicy and its binding, with which the API server refuses to delete protected Machines and MachineDeployments, whether a user, the garbage collector or the deletion
 * of a namespace requests it. Needs Kubernetes 1.30. Without it the controllers keep the VMs of such objects all the same, but a deletion that was requested cannot be taken back.
 */
export const deletionProtectionPolicy = (): readonly AdmissionObject[] => [
  {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name },
    spec: {
      failurePolicy: "Fail",
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ["machine.sapcloud.io"],
            apiVersions: ["*"],
            operations: ["DELETE"],
            resources: ["machines", "machinedeployments"],
          },
        ],
      },
      validations: [
        {
          expression: `!has(oldObject.metadata.annotations) || !("${key}" in oldObject.metadata.annotations) || !(oldObject.metadata.annotations["${key}"] in ${JSON.stringify(goTrueTexts)})`,
          messageExpression: `oldObject.kind + " " + oldObject.metadata.name + " is protected from deletion. To delete it, first remove its annotation ${key}"`,
          reason: "Forbidden",
        },
      ],
    },
  },
  {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name },
    spec: { policyName: name, validationActions: ["Deny"] },
  },
];

const budgetName = "millwright-deletion-budget";
const { approveDeletions, maxDeletionShare } = annotationKeys;

/** Share of the machines that may be deleted within an hour without an approval, in percent: the default of the flag. */
const DEFAULT_SHARE = 50;

/** An annotation of the object, or an empty text. A Scale has none of its object. */
const annotation = (key: string): string =>
  `!variables.isScale && has(variables.current.metadata.annotations) && "${key}" in variables.current.metadata.annotations ? variables.current.metadata.annotations["${key}"] : ""`;

const ownShare = `variables.own.matches("^([1-9][0-9]?|100)%?$")`;

/** In the order in which they refer to each other. The chart sets the first one to the value of the flag. */
const variables: readonly (readonly [name: string, expression: string])[] = [
  ["share", String(DEFAULT_SHARE)],
  ["isDeletion", 'request.operation == "DELETE"'],
  ["isScale", 'has(request.subResource) && request.subResource == "scale"'],
  ["current", "variables.isDeletion ? oldObject : object"],
  ["own", annotation(maxDeletionShare)],
  ["approval", annotation(approveDeletions)],
  ["noun", 'request.resource.resource == "machinesets" ? "set" : "deployment"'],
  ["kind", 'variables.noun == "set" ? "MachineSet" : "MachineDeployment"'],
  // Its deployment scales it, and the deployment has the warning.
  [
    "isOwned",
    "has(oldObject.metadata.ownerReferences) && oldObject.metadata.ownerReferences.exists(o, has(o.controller) && o.controller)",
  ],
  [
    "inService",
    "!has(oldObject.status) ? 0 : variables.isScale ? (has(oldObject.status.replicas) ? oldObject.status.replicas : 0) : has(oldObject.status.availableReplicas) ? oldObject.status.availableReplicas : 0",
  ],
  ["before", "has(oldObject.spec.replicas) ? oldObject.spec.replicas : 0"],
  ["wanted", "variables.isDeletion || !has(object.spec.replicas) ? 0 : object.spec.replicas"],
  // A Scale to 0 has no replicas; an object without them leaves its size to an autoscaler.
  [
    "isSmaller",
    "variables.isDeletion || (variables.wanted < variables.before && (variables.isScale || has(object.spec.replicas)))",
  ],
  ["gone", "variables.isSmaller && !variables.isOwned ? variables.inService - variables.wanted : 0"],
  ["percent", `${ownShare} ? int(variables.own.replace("%", "")) : variables.share`],
  ["limit", "variables.percent * variables.inService / 100 > 10 ? variables.percent * variables.inService / 100 : 10"],
];

/** The sentences of the warning. */
const message: readonly string[] = [
  '"Deletion of " + string(variables.gone) + " machines exceeds the deletion budget: at most " + string(variables.limit) + " of " + string(variables.inService) + " machines of " + variables.kind + " " + request.name + " may be lost within an hour. "',
  '(variables.isDeletion ? "The deletion cannot be taken back; nothing of it is deleted" : "Nothing of it is deleted")',
  '" until it is approved by \\"millwright approve " + variables.noun + " " + request.name + " -n " + request.namespace + "\\""',
  `(variables.isScale ? ", unless its annotation ${maxDeletionShare} or ${approveDeletions} allows it" : variables.approval == "" ? "" : ", unless its annotation ${approveDeletions} still approves it: " + variables.approval)`,
];

/**
 * A ValidatingAdmissionPolicy and its binding, with which the API server warns each client that scales down or deletes more than the deletion budget allows, at once and also in a dry run. It refuses nothing: the controllers hold such
 * deletions, and know what was deleted before. Needs Kubernetes 1.30.
 */
export const deletionBudgetPolicy = (): readonly AdmissionObject[] => [
  {
    apiVersion,
    kind: "ValidatingAdmissionPolicy",
    metadata: { name: budgetName },
    spec: {
      failurePolicy: "Ignore",
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ["machine.sapcloud.io"],
            apiVersions: ["*"],
            operations: ["UPDATE", "DELETE"],
            resources: ["machinedeployments", "machinedeployments/scale", "machinesets", "machinesets/scale"],
          },
        ],
      },
      variables: variables.map(([each, expression]) => ({ name: each, expression })),
      validations: [{ expression: "variables.gone <= variables.limit", messageExpression: message.join(" + ") }],
    },
  },
  {
    apiVersion,
    kind: "ValidatingAdmissionPolicyBinding",
    metadata: { name: budgetName },
    spec: { policyName: budgetName, validationActions: ["Warn"] },
  },
];
