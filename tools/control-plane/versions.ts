import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Folders with one Go module each; its `go.mod` is where the version of what it builds is written. */
export const modules = {
  kubernetes: { folder: fileURLToPath(new URL("kubernetes/", import.meta.url)), requires: "k8s.io/kubernetes" },
  etcd: { folder: fileURLToPath(new URL("etcd/", import.meta.url)), requires: "go.etcd.io/etcd/server/v3" },
} as const;

/** A Go module of this folder. */
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
