import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folders with one Go module each; its `go.mod` is where the version of what it builds is written. */
export const modules = {
  kubernetes: { folder: fileURLToPath(new URL("kubernetes/", import.meta.url)), requires: "k8s.io/kubernetes" },
  etcd: { folder: fileURLToPath(new URL("etcd/", import.meta.url)), requires: "go.etcd.io/etcd/server/v3" },
  "otel-collector": {
    folder: fileURLToPath(new URL("otel-collector/", import.meta.url)),
    requires: "go.opentelemetry.io/collector/otelcol",
  },
  "health-readers": {
    folder: fileURLToPath(new URL("health-readers/", import.meta.url)),
    requires: "sigs.k8s.io/cli-utils",
  },
  "flux-apply": {
    folder: fileURLToPath(new URL("flux-apply/", import.meta.url)),
    requires: "github.com/fluxcd/pkg/ssa",
  },
  "argo-diff": {
    folder: fileURLToPath(new URL("argo-diff/", import.meta.url)),
    requires: "github.com/argoproj/argo-cd/gitops-engine",
  },
  kwok: { folder: fileURLToPath(new URL("kwok/", import.meta.url)), requires: "sigs.k8s.io/kwok" },
  "mcm-specs": {
    folder: fileURLToPath(new URL("mcm-specs/", import.meta.url)),
    requires: "github.com/gardener/machine-controller-manager",
  },
  "go-mcm": {
    folder: fileURLToPath(new URL("../go-mcm/", import.meta.url)),
    requires: "github.com/gardener/machine-controller-manager",
  },
  "drivers-go": {
    folder: fileURLToPath(new URL("../../drivers/go/", import.meta.url)),
    requires: "github.com/gardener/machine-controller-manager",
  },
} as const;

/** A Go module of this repository. */
export type ModuleName = keyof typeof modules;

/** The version that a module pins, `v1.35.4`. Throws when its go.mod has none. */
export function versionOf(name: ModuleName): string {
  const { folder, requires } = modules[name];
  return requiredVersion(readFileSync(`${folder}go.mod`, "utf8"), requires);
}

/** Reads the version of a required module out of the text of a go.mod; replacements are passed over. */
export function requiredVersion(goMod: string, modulePath: string): string {
  for (const line of goMod.split("\n")) {
    const [path, version, ...rest] = line
      .replace(/^require\s+/, "")
      .trim()
      .split(/\s+/);
    if (path === modulePath && version?.startsWith("v") === true && rest[0] !== "=>") return version;
  }
  throw new Error(`go.mod requires no version of ${modulePath}`);
}

/** A short hash of the Go sources and requirements of a folder, for programs that contain code of this repository. */
export function sourceHash(folder: string): string {
  const hash = createHash("sha256");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.go$|go\.(mod|sum)$/.test(name),
  );
  for (const name of files.toSorted())
    hash
      .update(`${name}\0`)
      .update(readFileSync(join(folder, name)))
      .update("\0");
  return hash.digest("hex").slice(0, 12);
}
