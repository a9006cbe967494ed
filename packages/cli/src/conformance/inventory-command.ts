import { exec } from "node:child_process";
import { promisify } from "node:util";
import type { ConformanceFixture, InventoryVm } from "@millwright/conformance";
import { ConfigError, isRecord } from "@millwright/base";

/** What the command of `--inventory` prints. Without `resources` the VMs are all that creations lead to. */
interface Inventory {
  readonly vms: readonly InventoryVm[];
  readonly resources: readonly string[];
}

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

/** Runs the command, and reads what it prints. */
async function readInventory(command: string): Promise<Inventory> {
  const wrong = (reason: string): Error => new ConfigError(`--inventory ${command}: ${reason}`);
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
  return { vms, resources };
}

/**
 * The inventory of the cloud by a command, so that a driver in any language needs no module. The command runs once before the suite, so that a wrong one is found first.
 *
 * @throws ConfigError if the command fails, or prints something else
 */
export async function inventoryOf(command: string): Promise<Pick<ConformanceFixture, "inventory" | "resources">> {
  await readInventory(command);
  return {
    inventory: async () => (await readInventory(command)).vms,
    resources: async () => (await readInventory(command)).resources,
  };
}
