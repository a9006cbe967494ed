import { crds, deletionProtectionPolicy } from "@millwright/core";

/** Prints objects: one YAML document each, or one JSON list that `kubectl apply -f -` takes. */
export async function printObjects(items: readonly object[], output: "yaml" | "json"): Promise<void> {
  if (output === "json") {
    process.stdout.write(`${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 2)}\n`);
    return;
  }
  const { stringify } = await import("yaml");
  process.stdout.write(
    items.map((item) => `---\n${stringify(item, { aliasDuplicateObjects: false, lineWidth: 0 })}`).join(""),
  );
}

/** Prints the four CustomResourceDefinitions. */
export const printCrds = (output: "yaml" | "json"): Promise<void> => printObjects(crds(), output);

/** Prints the ValidatingAdmissionPolicy of deletion protection and its binding. */
export const printAdmission = (output: "yaml" | "json"): Promise<void> =>
  printObjects(deletionProtectionPolicy(), output);
