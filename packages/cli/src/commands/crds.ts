import { crds, deletionBudgetPolicy, deletionProtectionPolicy } from "@millwright/core/machine-api";

/** Objects as text: one YAML document each, or one JSON list that `kubectl apply -f -` takes. */
export async function textOfObjects(items: readonly object[], output: "yaml" | "json"): Promise<string> {
  if (output === "json") return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`;
  const { toYaml } = await import("@millwright/kube/yaml");
  return items.map((item) => `---\n${toYaml(item)}`).join("");
}

/** Prints them. */
export async function printObjects(items: readonly object[], output: "yaml" | "json"): Promise<void> {
  process.stdout.write(await textOfObjects(items, output));
}

/** Prints the four CustomResourceDefinitions. */
export const printCrds = (output: "yaml" | "json"): Promise<void> => printObjects(crds(), output);

/** Prints the ValidatingAdmissionPolicies with their bindings. */
export const printAdmission = (output: "yaml" | "json"): Promise<void> =>
  printObjects([...deletionProtectionPolicy(), ...deletionBudgetPolicy()], output);
