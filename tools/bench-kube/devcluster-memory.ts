import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { crds, machineResource } from "@millwright/core/machine-api";
import { type ApiClient, customResourceDefinitionResource, type KubeObject, nodeResource } from "@millwright/kube";
import type { Figure } from "./devcluster-figure.ts";
import { forEach, fromSource, withServer } from "./devcluster-process.ts";
import { fleet, makeMachine, makeNode } from "./fleet.ts";

const restMs = 5_000;
const aim = { atMost: 200 } as const;

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
 * Keeps the engine from holding on to memory for garbage: V8 lets its young generation grow to 128 MiB while much is written and does
 * not give that back, nor the pages of its heap that have become empty. The objects take the same room either way.
 */
const frugal = "--optimize-for-size";

/**
 * Memory of the whole server process, empty and with the fleet: from the build, as it is installed, from the sources, and with the
 * engine's own idea of what to hold on to, for which there is no aim.
 */
export async function measureMemory(): Promise<readonly Figure[]> {
  const entry = fileURLToPath(new URL("../../packages/devcluster/dist/index.js", import.meta.url));
  const built: readonly Figure[] = existsSync(entry)
    ? await memoryOf("build", [frugal], aim)
    : [{ name: "RSS of the build", unit: "MiB", aim, why: "npm run build has not been run" }];
  return [
    ...built,
    ...(await memoryOf("sources", [frugal, ...fromSource], aim)),
    ...(await memoryOf("sources, engine's defaults", fromSource)),
  ];
}

function memoryOf(what: string, flags: readonly string[], wanted?: Figure["aim"]): Promise<readonly Figure[]> {
  return withServer({ flags }, async (api) => {
    const empty = await residentMebibytes(api);
    await storeFleet(api);
    const full = await residentMebibytes(api);
    await sleep(restMs);
    const atRest = await residentMebibytes(api);
    return [
      { name: `RSS of an empty server (${what})`, value: empty, unit: "MiB" },
      { name: "  right after 10,000 machines and 10,000 nodes", value: full, unit: "MiB" },
      { name: "  5 s later", value: atRest, unit: "MiB", ...(wanted === undefined ? {} : { aim: wanted }) },
    ];
  });
}
