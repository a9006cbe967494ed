/** What a workspace may import from other workspaces of this repository (docs/architecture.md). */
export interface ImportRule {
  /** Workspaces whose code is loaded together with this one. */
  readonly always: readonly string[];
  /** Workspaces that may only be loaded by a dynamic `import()`, when they are needed. */
  readonly lazily?: readonly string[];
  /** Workspaces that only its tests may load. */
  readonly inTests?: readonly string[];
}

/** Folder of each workspace, relative to the root, and its rule. A workspace that is missing here fails the check. */
export const importRules: Readonly<Record<string, ImportRule>> = {
  "packages/base": { always: [] },
  "packages/core": { always: ["@millwright/base"] },
  "packages/kube": { always: ["@millwright/base"] },
  "packages/controllers": { always: ["@millwright/base", "@millwright/core", "@millwright/kube"] },
  "packages/devcluster": { always: ["@millwright/base", "@millwright/kube"] },
  "packages/runtime": {
    always: ["@millwright/base", "@millwright/core", "@millwright/kube", "@millwright/controllers"],
  },
  "packages/plan": {
    always: [
      "@millwright/base",
      "@millwright/core",
      "@millwright/kube",
      "@millwright/controllers",
      "@millwright/runtime",
    ],
  },
  "packages/dashboard": { always: ["@millwright/base", "@millwright/core", "@millwright/kube"] },
  "packages/autoscaler-grpc": { always: ["@millwright/base", "@millwright/core", "@millwright/kube"] },
  "packages/tracing": { always: ["@millwright/base", "@millwright/core"] },
  "packages/driver-rpc": { always: ["@millwright/base", "@millwright/core"] },
  "packages/conformance": { always: ["@millwright/base", "@millwright/core"] },
  "packages/create-driver": { always: [] },
  "packages/cli": {
    always: ["@millwright/base", "@millwright/core", "@millwright/kube"],
    lazily: [
      "@millwright/runtime",
      "@millwright/plan",
      "@millwright/conformance",
      "@millwright/devcluster",
      "@millwright/driver-rpc",
      "@millwright/provider-mock",
      "@millwright/tracing",
      "@millwright/dashboard",
      "@millwright/autoscaler-grpc",
    ],
  },
  "providers/mock": { always: ["@millwright/core"], inTests: ["@millwright/conformance"] },
  "providers/aws": { always: ["@millwright/core"], inTests: ["@millwright/emulators"] },
  "providers/gcp": { always: ["@millwright/core"], inTests: ["@millwright/emulators"] },
  "providers/azure": { always: ["@millwright/core"], inTests: ["@millwright/emulators"] },
  "providers/qemu": { always: ["@millwright/core"] },
};

/** One import as it stands in a file. */
export interface FoundImport {
  /** File relative to the root, with forward slashes. */
  readonly file: string;
  readonly line: number;
  readonly specifier: string;
  /** `static` is loaded with the file, `dynamic` by `import()`, `type` is erased. */
  readonly kind: "static" | "dynamic" | "type";
}

const workspaceOf = (file: string): string | undefined =>
  Object.keys(importRules).find((w) => file.startsWith(`${w}/`));

/** Whether a file is not published: a test, or shared by tests. */
export const isTestFile = (file: string): boolean => file.endsWith(".test.ts") || file.includes("/testing/");

const packageName = (specifier: string): string => specifier.split("/").slice(0, 2).join("/");

/** Why an import breaks the rules, or `undefined` when it does not. */
export function problemOf(found: FoundImport, ownName: (workspace: string) => string): string | undefined {
  const workspace = workspaceOf(found.file);
  if (workspace === undefined) return undefined;
  if (found.specifier.startsWith(".")) {
    const target = new URL(found.specifier, `file:///${found.file}`).pathname.slice(1);
    return target.startsWith(`${workspace}/`) ? undefined : `leaves its package; import the other package by name`;
  }
  if (!found.specifier.startsWith("@millwright/")) return undefined;
  const name = packageName(found.specifier);
  if (name === ownName(workspace)) return `imports its own package by name; use a relative path`;
  const rule = importRules[workspace];
  if (rule === undefined || rule.always.includes(name)) return undefined;
  if (isTestFile(found.file) && rule.inTests?.includes(name) === true) return undefined;
  if (rule.lazily?.includes(name) === true) {
    const isTest = found.file.endsWith(".test.ts");
    return found.kind === "static" && !isTest ? `may load ${name} only by import() when it is needed` : undefined;
  }
  return `may not import ${name} (tools/imports/import-rules.ts holds the table)`;
}
