import {
  machineClassResource,
  machineDeploymentResource,
  machineResource,
  machineSetResource,
} from "@millwright/core/machine-api";
import { eventResource, type ResourceType } from "@millwright/kube";
import * as z from "zod";
import type { Shown } from "../../harness/transcripts.ts";
import { namespace } from "../world/controller-process.ts";
import type { World } from "../world/world.ts";

const tableSchema = z.object({
  columnDefinitions: z.array(z.object({ name: z.string() })),
  rows: z.array(z.object({ cells: z.array(z.union([z.string(), z.number(), z.null()])) })),
});

const eventSchema = z.object({
  type: z.string(),
  reason: z.string(),
  message: z.string(),
  lastTimestamp: z.string().nullish(),
  eventTime: z.string().nullish(),
  involvedObject: z.object({ kind: z.string(), name: z.string() }),
});

/** kubectl cuts a cell at its first line break. */
const cellText = (text: string): string => text.replace(/[\n\r\f][^]*/, "...");

/** Rows as kubectl prints them: three spaces between columns. */
function print(found: readonly (readonly string[])[]): string {
  const rows = found.map((row) => row.map(cellText));
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("   ");
  return rows.map((row) => `${line(row).trimEnd()}\n`).join("");
}

/** The table of a kind, as the API server prints it. Ages differ from run to run, and none is the cause of anything. */
async function tableOf({ people }: World, { group, version, plural, kind }: ResourceType): Promise<string> {
  const { body } = await people.request({
    method: "GET",
    path: `/apis/${group}/${version}/namespaces/${namespace}/${plural}`,
    headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
  });
  const { columnDefinitions, rows } = tableSchema.parse(body);
  if (rows.length === 0) return "";
  const titles = columnDefinitions.map(({ name }) => name.toUpperCase());
  const cellOf = (cell: string | number | null, at: number): string => {
    if (titles[at] === "NAME") return `${kind.toLowerCase()}/${cell ?? ""}`;
    return titles[at] === "AGE" || titles[at] === "SINCE" ? "5m" : String(cell ?? "");
  };
  return print([titles, ...rows.map(({ cells }) => cells.map(cellOf))]);
}

/** The warnings of a namespace, the oldest first; what is recorded at the same time in order of its text. */
async function warnings({ people }: World): Promise<string> {
  const { items } = await people.list(eventResource, { namespace });
  const events = items.map((item) => eventSchema.parse(item)).filter(({ type }) => type === "Warning");
  const keyed = events.map((event) => {
    const { reason, message, involvedObject, lastTimestamp, eventTime } = event;
    const object = `${involvedObject.kind.toLowerCase()}/${involvedObject.name}`;
    return { time: lastTimestamp ?? eventTime ?? "", row: ["5m", "Warning", reason, object, message] };
  });
  const rows = keyed.toSorted((a, b) => (`${a.time} ${a.row.join(" ")}` < `${b.time} ${b.row.join(" ")}` ? -1 : 1));
  if (rows.length === 0) return `No resources found in ${namespace} namespace.\n`;
  return print([["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"], ...rows.map(({ row }) => row)]);
}

/** What a person sees who has only kubectl. */
export async function kubectlOf(world: World): Promise<readonly Shown[]> {
  const types = [machineDeploymentResource, machineSetResource, machineResource, machineClassResource];
  const tables: string[] = [];
  for (const type of types) tables.push(await tableOf(world, type));
  return [
    ["kubectl get millwright -o wide", tables.filter((table) => table !== "").join("\n")],
    ["kubectl get events --field-selector type=Warning --sort-by=.lastTimestamp", await warnings(world)],
  ];
}
