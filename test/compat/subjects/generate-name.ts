import { post, subject } from "../request-script.ts";
import { configMaps, pods } from "./sample-objects.ts";

const unnamed = (metadata: Record<string, string>) => ({ apiVersion: "v1", kind: "ConfigMap", metadata });

/** Names made by the server. */
export const generateName = subject("generate-name", [
  post("a base", configMaps, unnamed({ generateName: "base-" })),
  post("the same base again", configMaps, unnamed({ generateName: "base-" })),
  post("a base and a name", configMaps, unnamed({ generateName: "base-", name: "fixed" })),
  post("an empty base", configMaps, unnamed({ generateName: "" })),
  post("a base with upper case", configMaps, unnamed({ generateName: "Base-" })),
  post("a base without a dash", configMaps, unnamed({ generateName: "base" })),
  post("a base that is too long", configMaps, unnamed({ generateName: `${"b".repeat(80)}-` })),
  post("a base that ends in a dot", configMaps, unnamed({ generateName: "base." })),
  post("a pod", pods, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { generateName: "pod-" },
    spec: { serviceAccountName: "default", containers: [{ name: "a", image: "i:1" }] },
  }),
  post("dry run", `${configMaps}?dryRun=All`, unnamed({ generateName: "dry-" })),
]);
