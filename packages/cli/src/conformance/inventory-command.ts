import { exec } from "node:child_process";
import { promisify } from "node:util";
import type { ConformanceFixture, InventoryVm } from "@millwright/conformance";
import { ConfigError, isRecord } from "@millwright/base";
import type { NodeIdentity } from "@millwright/core";

/** What the command of `--inventory` prints. Without `resources` the VMs are all that creations lead to. */
interface Inventory {
  readonly vms: readonly InventoryVm[];
  readonly resources: readonly string[];
  /** Absent: the command does not know how Nodes look. */
  readonly nodes?: readonly InventoryNode[];
}

/** The Node of a VM as a cloud controller manager writes it. */
type InventoryNode = Pick<NodeIdentity, "name" | "providerId" | "systemUuid"> & { readonly machineName: string };

const wrongIn =
  (command: string) =>
  (reason: string): Error =>
    new ConfigError(`--inventory ${command}: ${reason}`);

const isText = (value: unknown): value is string => typeof value === "string";

/** A VM of the inventory, or the field that is wrong. */
function readVm(value: unknown, path: string, wrong: (field: string) => Error): InventoryVm {
  if (!isRecord(value)) throw wrong(`${path} must be an object`);
  const { id, machineName, tags, userData } = value;
  if (!isText(id)) throw wrong(`${path}.id must be a text`);
  if (!isText(machineName)) throw wrong(`${path}.machineName must be a text`);
  if (tags !== undefined && !(isRecord(tags) && Object.values(tags).every(isText)))
    throw wrong(`${path}.tags must be an object of texts`);
  if (userData !== undefined && !isText(userData)) throw wrong(`${path}.userData must be a text in base64`);
  return {
    id,
    machineName,
    ...(tags === undefined
      ? {}
      : { tags: Object.fromEntries(Object.entries(tags).map(([key, text]) => [key, String(text)])) }),
    ...(userData === undefined ? {} : { userData: Buffer.from(userData, "base64") }),
  };
}

/** A Node of the inventory, or the field that is wrong. */
function readNode(value: unknown, path: string, wrong: (field: string) => Error): InventoryNode {
  if (!isRecord(value)) throw wrong(`${path} must be an object`);
  const { machineName, providerId, name = machineName, systemUuid = "" } = value;
  if (!isText(machineName)) throw wrong(`${path}.machineName must be a text`);
  if (!isText(providerId)) throw wrong(`${path}.providerId must be a text`);
  if (!isText(name)) throw wrong(`${path}.name must be a text`);
  if (!isText(systemUuid)) throw wrong(`${path}.systemUuid must be a text`);
  return { machineName, providerId, name, systemUuid };
}

/** Runs the command, and reads what it prints. */
async function readInventory(command: string): Promise<Inventory> {
  const wrong = wrongIn(command);
  let printed: unknown;
  try {
    const { stdout } = await promisify(exec)(command, { maxBuffer: 64 * 1024 * 1024, timeout: 60_000 });
    printed = JSON.parse(stdout);
  } catch (cause) {
    if (cause instanceof SyntaxError) throw wrong('must print JSON, such as {"vms":[]}');
    const [reason] = (cause instanceof Error ? cause.message : String(cause)).trimEnd().split("\n").slice(-1);
    throw wrong(`the command fails: ${reason}`);
  }
  if (!isRecord(printed) || !Array.isArray(printed["vms"])) throw wrong("must print an object with the list vms");
  const vms = printed["vms"].map((vm: unknown, index) => readVm(vm, `vms[${index}]`, wrong));
  const resources = printed["resources"] ?? vms.map(({ id }) => id);
  if (!Array.isArray(resources) || !resources.every(isText)) throw wrong("resources must be a list of texts");
  const { nodes } = printed;
  if (nodes === undefined) return { vms, resources };
  if (!Array.isArray(nodes)) throw wrong("nodes must be a list");
  return { vms, resources, nodes: nodes.map((node: unknown, index) => readNode(node, `nodes[${index}]`, wrong)) };
}

/**
 * The inventory of the cloud by a command, so that a driver in any language needs no module. The command runs once before the suite, so that a wrong one is found first.
 *
 * @throws ConfigError if the command fails, or prints something else
 */
export async function inventoryOf(
  command: string,
): Promise<Pick<ConformanceFixture, "inventory" | "resources" | "nodesOf">> {
  const { nodes } = await readInventory(command);
  const nodesOf = async (machineName: string): Promise<Readonly<Record<string, NodeIdentity>>> => {
    const all = (await readInventory(command)).nodes ?? [];
    const own = all.filter((node) => node.machineName === machineName);
    if (own.length === 0) throw wrongIn(command)(`nodes must contain one of machine ${machineName}`);
    return Object.fromEntries(
      own.map((node, index) => [`provider id of form ${index + 1}`, { ...node, addresses: [] }] as const),
    );
  };
  return {
    ...(nodes === undefined ? {} : { nodesOf }),
    inventory: async () => (await readInventory(command)).vms,
    resources: async () => (await readInventory(command)).resources,
  };
}
