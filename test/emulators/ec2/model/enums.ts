import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import * as ec2 from "@aws-sdk/client-ec2";

const memberPattern = /^ {4}(\w+)\??: (\w+)(?:\[\])? \| undefined;$/gm;
const structurePattern = /^export interface (\w+)[^{]*\{\n(.*?)^\}/gms;

/** The types of all members, `Placement.Tenancy`: for the compiler only, since schemas have lost which texts are enums. */
function readMemberTypes(): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  const folder = new URL(
    "dist-types/models/",
    `file://${createRequire(import.meta.url).resolve("@aws-sdk/client-ec2/package.json")}`,
  );
  for (const file of readdirSync(folder).filter((name) => /^models_\d+\.d\.ts$/.test(name))) {
    for (const [, structure = "", body = ""] of readFileSync(new URL(file, folder), "utf8").matchAll(
      structurePattern,
    )) {
      for (const [, member = "", type = ""] of body.matchAll(memberPattern)) types.set(`${structure}.${member}`, type);
    }
  }
  return types;
}

let memberTypes: ReadonlyMap<string, string> | undefined;

/** The values of a member of a structure of EC2, or of its items; undefined for one without an enum. */
export function enumOf(structure: string, member: string): ReadonlySet<string> | undefined {
  memberTypes ??= readMemberTypes();
  const type = memberTypes.get(`${structure}.${member}`);
  const values: unknown = type === undefined ? undefined : Reflect.get(ec2, type);
  if (typeof values !== "object" || values === null) return undefined;
  return new Set(Object.values(values).filter((value) => typeof value === "string"));
}
