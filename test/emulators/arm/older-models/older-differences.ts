import type { Exchange } from "../../server/index.ts";
import { type BodyOf, differencesFromModel, type ModelProvider } from "./check-model.ts";

interface OperationModel {
  readonly provider: ModelProvider;
  /** The api-version of the published class. */
  readonly apiVersion: string;
  readonly request?: string;
  readonly reply?: string;
  readonly isList?: boolean;
}

const vms = { provider: "Microsoft.Compute", apiVersion: "2023-07-01", reply: "VirtualMachine" } as const;
const disks = { provider: "Microsoft.Compute", apiVersion: "2023-04-02", reply: "Disk" } as const;
const nics = { provider: "Microsoft.Network", apiVersion: "2023-05-01", reply: "NetworkInterface" } as const;

const operations: Readonly<Record<string, OperationModel>> = {
  VirtualMachines_CreateOrUpdate: { ...vms, request: "VirtualMachine" },
  VirtualMachines_Update: { ...vms, request: "VirtualMachineUpdate" },
  VirtualMachines_Get: vms,
  VirtualMachines_List: { ...vms, isList: true },
  Disks_CreateOrUpdate: { ...disks, request: "Disk" },
  Disks_Get: disks,
  Disks_ListByResourceGroup: { ...disks, isList: true },
  NetworkInterfaces_CreateOrUpdate: { ...nics, request: "NetworkInterface" },
  NetworkInterfaces_Get: nics,
  NetworkInterfaces_List: { ...nics, isList: true },
  VirtualMachineImages_Get: { provider: "Microsoft.Compute", apiVersion: "2023-07-01", reply: "VirtualMachineImage" },
  ResourceSkus_List: {
    provider: "Microsoft.Compute",
    apiVersion: "2021-07-01",
    reply: "ResourceSku",
    isList: true,
  },
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Compares requests and responses with the published model of their api-version: no unknown field, no wrong type, and no unknown value. Requests of
 * other api-versions are not compared.
 */
export function olderModelDifferences({ operation, request, reply }: Exchange): readonly string[] {
  const model = operations[operation];
  if (model === undefined || request.url.searchParams.get("api-version") !== model.apiVersion) return [];
  const compare = (className: string | undefined, body: unknown, of: BodyOf): readonly string[] =>
    className === undefined || body === undefined
      ? []
      : differencesFromModel(model.provider, className, body, of).map((text) => `${of}: ${text}`);
  const sent = compare(model.request, parse(request.body), "client");
  if (reply === undefined || reply.status >= 300) return sent;
  const body = parse(reply.body);
  const shown = model.isList === true ? itemsOf(body) : [body];
  return [...sent, ...shown.flatMap((item) => compare(model.reply, item, "cloud"))];
}

const itemsOf = (list: unknown): readonly unknown[] => {
  const value: unknown = typeof list === "object" && list !== null ? Reflect.get(list, "value") : undefined;
  return Array.isArray(value) ? value : [];
};
