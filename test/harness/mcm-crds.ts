import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { MachineKind } from "@millwright/core/machine-api";
import type { ApiClient, ApiObject } from "@millwright/kube";
import { customResourceDefinitionResource } from "@millwright/kube";
import { parse } from "yaml";
import { crdNameOf, deleteCrd, untilCrdDeleted, untilServed } from "./crds.ts";

const module = "github.com/gardener/machine-controller-manager";
/** Requires the version of MCM with which hand-overs are tested. */
const requiring = fileURLToPath(new URL("../../tools/go-mcm/", import.meta.url));

/** The CRD of a kind as MCM's repository has it (`kubernetes/crds`). Go finds, or downloads, its module. */
async function readMcmCrd(kind: MachineKind): Promise<ApiObject> {
  const { stdout } = await promisify(execFile)("go", ["mod", "download", "-json", module], { cwd: requiring });
  const { Dir: folder }: { readonly Dir: string } = JSON.parse(stdout);
  const [plural, ...group] = crdNameOf(kind).split(".");
  return parse(await readFile(join(folder, "kubernetes/crds", `${group.join(".")}_${plural}.yaml`), "utf8"));
}

/** Replaces the CRD of a kind that has no objects by that of MCM. */
export async function installMcmCrd(api: ApiClient, kind: MachineKind): Promise<void> {
  const crd = await readMcmCrd(kind);
  await deleteCrd(api, kind);
  await untilCrdDeleted(api, kind);
  await api.create(customResourceDefinitionResource, { ...crd, metadata: { name: crdNameOf(kind) } });
  await untilServed(api, kind);
}
