import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crds, machineResource } from "@millwright/core";
import { type ApiClient, customResourceDefinitionResource, type KubeObject, nodeResource } from "@millwright/kube";
import type { Figure } from "./devcluster-figure.ts";
import { forEach, fromSource, withServer } from "./devcluster-process.ts";
import { fleet, makeMachine, makeNode } from "./fleet.ts";

const restMs = 5_000;

/** Stores the fleet as its writers do: machines with their status, nodes with theirs. */
async function storeFleet(api: ApiClient): Promise<void> {
  for (const crd of crds()) await api.create(customResourceDefinitionResource, asObject(crd));
  await forEach(fleet.machines, async (index) => {
    const { metadata, status, ...machine } = asObject(makeMachine(index, 1));
    const { name = "", labels = {} } = metadata;
    await api.create(machineResource, { ...machine, metadata: { name, namespace: "default", labels } });
    const ref = { namespace: "default", name };
    await api.patch(machineResource, ref, { status }, { kind: "merge", subresource: "status" });
  });
  await forEach(fleet.nodes, async (index) => {
    const { metadata, status, ...node } = asObject(makeNode(index, 1));
    const { name = "", labels = {}, annotations = {} } = metadata;
    await api.create(nodeResource, { ...node, metadata: { name, labels, annotations } });
    await api.patch(nodeResource, { name }, { status }, { kind: "strategic", subresource: "status" });
  });
}

function asObject(value: object): KubeObject {
  const object: KubeObject = JSON.parse(JSON.stringify(value));
  return object;
}

async function residentMebibytes(api: ApiClient): Promise<number> {
  const { body } = await api.request({ method: "GET", path: "/metrics" });
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const bytes = /^process_resident_memory_bytes (\d+)/m.exec(text)?.[1];
  return Math.round(Number(bytes ?? Number.NaN) / 1024 / 1024);
}

/**
 * Memory of the whole server process, empty and with the fleet, from the sources and from the build. Right after the writes it still
 * holds their garbage; after five seconds at rest what is left is what the fleet takes.
 */
export async function measureMemory(): Promise<readonly Figure[]> {
  const source = await memoryOf("sources", fromSource);
  const entry = fileURLToPath(new URL("../../packages/devcluster/dist/index.js", import.meta.url));
  if (existsSync(entry)) return [...source, ...(await memoryOf("build", []))];
  return [...source, { name: "RSS of the build", unit: "MiB", why: "npm run build has not been run" }];
}

function memoryOf(what: string, flags: readonly string[]): Promise<readonly Figure[]> {
  return withServer({ flags }, async (api) => {
    const empty = await residentMebibytes(api);
    await storeFleet(api);
    const full = await residentMebibytes(api);
    await sleep(restMs);
    const atRest = await residentMebibytes(api);
    return [
      { name: `RSS of an empty server (${what})`, value: empty, unit: "MiB" },
      { name: `  right after 10,000 machines and 10,000 nodes`, value: full, unit: "MiB" },
      { name: "  5 s later", value: atRest, unit: "MiB", aim: { atMost: 200 } },
    ];
  });
}
