import type { MachineClass, NodeTemplate, SecretReference } from "../kinds/machine-class.ts";
import { joinPath, type FieldProblem, quoted } from "../problems/field-problem.ts";
import { quantityPattern } from "../schema/fields.ts";
import { requiredText } from "./validate-fields.ts";

/** Resources that the capacity of a node template must name. Source: MCM, `pkg/util/provider/machinecontroller/machine_util.go` ValidateMachineClass. */
const mandatoryResources = ["cpu", "gpu", "memory"] as const;

const quantity = new RegExp(quantityPattern);

/**
 * Problems that keep machines of a class from being made; empty for a good one. The provider spec is the driver's to check.
 * Source: MCM, `pkg/apis/machine/v1alpha1/machineclass_types.go`; MCM, `pkg/util/provider/machinecontroller/machine_util.go` ValidateMachineClass.
 */
export function validateMachineClass(machineClass: MachineClass): readonly FieldProblem[] {
  return [
    ...requiredText(machineClass.provider, "provider", "the name of the driver that creates the machines"),
    ...secretProblems(machineClass),
    ...(machineClass.nodeTemplate ? nodeTemplateProblems(machineClass.nodeTemplate) : []),
  ];
}

function secretProblems({ metadata, secretRef, credentialsSecretRef }: MachineClass): FieldProblem[] {
  if (!secretRef && !credentialsSecretRef) {
    const message = "is required: the Secret with the key userData, which every machine needs to boot";
    return [{ path: "secretRef", message, kind: "required" }];
  }
  return [
    ...(secretRef ? referenceProblems(secretRef, metadata.namespace, "secretRef") : []),
    ...(credentialsSecretRef
      ? referenceProblems(credentialsSecretRef, metadata.namespace, "credentialsSecretRef")
      : []),
  ];
}

/** Secrets are read from the namespace of the class only. */
function referenceProblems(reference: SecretReference, namespace: string | undefined, path: string): FieldProblem[] {
  const elsewhere = namespace && reference.namespace !== namespace ? reference.namespace : undefined;
  return [
    ...requiredText(reference.name, `${path}.name`, "the name of a Secret"),
    ...(elsewhere
      ? [
          {
            path: `${path}.namespace`,
            message: `must be the namespace of the class, ${namespace}, is ${quoted(elsewhere)}`,
            kind: "invalid" as const,
          },
        ]
      : []),
  ];
}

function nodeTemplateProblems(template: NodeTemplate): FieldProblem[] {
  const missing = mandatoryResources
    .filter((name) => !Object.hasOwn(template.capacity, name))
    .map((name) => ({
      path: `nodeTemplate.capacity.${name}`,
      message: "is required: a node template names cpu, gpu and memory, 0 for none",
      kind: "required" as const,
    }));
  return [
    ...missing,
    ...quantityProblems(template.capacity, "nodeTemplate.capacity"),
    ...quantityProblems(template.virtualCapacity ?? {}, "nodeTemplate.virtualCapacity"),
    ...requiredText(template.instanceType, "nodeTemplate.instanceType", "the instance type of the VMs"),
    ...requiredText(template.region, "nodeTemplate.region", "the region of the VMs"),
    ...requiredText(template.zone, "nodeTemplate.zone", "the zone of the VMs"),
  ];
}

function quantityProblems(amounts: Readonly<Record<string, number | string>>, path: string): FieldProblem[] {
  return Object.entries(amounts)
    .filter(([, amount]) => !isAmount(String(amount)))
    .map(([name, amount]) => ({
      path: joinPath(path, name),
      message: `must be a quantity of zero or more such as 4, 500m or 16Gi, is ${quoted(String(amount))}`,
      kind: "invalid" as const,
    }));
}

function isAmount(amount: string): boolean {
  return amount.length <= 64 && !amount.startsWith("-") && quantity.test(amount);
}
