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
