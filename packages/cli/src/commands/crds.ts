import { crds } from "@millwright/core";

/** Prints the four CustomResourceDefinitions: one YAML document each, or one JSON list that `kubectl apply -f -` takes. */
export async function printCrds(output: "yaml" | "json"): Promise<void> {
  if (output === "json") {
    process.stdout.write(`${JSON.stringify({ apiVersion: "v1", kind: "List", items: crds() }, undefined, 2)}\n`);
    return;
  }
  const { stringify } = await import("yaml");
  process.stdout.write(
    crds()
      .map((crd) => `---\n${stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
      .join(""),
  );
}
