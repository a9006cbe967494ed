import { readFileSync } from "node:fs";
import { isRecord } from "@millwright/base";
import {
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { type ApiClient, type KubeObject, type ResourceType, secretResource } from "@millwright/kube";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import * as z from "zod";
import { eventually } from "../harness/eventually.ts";
import type { ForeignTool } from "../harness/foreign-tools.ts";

const LONG = 90_000;
const namespace = "default";
const example = readFileSync(new URL("../../examples/pool.yaml", import.meta.url), "utf8");
const manager = "gitops";

/** MCM's columns, and ours behind them: docs/project/compatibility/objects.md. The API server puts the name first. */
const columns: readonly (readonly [ResourceType, string])[] = [
  [machineClassResource, "Name Provider Type Age Status Since"],
  [machineDeploymentResource, "Name Ready Desired Up-to-date Available Age Reason Class Message"],
  [machineSetResource, "Name Desired Current Ready Age Reason Class Message"],
  [machineResource, "Name Status Age Node ProviderID Reason Class Type Zone Message"],
];

const tableSchema = z.object({
  kind: z.literal("Table"),
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(
    z.object({
      cells: z.array(z.unknown()),
      object: z.object({
        kind: z.literal("PartialObjectMetadata"),
        metadata: z.object({ name: z.string(), labels: z.record(z.string(), z.string()).default({}) }),
      }),
    }),
  ),
});

/** Reads the objects of a kind as k9s does: it requests a Table, and objects only of servers that have none. */
async function readTable(api: ApiClient, { group, version, plural }: ResourceType) {
  const { body } = await api.request({
    method: "GET",
    path: `/apis/${group}/${version}/namespaces/${namespace}/${plural}`,
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io,application/json" },
  });
  return tableSchema.parse(body);
}

/** Who owns which fields. */
interface OwnedObject extends KubeObject {
  readonly metadata: KubeObject["metadata"] & {
    readonly managedFields?: readonly { readonly manager: string; readonly fieldsV1: object }[];
  };
}

/** The fields of an entry, as paths of names. */
const pathsOf = (fields: object, above: readonly string[] = []): readonly (readonly string[])[] =>
  Object.entries(fields).flatMap(([key, below]: [string, object]) => {
    if (key === ".") return [];
    const path = [...above, key.replace(/^f:/, "")];
    return Object.keys(below).length === 0 ? [path] : pathsOf(below, path);
  });

const hasPath = (object: unknown, [name, ...rest]: readonly string[]): boolean =>
  name === undefined || (isRecord(object) && Object.hasOwn(object, name) && hasPath(object[name], rest));

/** Fields of a manifest that others than the one who applied it own. */
const ownedByOthers = (manifest: KubeObject, { metadata }: OwnedObject): readonly string[] =>
  (metadata.managedFields ?? [])
    .filter((entry) => entry.manager !== manager)
    .flatMap(({ fieldsV1 }) => pathsOf(fieldsV1))
    .filter((path) => hasPath(manifest, path))
    .map((path) => path.join("."));

/** What tools compare: an apply also shortens who owns what, which they leave out. */
const compared = ({ metadata, ...object }: KubeObject): object => ({
  ...object,
  metadata: { ...metadata, managedFields: undefined },
});

/** A cluster, and its clients. */
interface ClientWorld {
  readonly api: ApiClient;
  readonly kubectl: ForeignTool;
}

const refOf = (name: string) => ({ namespace, name });

/** Finds no difference between a manifest and its objects, as Argo CD does, which applies them by dry run, and by `kubectl diff`. */
async function expectNoDrift({ api, kubectl }: ClientWorld, text: string): Promise<void> {
  for (const document of parseAllDocuments(text)) {
    const object: KubeObject = document.toJS();
    const type = object["kind"] === "MachineClass" ? machineClassResource : machineDeploymentResource;
    const ref = refOf(object.metadata.name ?? "");
    // The controllers may write the status in between.
    await eventually(async () => {
      const before = await api.get(type, ref);
      const dryRun = await api.patch(type, ref, object, { kind: "apply", fieldManager: manager, dryRun: true });
      expect((await api.get(type, ref)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      expect(compared(dryRun)).toEqual(compared(before));
      expect(ownedByOthers(object, before)).toEqual([]);
    });
  }
  expect(await kubectl(["diff", "-f", "-"], text)).toBe("");
  expect(await kubectl(["diff", "--server-side", `--field-manager=${manager}`, "-f", "-"], text)).toBe("");
}

/** How clients of people see the objects. Expects running controllers; leaves nothing behind. */
export function clientScenarios(world: () => ClientWorld): void {
  const deployment = () => world().api.get<MachineDeployment>(machineDeploymentResource, refOf("pool"));
  const applyExample = (text: string): Promise<string> =>
    world().kubectl(["apply", "--server-side", `--field-manager=${manager}`, "-f", "-"], text);
  const untilSettled = (): Promise<void> =>
    eventually(async () => {
      const { metadata, spec, status } = await deployment();
      const { replicas } = spec;
      expect(status).toMatchObject({ updatedReplicas: replicas, readyReplicas: replicas, replicas });
      expect(status?.observedGeneration).toBe(metadata["generation"]);
    }, LONG);
  it(
    "show no drift in an example that another field manager applied, after its rollouts, and own none of its fields",
    async () => {
      const { api, kubectl } = world();
      const { data } = await api.get(secretResource, refOf("cloud"));
      await api.create(secretResource, { metadata: refOf("example"), data });
      await applyExample(example);
      await untilSettled();
      await expectNoDrift(world(), example);

      const next = example.replace("        name: pool # the", "        roll: two\n        name: pool # the");
      expect(next).not.toBe(example);
      await applyExample(next);
      await untilSettled();
      await expectNoDrift(world(), next);

      // A person who scales owns the replicas from then on: a tool reports the drift, and takes them back by force.
      await kubectl(["scale", "machinedeployment", "pool", "--replicas=2"]);
      await untilSettled();
      const [, manifest] = parseAllDocuments(next).map((document): KubeObject => document.toJS());
      expect(ownedByOthers(manifest ?? { metadata: {} }, await deployment())).toEqual(["spec.replicas"]);
      expect(
        await kubectl.attempt(["diff", "--server-side", `--field-manager=${manager}`, "-f", "-"], next),
      ).toMatchObject({
        code: expect.toSatisfy((code) => code !== 0),
        stderr: expect.stringContaining(".spec.replicas"),
      });
      await kubectl(["apply", "--server-side", "--force-conflicts", `--field-manager=${manager}`, "-f", "-"], next);
      await untilSettled();
      await expectNoDrift(world(), next);
    },
    5 * LONG,
  );

  it(
    "are read as tables with the columns of MCM first, listed by category, and followed by kubectl",
    async () => {
      const { api, kubectl } = world();
      const names: string[] = [];
      for (const [type, expected] of columns) {
        const { columnDefinitions, rows } = await readTable(api, type);
        expect(columnDefinitions.map(({ name }) => name).join(" "), type.kind).toBe(expected);
        const { items } = await api.list(type, { namespace });
        expect(rows.map(({ cells }) => cells[0])).toEqual(items.map(({ metadata }) => metadata.name));
        for (const { cells, object } of rows) {
          expect(cells).toHaveLength(columnDefinitions.length);
          names.push(`${type.kind.toLowerCase()}.${type.group}/${object.metadata.name}`);
        }
      }
      const running = (await readTable(api, machineResource)).rows.filter(
        ({ object }) => object.metadata.labels["name"] === "pool",
      );
      expect(running.map(({ cells }) => [cells[1], cells[5]])).toEqual(
        Array.from({ length: 3 }, () => ["Running", "Ready"]),
      );
      const listed = (await kubectl(["get", "millwright", "-o", "name"])).trim().split("\n");
      expect(listed.toSorted()).toEqual(names.toSorted());

      const watching = kubectl.start(["get", "machines", "-l", "name=pool", "--watch"]);
      try {
        await eventually(async () =>
          expect(await Promise.resolve(watching.output())).toMatch(/Running[^]*Running[^]*Running/),
        );
        await kubectl(["delete", "-f", "-", "--timeout=60s"], example);
        await eventually(async () => expect(await Promise.resolve(watching.output())).toContain("Terminating"));
      } finally {
        await watching.stop();
      }
      await api.delete(secretResource, refOf("example"));
    },
    3 * LONG,
  );
}
