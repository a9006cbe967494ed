import { readFile } from "node:fs/promises";
import { ConfigError, isRecord } from "@millwright/base";
import { firstLine, messageOf } from "@millwright/kube";
import { parseYaml } from "@millwright/kube/yaml";

function documentsOf(file: string, text: string): readonly unknown[] {
  try {
    return parseYaml(text);
  } catch (cause) {
    throw new ConfigError(`${file} is not valid YAML: ${firstLine(messageOf(cause))}`, { cause });
  }
}

/** The first object of a kind in a manifest of one or more documents. */
async function readObject(file: string, kind: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
  const object = documentsOf(file, text).find((each) => isRecord(each) && each["kind"] === kind);
  if (isRecord(object)) return object;
  throw new ConfigError(`${file} has no ${kind}`);
}

/** Name and `providerSpec` of the MachineClass in a manifest. */
export async function readClassFile(file: string): Promise<{ readonly name: string; readonly providerSpec: unknown }> {
  const { metadata, providerSpec } = await readObject(file, "MachineClass");
  const name = isRecord(metadata) && typeof metadata["name"] === "string" ? metadata["name"] : "conformance";
  return { name, providerSpec };
}

/** The values of the Secret in a manifest: `data`, decoded, and `stringData`. */
export async function readSecretFile(file: string): Promise<Readonly<Record<string, string>>> {
  const { data, stringData } = await readObject(file, "Secret");
  const entries = (values: unknown, decode: (text: string) => string): readonly (readonly [string, string])[] =>
    isRecord(values) ? Object.entries(values).map(([key, value]) => [key, decode(String(value))] as const) : [];
  const decoded = entries(data, (text) => Buffer.from(text, "base64").toString("utf8"));
  return Object.fromEntries([...decoded, ...entries(stringData, String)]);
}
